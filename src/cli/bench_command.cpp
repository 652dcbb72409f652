#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/bench_run.h"
#include "src/cli/bench_report.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"
#include "src/cli/version.h"
#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

ExitCode run_bench_command(const BenchOptions& options, const Console& console) {
  const Expected<BenchReport> report =
      run_bench(options, [&console](const std::string& line) { console.detail(line); });
  if (!report) return console.fail(report.error());
  if (console.json) {
    nlohmann::json json = bench_json(*report);
    json["version"] = program_version();
    console.output(json_text(json));
  } else {
    console.output(format_bench(*report));
  }
  return ExitCode::done;
}

constexpr const char* kExamples =
    R"(Every rate stands beside the limit that was measured in the same run. Takes a minute or two; --verbose shows how far it is.
Without a GPU the chain is measured on the processor.

Examples:
  cornerturn bench
  cornerturn bench --quick --parts link,strategies --workloads W1,W3
  cornerturn bench --json > bench.json
  cornerturn bench --backend cpu --workloads W3)";

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("bench", "Measure link, memory strategies and stages on this machine");
  const auto options = std::make_shared<BenchOptions>();
  command
      ->add_option("--parts", options->parts,
                   fmt::format("What to measure: {}; default: all", fmt::join(bench_parts(), ", ")))
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--workloads", options->workloads, "Of W1, W2, W3 and W4; default: all that suit the backend")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--backend", options->backend, fmt::format("{}", fmt::join(backend_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--device", options->device, "The GPU, as cornerturn devices lists it")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "Fewer and shorter rounds");
  add_console_options(*command, invocation.console, true);
  command->footer(kExamples);
  command->callback([options, &invocation] {
    invocation.run = [options, &invocation] { return run_bench_command(*options, invocation.console); };
  });
}

}  // namespace cornerturn
