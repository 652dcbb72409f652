#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/cli/commands.h"
#include "src/cli/json_text.h"
#include "src/result/recover_result.h"

namespace cornerturn {
namespace {

ExitCode recover_one(const std::string& path, const Console& console, nlohmann::json& reports) {
  const Expected<RecoverReport> report = recover_result(path);
  if (!report) return console.fail(report.error());
  for (const std::string& skipped : report->skipped) console.warning(skipped);
  console.report(fmt::format("{}: {} CPIs and {} detections from {} segments\n", report->result_path, report->cpi_count,
                             report->detection_count, report->segment_count));
  reports.push_back({{"path", report->result_path},
                     {"cpi_count", report->cpi_count},
                     {"detection_count", report->detection_count},
                     {"segment_count", report->segment_count},
                     {"skipped", report->skipped}});
  return report->skipped.empty() ? ExitCode::done : ExitCode::failed;
}

ExitCode run_recover(const std::vector<std::string>& paths, const Console& console) {
  nlohmann::json reports = nlohmann::json::array();
  ExitCode code = ExitCode::done;
  for (const std::string& path : paths)
    if (const ExitCode one = recover_one(path, console, reports); one != ExitCode::done)
      code = paths.size() == 1 ? one : ExitCode::failed;
  if (console.json) console.output(json_text(reports));
  return code;
}

}  // namespace

void add_recover_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("recover", "Join the results that a killed run left behind");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("RESULT", *paths, "The result file that was being written, or its folder of segments")
      ->required();
  add_console_options(*command, invocation.console, true);
  command->footer(
      "A run writes closed segments of about a second and joins them at its end. After a kill or a power cut,\n"
      "this joins what was closed.\n\nExamples:\n  cornerturn recover out/walk.result.h5");
  command->callback([paths, &invocation] {
    invocation.run = [paths, &invocation] { return run_recover(*paths, invocation.console); };
  });
}

}  // namespace cornerturn
