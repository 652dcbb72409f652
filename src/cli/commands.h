#pragma once

#include <functional>

#include "src/cli/console.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name of CLI11
class App;
}

namespace cornerturn {

/// What parsing the command line leads to: the chosen command with its options, ready to run.
struct Invocation {
  Console console;
  std::function<ExitCode()> run;
};

// Each declares one command: its options, its help and what `invocation.run` is to do. `invocation` outlives `app`.
void add_info_command(CLI::App& app, Invocation& invocation);
void add_process_command(CLI::App& app, Invocation& invocation);
void add_simulate_command(CLI::App& app, Invocation& invocation);
void add_convert_command(CLI::App& app, Invocation& invocation);
void add_formats_command(CLI::App& app, Invocation& invocation);
void add_devices_command(CLI::App& app, Invocation& invocation);
void add_bench_command(CLI::App& app, Invocation& invocation);
void add_recover_command(CLI::App& app, Invocation& invocation);

/// --quiet and --verbose, and --json for commands that report.
void add_console_options(CLI::App& command, Console& console, bool with_json);

}  // namespace cornerturn
