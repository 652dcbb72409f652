#include "src/cli/capture_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dsp/vocabulary/units.h"
#include "src/cli/quantity.h"

namespace cornerturn {
namespace {

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// Resolution of the waveform itself, which zero-padding does not better; 0 when it is not known.
double range_resolution_m(const ChainPlan& plan) {
  const Waveform& waveform = plan.radar.waveform;
  double bandwidth_hz = std::abs(waveform.bandwidth_hz);
  if (waveform.kind == WaveformKind::fmcw)
    bandwidth_hz =
        std::abs(waveform.slope_hz_per_s) * static_cast<double>(plan.shape.sample_count) / waveform.sample_rate_hz;
  return bandwidth_hz > 0.0 ? plan.radar.propagation_factor * kSpeedOfLight_mps / bandwidth_hz : 0.0;
}

double range_rate_resolution_mps(const ChainPlan& plan) {
  const double duration_s = static_cast<double>(plan.shape.pulse_count) * plan.radar.waveform.pri_s;
  return duration_s > 0.0 ? plan.radar.propagation_factor * plan.radar.waveform.wavelength_m() / duration_s : 0.0;
}

struct Limits {
  double low = 0.0;
  double high = 0.0;
};
Limits limits_of(const Axis& axis) {
  if (axis.count() == 0) return {};
  const double first = axis.coordinate(0.0);
  const double last = axis.coordinate(static_cast<double>(axis.count() - 1));
  return {std::min(first, last), std::max(first, last)};
}

// The largest range rate that is told apart from its opposite: half of what the spectrum spans.
double range_rate_limit_mps(const ChainPlan& plan) {
  return 0.5 * std::abs(plan.doppler_axis.step()) * static_cast<double>(plan.doppler_axis.count());
}

nlohmann::json axis_json(const Axis& axis) {
  const Limits limits = limits_of(axis);
  return {{"count", axis.count()}, {"unit", axis.unit()},           {"min", limits.low},
          {"max", limits.high},    {"step", std::abs(axis.step())}, {"uniform", axis.is_uniform()}};
}

}  // namespace

std::string describe_shape(const CaptureInfo& info) {
  std::string text = fmt::format("{} x {} x {}, {} {}", counted(info.shape.channel_count, "channel"),
                                 counted(info.shape.pulse_count, "pulse"), counted(info.shape.sample_count, "sample"),
                                 to_string(info.layout.format), info.layout.complex_samples ? "complex" : "real");
  text +=
      info.cpi_count == 0 ? std::string("; CPIs as they come") : fmt::format("; {}", counted(info.cpi_count, "CPI"));
  if (info.cpi_period_s > 0.0 && info.cpi_count != 1)
    text += fmt::format(", one every {}", format_seconds(info.cpi_period_s));
  return text;
}

std::string describe_limits(const ChainPlan& plan) {
  const Limits range = limits_of(plan.gate_axis);
  std::string line = fmt::format("{:.4g} to {:.4g} m in {} gates of {:.4g} m", range.low, range.high,
                                 plan.gate_axis.count(), std::abs(plan.gate_axis.step()));
  if (range_resolution_m(plan) > 0.0) line += fmt::format(", resolution {:.4g} m", range_resolution_m(plan));
  std::string text = fmt::format("  range       {}\n", line);
  if (plan.doppler_axis.count() > 1)
    text += fmt::format("  range rate  -{0:.4g} to {0:.4g} m/s in {1} bins of {2:.4g} m/s, resolution {3:.4g} m/s\n",
                        range_rate_limit_mps(plan), plan.doppler_axis.count(), std::abs(plan.doppler_axis.step()),
                        range_rate_resolution_mps(plan));
  text += plan.angles_possible ? fmt::format("  azimuth     by an array of {} channels\n", plan.shape.channel_count)
                               : std::string("  azimuth     not found: one channel, or positions not known\n");
  return text;
}

nlohmann::json capture_json(const CaptureInfo& info, const ChainPlan* plan) {
  const Waveform& waveform = info.radar.waveform;
  nlohmann::json doubts = nlohmann::json::array();
  for (const Doubt& doubt : info.doubts)
    doubts.push_back({{"what", doubt.what}, {"evidence", doubt.evidence}, {"remedy", doubt.remedy}});
  nlohmann::json capture = {
      {"path", info.path},
      {"format", info.format},
      {"sensor", info.radar.sensor},
      {"waveform", to_string(waveform.kind)},
      {"carrier_hz", waveform.carrier_hz},
      {"sample_rate_hz", waveform.sample_rate_hz},
      {"pri_s", waveform.pri_s},
      {"slope_hz_per_s", waveform.slope_hz_per_s},
      {"bandwidth_hz", waveform.bandwidth_hz},
      {"doppler_sign", info.radar.doppler_sign},
      {"channel_count", info.shape.channel_count},
      {"pulse_count", info.shape.pulse_count},
      {"sample_count", info.shape.sample_count},
      {"sample_format", to_string(info.layout.format)},
      {"complex_samples", info.layout.complex_samples},
      {"cpi_count", info.cpi_count},
      {"cpi_period_s", info.cpi_period_s},
      {"cpi_bytes", info.slot_bytes},
      {"live", info.live},
      {"understood", info.understood},
      {"doubts", std::move(doubts)},
  };
  if (info.truth) {
    nlohmann::json truth = nlohmann::json::array();
    for (const SceneTarget& target : *info.truth)
      truth.push_back({{"range_m", target.range_m},
                       {"range_rate_mps", target.range_rate_mps},
                       {"azimuth_deg", target.azimuth_deg},
                       {"snr_db", target.snr_db}});
    capture["truth"] = std::move(truth);
  }
  if (plan != nullptr) {
    capture["range"] = axis_json(plan->gate_axis);
    capture["range"]["resolution"] = range_resolution_m(*plan);
    capture["range_rate"] = axis_json(plan->doppler_axis);
    capture["range_rate"]["resolution"] = range_rate_resolution_mps(*plan);
    capture["range_rate"]["limit"] = range_rate_limit_mps(*plan);
    capture["angles_possible"] = plan->angles_possible;
  }
  return capture;
}

}  // namespace cornerturn
