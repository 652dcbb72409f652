#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/capture/open_capture.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"
#include "src/cli/text_table.h"

namespace cornerturn {
namespace {

// A source that is no file, beside the formats of files.
CaptureFormatInfo simulator_row() {
  return {"sim://",
          "the simulator as a live source: sim://SCENE.toml, sim:// alone for the built-in scene, ?fast unpaced", ""};
}

ExitCode run_formats(const Console& console) {
  std::vector<CaptureFormatInfo> formats = capture_formats();
  formats.push_back(simulator_row());
  if (console.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const CaptureFormatInfo& format : formats)
      rows.push_back({{"name", format.name}, {"what", format.what}, {"missing", format.missing}});
    console.output(json_text(rows));
    return ExitCode::done;
  }
  TextTable table({{"format"}, {"reads"}});
  for (const CaptureFormatInfo& format : formats)
    table.add(
        {format.name, format.missing.empty() ? format.what : format.what + " - not in this build: " + format.missing});
  console.output(table.text(0));
  return ExitCode::done;
}

}  // namespace

void add_formats_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("formats", "List what can be read, and what this build lacks and why");
  add_console_options(*command, invocation.console, true);
  command->footer("Examples:\n  cornerturn formats\n  cornerturn formats --json");
  command->callback([&invocation] { invocation.run = [&invocation] { return run_formats(invocation.console); }; });
}

}  // namespace cornerturn
