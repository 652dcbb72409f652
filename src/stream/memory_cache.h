#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dsp/chain/backend_module.h"

namespace cornerturn {

/// Remembers which memory strategy was fastest, so that "auto" measures once for each device, size of CPI and version
/// of the program. A file that cannot be read or written only costs the measurement.
/// Threads: one at a time; several programs may share a file (the last one to write wins).
class MemoryCache {
 public:
  explicit MemoryCache(std::filesystem::path file) : file_(std::move(file)) {}

  /// $XDG_CACHE_HOME/cornerturn/memory-strategy.json, else below $HOME/.cache; empty where neither is set.
  static std::filesystem::path default_file();
  /// One line for people and the file: version, device, size.
  static std::string key_of(const std::string& device, const ChainPlan& plan);

  std::optional<MemoryChoice> find(const std::string& key) const;
  void remember(const std::string& key, const MemoryChoice& choice) const;

 private:
  std::filesystem::path file_;
};

}  // namespace cornerturn
