#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/capture/simulator_source.h"
#include "src/cli/capture_output.h"
#include "src/cli/capture_text.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"
#include "src/cli/text_table.h"
#include "src/config/scene_toml.h"

namespace cornerturn {
namespace {

using Align = TextTable::Align;

struct SimulateArguments {
  std::string scene_path;
  std::string output;
  std::optional<std::uint64_t> seed;
  std::optional<std::size_t> cpi_count;
  bool force = false;
  bool print_scene = false;
};

std::string format_truth(const std::vector<SceneTarget>& targets) {
  if (targets.empty()) return "  truth       no targets\n";
  TextTable table({{"range m", Align::right},
                   {"range rate m/s", Align::right},
                   {"azimuth deg", Align::right},
                   {"SNR dB", Align::right},
                   {"", Align::left}});
  for (const SceneTarget& target : targets)
    table.add({fmt::format("{:.3f}", target.range_m), fmt::format("{:.3f}", target.range_rate_mps),
               fmt::format("{:.2f}", target.azimuth_deg), fmt::format("{:.1f}", target.snr_db),
               target.fluctuation == Fluctuation::swerling1 ? "Swerling 1" : ""});
  return "  truth       at time 0, SNR per sample and channel:\n" + table.text(4);
}

ExitCode run_simulate(const SimulateArguments& arguments, const Console& console) {
  const bool is_built_in = arguments.scene_path.empty();
  if (arguments.print_scene) {
    console.output(default_scene_toml());
    return ExitCode::done;
  }
  if (arguments.output.empty())
    return console.fail({ErrorKind::usage, "", "no file to write given", "name one with -o capture.h5"});
  Expected<Scene> scene = is_built_in ? default_scene() : load_scene(arguments.scene_path);
  if (!scene) return console.fail(scene.error());
  if (arguments.seed) scene->seed = *arguments.seed;
  SimulatorOptions options;
  options.cpi_count = arguments.cpi_count;
  const auto start = std::chrono::steady_clock::now();
  const std::string scene_name = is_built_in ? "built-in scene" : arguments.scene_path;
  const std::unique_ptr<CaptureSource> source = make_simulator_source(std::move(*scene), scene_name, options);
  const Expected<std::size_t> cpi_count = write_capture(*source, arguments.output, arguments.force, console);
  if (!cpi_count) return console.fail(cpi_count.error());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const CaptureInfo& info = source->info();
  console.report(fmt::format("{}\n  capture     {}\n{}  wrote       {}, {}\n", scene_name, describe_shape(info),
                             format_truth(*info.truth), arguments.output, describe_written(arguments.output, seconds)));
  if (console.json) {
    const nlohmann::json document = {
        {"capture", capture_json(info, nullptr)}, {"output", arguments.output}, {"cpi_count", *cpi_count}};
    console.output(json_text(document));
  }
  return ExitCode::done;
}

}  // namespace

void add_simulate_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("simulate", "Simulate a scene into a capture that knows the truth");
  const auto arguments = std::make_shared<SimulateArguments>();
  command->add_option("SCENE", arguments->scene_path,
                      "Scene file (TOML); without one, a street seen by a 77 GHz radar");
  command->add_option("-o,--output", arguments->output, "Capture to write")->type_name("CAPTURE.h5");
  command->add_option("--seed", arguments->seed, "Seed of noise and fluctuation, instead of the scene's own")
      ->type_name("N");
  command->add_option("--cpis", arguments->cpi_count, "Number of CPIs, instead of the scene's own")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000).description(""));
  command->add_flag("--force", arguments->force, "Write over a file that is there already");
  command->add_flag("--print-scene", arguments->print_scene,
                    "Print the built-in scene, a start for one's own, and stop");
  add_console_options(*command, invocation.console, true);
  command->footer(
      "Examples:\n"
      "  cornerturn simulate -o capture.h5\n"
      "  cornerturn simulate --print-scene > scene.toml\n"
      "  cornerturn simulate scene.toml -o capture.h5 --cpis 100 --seed 3\n"
      "  cornerturn process capture.h5 --score");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments, &invocation] { return run_simulate(*arguments, invocation.console); };
  });
}

}  // namespace cornerturn
