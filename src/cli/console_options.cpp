#include <CLI/CLI.hpp>

#include "src/cli/commands.h"

namespace cornerturn {

void add_console_options(CLI::App& command, Console& console, bool with_json) {
  command.add_flag("-q,--quiet", console.quiet, "Errors and warnings only");
  command.add_flag("-v,--verbose", console.verbose, "Say decisions along the way too");
  if (with_json) command.add_flag("--json", console.json, "Report as one JSON document, for machines");
}

}  // namespace cornerturn
