#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/process_job.h"
#include "src/capture/inspect_capture.h"
#include "src/cli/capture_options.h"
#include "src/cli/capture_text.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"
#include "src/cli/quantity.h"
#include "src/cli/text_table.h"

namespace cornerturn {
namespace {

using Align = TextTable::Align;

struct InfoArguments {
  std::vector<std::string> captures;
  CaptureOptions capture;
};

std::string format_radar(const CaptureInfo& info) {
  const Waveform& waveform = info.radar.waveform;
  std::string text = fmt::format("{}, carrier {}", to_string(waveform.kind), format_hertz(waveform.carrier_hz));
  if (waveform.kind == WaveformKind::fmcw)
    text += fmt::format(", slope {:.4g} MHz/us, sampled at {}", waveform.slope_hz_per_s * 1e-12,
                        format_hertz(waveform.sample_rate_hz));
  if (waveform.kind == WaveformKind::pulse)
    text += fmt::format(", bandwidth {}, pulse {}", format_hertz(waveform.bandwidth_hz),
                        format_seconds(waveform.pulse_width_s));
  return text + fmt::format(", PRI {}", format_seconds(waveform.pri_s));
}

std::string format_samples(const CaptureInspection& inspection) {
  if (inspection.cpis_read == 0) return {};
  TextTable table({{"channel", Align::right},
                   {"rms", Align::right},
                   {"mean I", Align::right},
                   {"mean Q", Align::right},
                   {"peak", Align::right}});
  for (std::size_t channel = 0; channel < inspection.channels.size(); ++channel) {
    const ChannelFigures& figures = inspection.channels[channel];
    table.add({fmt::format("{}", channel), fmt::format("{:.4g}", figures.rms), fmt::format("{:.4g}", figures.mean_i),
               fmt::format("{:.4g}", figures.mean_q), fmt::format("{:.4g}", figures.peak)});
  }
  std::string text = fmt::format("  samples, in counts, of {} CPI{}:\n{}", inspection.cpis_read,
                                 inspection.cpis_read == 1 ? "" : "s", table.text(4));
  if (inspection.masked_samples != 0) text += fmt::format("    {} NaN, Inf or missing\n", inspection.masked_samples);
  if (inspection.full_scale_samples != 0)
    text += fmt::format("    {} at the end of the converter's range\n", inspection.full_scale_samples);
  return text;
}

std::string format_truth(const std::optional<std::vector<SceneTarget>>& truth) {
  return truth ? fmt::format("  truth       {} targets (simulated)\n", truth->size()) : std::string();
}

std::string format_doubts(const std::vector<Doubt>& doubts) {
  std::string text;
  for (const Doubt& doubt : doubts)
    text += fmt::format("  doubtful    {}\n              seen: {}\n              remedy: {}\n", doubt.what,
                        doubt.evidence, doubt.remedy);
  return text;
}

nlohmann::json inspection_json(const CaptureInspection& inspection) {
  nlohmann::json channels = nlohmann::json::array();
  for (const ChannelFigures& figures : inspection.channels)
    channels.push_back(
        {{"rms", figures.rms}, {"mean_i", figures.mean_i}, {"mean_q", figures.mean_q}, {"peak", figures.peak}});
  return {{"cpis_read", inspection.cpis_read},
          {"channels", std::move(channels)},
          {"samples", inspection.samples},
          {"masked_samples", inspection.masked_samples},
          {"full_scale_samples", inspection.full_scale_samples},
          {"image_ratio_db", inspection.image_ratio_db}};
}

ExitCode info_one(const std::string& path, const CaptureOptions& options, const Console& console,
                  nlohmann::json& reports) {
  Expected<std::unique_ptr<CaptureSource>> source = open_source(path, options);
  if (!source) return console.fail(source.error());
  const Expected<CaptureInspection> inspection = inspect_capture(**source);
  if (!inspection) return console.fail(inspection.error());
  CaptureInfo info = (*source)->info();
  info.doubts.insert(info.doubts.end(), inspection->doubts.begin(), inspection->doubts.end());

  const Expected<ChainPlan> plan = make_chain_plan(info.radar, info.layout, info.shape, default_chain(info));
  if (!plan) console.warning(fmt::format("{}: no axes: {}", path, plan.error().message()));
  std::string text = fmt::format("{}\n  format      {}\n", info.path, info.format);
  if (!info.radar.sensor.empty()) text += fmt::format("  sensor      {}\n", info.radar.sensor);
  text += fmt::format("  radar       {}\n  sizes       {}\n", format_radar(info), describe_shape(info));
  if (plan) text += describe_limits(*plan);
  text += format_truth(info.truth);
  for (const std::string& line : info.understood) text += fmt::format("  understood  {}\n", line);
  text += format_samples(*inspection) + format_doubts(info.doubts);
  console.report(text);

  nlohmann::json report = capture_json(info, plan ? &*plan : nullptr);
  report["inspection"] = inspection_json(*inspection);
  reports.push_back(std::move(report));
  return ExitCode::done;
}

ExitCode run_info(const InfoArguments& arguments, const Console& console) {
  nlohmann::json reports = nlohmann::json::array();
  ExitCode code = ExitCode::done;
  for (const std::string& path : arguments.captures)
    if (const ExitCode one = info_one(path, arguments.capture, console, reports); one != ExitCode::done)
      code = arguments.captures.size() == 1 ? one : ExitCode::failed;
  if (console.json) console.output(json_text(nlohmann::json{{"captures", std::move(reports)}}));
  return code;
}

}  // namespace

void add_info_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("info", "Say what is in a capture, how it was understood, and what is doubtful");
  const auto arguments = std::make_shared<InfoArguments>();
  command->add_option("CAPTURE", arguments->captures, "Captures")->required();
  add_capture_options(*command, arguments->capture);
  add_console_options(*command, invocation.console, true);
  command->footer(
      "Examples:\n"
      "  cornerturn info walk.h5\n"
      "  cornerturn info adc_data.bin --layout awr1642.toml --iq-order qqii\n"
      "  cornerturn info *.h5 --json");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments, &invocation] { return run_info(*arguments, invocation.console); };
  });
}

}  // namespace cornerturn
