#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <CLI/CLI.hpp>
#include <H5public.h>
#include <fmt/format.h>
#include <signal.h>

#include "src/cli/commands.h"
#include "src/cli/version.h"
#include "src/config/edit_distance.h"

namespace cornerturn {
namespace {

void add_all_commands(CLI::App& app, Invocation& invocation) {
  add_process_command(app, invocation);
  add_info_command(app, invocation);
  add_simulate_command(app, invocation);
  add_convert_command(app, invocation);
  add_recover_command(app, invocation);
  add_formats_command(app, invocation);
  add_devices_command(app, invocation);
  add_bench_command(app, invocation);
}

// An unknown command is told before the parser complains about its arguments.
Expected<void> check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return usage_error("", "no command given", "cornerturn --help lists the commands");
  const std::string word = argv[1];
  if (word.empty() || word.front() == '-') return {};
  std::set<std::string, std::less<>> names;
  for (const CLI::App* command : app.get_subcommands({})) names.insert(command->get_name());
  if (names.count(word) != 0) return {};
  const std::string nearest = nearest_word(word, names);
  return usage_error(
      "", fmt::format("unknown command '{}'", word),
      nearest.empty() ? "cornerturn --help lists the commands" : fmt::format("did you mean '{}'?", nearest));
}

// Help and version are "errors" of the parser too.
ExitCode on_parse_error(const CLI::App& app, const CLI::ParseError& error, const Console& console) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);
    return ExitCode::done;
  }
  std::string command = "cornerturn";
  for (const CLI::App* chosen : app.get_subcommands()) command += " " + chosen->get_name();
  console.error(fmt::format("{}; see {} --help", error.what(), command));
  return ExitCode::usage;
}

ExitCode run_command_line(int argc, char** argv) {
  Invocation invocation;
  const Console& console = invocation.console;
  CLI::App app(
      "Radar signal processing: raw ADC samples in, range-Doppler maps, detections and correlation matrices out",
      "cornerturn");
  app.set_version_flag("--version", version_text, "Show the version and what this build has");
  app.set_help_flag("-h,--help", "Show this help");
  app.require_subcommand(1);
  app.footer(
      "cornerturn COMMAND --help explains a command, with examples.\n"
      "Exit codes: 0 done, 1 failed while running, 2 usage or configuration, 3 input unreadable, 130 interrupted.");
  add_all_commands(app, invocation);

  if (const Expected<void> known = check_command(app, argc, argv); !known) return console.fail(known.error());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return on_parse_error(app, error, console);
  }
  return invocation.run();
}

}  // namespace
}  // namespace cornerturn

int main(int argc, char** argv) {
  // Beyond a file size limit writing fails with an error that can be reported, instead of killing the process.
  ::signal(SIGXFSZ, SIG_IGN);
  // After a failed write HDF5's own clean-up at exit tries again and crashes; all files are closed before by their
  // owners.
  H5dont_atexit();
  const cornerturn::Console console;
  cornerturn::ExitCode exit_code = cornerturn::ExitCode::failed;
  try {
    exit_code = cornerturn::run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    console.error("not enough memory; process fewer CPIs or channels at a time, --dry-run shows what is needed");
  } catch (const std::exception& failure) {
    console.error(failure.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    console.error("standard output cannot be written; check the disk or the pipe behind it");
    if (exit_code == cornerturn::ExitCode::done) exit_code = cornerturn::ExitCode::failed;
  }
  return static_cast<int>(exit_code);
}
