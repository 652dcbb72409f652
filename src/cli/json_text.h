#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace cornerturn {

/// A document for standard output, indented; bytes of file names that are not UTF-8 become replacement characters.
inline std::string json_text(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cornerturn
