#include <chrono>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/process_job.h"
#include "src/cli/capture_options.h"
#include "src/cli/capture_output.h"
#include "src/cli/capture_text.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"

namespace cornerturn {
namespace {

struct ConvertArguments {
  std::string input;
  std::string output;
  CaptureOptions capture;
  bool force = false;
};

ExitCode run_convert(const ConvertArguments& arguments, const Console& console) {
  const auto start = std::chrono::steady_clock::now();
  Expected<std::unique_ptr<CaptureSource>> source = open_source(arguments.input, arguments.capture);
  if (!source) return console.fail(source.error());
  const Expected<std::size_t> cpi_count = write_capture(**source, arguments.output, arguments.force, console);
  if (!cpi_count) return console.fail(cpi_count.error());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const CaptureInfo& info = (*source)->info();
  for (const Doubt& doubt : info.doubts)
    console.warning(fmt::format("{}: {} ({}); {}", info.path, doubt.what, doubt.evidence, doubt.remedy));
  console.report(fmt::format("{}: {}, {}\n{}: capture v1, {}\n", info.path, info.format, describe_shape(info),
                             arguments.output, describe_written(arguments.output, seconds)));
  if (console.json) {
    const nlohmann::json document = {
        {"input", capture_json(info, nullptr)}, {"output", arguments.output}, {"cpi_count", *cpi_count}};
    console.output(json_text(document));
  }
  return ExitCode::done;
}

}  // namespace

void add_convert_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("convert", "Write any readable capture as capture v1, which describes itself");
  const auto arguments = std::make_shared<ConvertArguments>();
  command->add_option("IN", arguments->input, "Capture to read")->required();
  command->add_option("OUT.h5", arguments->output, "Capture to write")->required();
  command->add_flag("--force", arguments->force, "Write over a file that is there already");
  add_capture_options(*command, arguments->capture);
  add_console_options(*command, invocation.console, true);
  command->footer(
      "Samples keep their values and their format; order, axes, units and the radar go into the file.\n\n"
      "Examples:\n"
      "  cornerturn convert adc_data.bin walk.h5 --layout awr1642.toml\n"
      "  cornerturn convert 'sim://scene.toml?fast' scene.h5");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments, &invocation] { return run_convert(*arguments, invocation.console); };
  });
}

}  // namespace cornerturn
