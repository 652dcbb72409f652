#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace cornerturn {

/// Whose fault an error is; decides the exit code of the command line.
enum class ErrorKind {
  usage,        ///< command line or configuration (exit code 2)
  input,        ///< a capture or another input file cannot be read (exit code 3)
  runtime,      ///< failed while running: disk full, device lost ... (exit code 1)
  interrupted,  ///< stopped by the user (exit code 130)
};

/// One readable cause and one remedy: "<where>: <what>; <remedy>". Never a library trace.
struct Error {
  ErrorKind kind = ErrorKind::runtime;
  std::string where;   ///< file, file:line:key, or device
  std::string what;    ///< what is wrong, with the figures that show it
  std::string remedy;  ///< what the user can do; may be empty

  /// The one line that is shown to a person.
  std::string message() const {
    std::string line = where.empty() ? what : where + ": " + what;
    return remedy.empty() ? line : line + "; " + remedy;
  }
};

/// Result of everything that depends on the world (files, configuration, devices).
template <typename T> using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> unexpected(Error error) { return tl::unexpected<Error>(std::move(error)); }

inline tl::unexpected<Error> usage_error(std::string where, std::string what, std::string remedy = {}) {
  return unexpected({ErrorKind::usage, std::move(where), std::move(what), std::move(remedy)});
}
inline tl::unexpected<Error> input_error(std::string where, std::string what, std::string remedy = {}) {
  return unexpected({ErrorKind::input, std::move(where), std::move(what), std::move(remedy)});
}
inline tl::unexpected<Error> runtime_error(std::string where, std::string what, std::string remedy = {}) {
  return unexpected({ErrorKind::runtime, std::move(where), std::move(what), std::move(remedy)});
}

}  // namespace cornerturn
