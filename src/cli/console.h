#pragma once

#include <string>
#include <string_view>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Exit codes of every command, as in the documentation.
enum class ExitCode {
  done = 0,
  failed = 1,      ///< failed while running; with several captures: some failed
  usage = 2,       ///< command line or configuration
  unreadable = 3,  ///< an input cannot be read
  interrupted = 130,
};
ExitCode exit_code_of(ErrorKind kind);

/// Where a command speaks: reports go to standard output, everything else (errors, warnings, progress) to standard
/// error, so that a report can be piped.
class Console {
 public:
  bool quiet = false;    ///< errors and warnings only
  bool verbose = false;  ///< decisions along the way too
  bool json = false;     ///< the report is one JSON document

  /// Standard error is a terminal that can redraw a line.
  static bool is_interactive();

  /// A part of the report for people; nothing under --quiet or --json.
  void report(std::string_view text) const;
  /// The report for machines, or an output that was asked for (--print-chain): always.
  void output(std::string_view text) const;
  /// "cornerturn: error: <message>"
  void error(std::string_view message) const;
  void warning(std::string_view message) const;
  /// Shown under --verbose.
  void detail(std::string_view message) const;

  /// Reports the error and gives its exit code.
  ExitCode fail(const Error& error) const;
};

}  // namespace cornerturn
