#include "src/capture/radar_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

Expected<WaveformKind> parse_waveform_kind(std::string_view text) {
  for (const WaveformKind kind : {WaveformKind::fmcw, WaveformKind::pulse, WaveformKind::profiled})
    if (text == to_string(kind)) return kind;
  return usage_error({}, fmt::format("'{}' is no kind of waveform", text), "use fmcw, pulse or profiled");
}

bool strictly_rising(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

void read_fmcw(TomlReader& table, Waveform& waveform, std::size_t sample_count) {
  waveform.slope_hz_per_s = table.required_number("slope_hz_per_s");
  if (waveform.slope_hz_per_s == 0.0) table.fail("slope_hz_per_s", "is 0", "give the slope of the ramp");
  if (!table.has("start_hz")) {
    waveform.carrier_hz = table.required_number("carrier_hz", kPositive);
    return;
  }
  if (table.has("carrier_hz")) table.fail("start_hz", "contradicts carrier_hz", "give one of the two");
  const double adc_start_s = table.number("adc_start_s", 0.0, kNotNegative);
  const double start_hz = table.required_number("start_hz", kPositive);
  waveform.carrier_hz =
      mid_ramp_carrier_hz(start_hz, waveform.slope_hz_per_s, adc_start_s, waveform.sample_rate_hz, sample_count);
  if (waveform.carrier_hz > 0.0) return;
  table.fail("start_hz", fmt::format("and the slope put the middle of the ramp at {:.6g} Hz", waveform.carrier_hz),
             "check start_hz, slope_hz_per_s and sample_rate_hz");
  waveform.carrier_hz = start_hz;
}

void read_pulse(TomlReader& table, Waveform& waveform) {
  waveform.carrier_hz = table.required_number("carrier_hz", kPositive);
  waveform.bandwidth_hz = table.required_number("bandwidth_hz");
  waveform.pulse_width_s = table.required_number("pulse_width_s", kPositive);
  waveform.receive_start_s = table.number("receive_start_s", 0.0);
}

void read_profiled(TomlReader& table, Waveform& waveform, std::size_t sample_count) {
  waveform.carrier_hz = table.required_number("carrier_hz", kPositive);
  if (table.has("gates_m")) {
    std::vector<double> gates = table.numbers("gates_m");
    if (gates.size() != sample_count)
      table.fail("gates_m", fmt::format("lists {} gates for {} samples", gates.size(), sample_count), "give one each");
    else if (!strictly_rising(gates))
      table.fail("gates_m", "does not rise", "list the ranges in ascending order");
    else
      waveform.gate_axis = Axis::listed("range", "m", std::move(gates));
    return;
  }
  const double first_m = table.required_number("first_gate_m");
  const double step_m = table.required_number("gate_step_m", kPositive);
  waveform.gate_axis = Axis::uniform("range", "m", first_m, step_m, sample_count);
}

void read_waveform(TomlReader& table, Waveform& waveform, std::size_t sample_count) {
  waveform.kind = table.choice<WaveformKind>("kind", WaveformKind::fmcw, parse_waveform_kind);
  waveform.pri_s = table.required_number("pri_s", kPositive);
  if (waveform.kind != WaveformKind::profiled)
    waveform.sample_rate_hz = table.required_number("sample_rate_hz", kPositive);
  switch (waveform.kind) {
    case WaveformKind::fmcw:
      read_fmcw(table, waveform, sample_count);
      break;
    case WaveformKind::pulse:
      read_pulse(table, waveform);
      break;
    case WaveformKind::profiled:
      read_profiled(table, waveform, sample_count);
      break;
  }
}

}  // namespace

double mid_ramp_carrier_hz(double start_hz, double slope_hz_per_s, double adc_start_s, double sample_rate_hz,
                           std::size_t sample_count) {
  return start_hz + slope_hz_per_s * (adc_start_s + static_cast<double>(sample_count) / (2.0 * sample_rate_hz));
}

void read_radar_table(TomlReader& root, RadarDescription& radar) {
  TomlReader table = root.table("radar");
  radar.sensor = table.text("sensor", radar.sensor);
  radar.doppler_sign = table.number("doppler_sign", radar.doppler_sign);
  if (std::abs(radar.doppler_sign) != 1.0) table.fail("doppler_sign", "is neither 1 nor -1", "give 1 or -1");
  radar.range_offset_m = table.number("range_offset_m", radar.range_offset_m);
  radar.propagation_factor = table.number("propagation_factor", radar.propagation_factor, {0.0, 1.0, true});
  radar.full_scale_counts = table.number("full_scale_counts", radar.full_scale_counts, kNotNegative);
}

RadarDescription read_radar_tables(TomlReader& root, std::size_t sample_count) {
  RadarDescription radar;
  read_radar_table(root, radar);
  TomlReader waveform = root.table("waveform");
  read_waveform(waveform, radar.waveform, sample_count);
  return radar;
}

void read_array_table(TomlReader& root, RadarDescription& radar, std::size_t channel_count) {
  TomlReader table = root.table("array");
  radar.array.steering_sign = table.number("steering_sign", 1.0);
  if (std::abs(radar.array.steering_sign) != 1.0) table.fail("steering_sign", "is neither 1 nor -1", "give 1 or -1");
  std::optional<double> spacing_m;
  if (table.has("spacing_m")) spacing_m = table.number("spacing_m", 0.0, kPositive);
  if (table.has("spacing_wavelengths"))
    spacing_m = table.number("spacing_wavelengths", 0.5, kPositive) * radar.waveform.wavelength_m();
  if (spacing_m) radar.array.elements = ArrayGeometry::uniform_line(channel_count, *spacing_m).elements;

  const std::array<std::string, 3> names{"x_m", "y_m", "z_m"};
  std::array<std::vector<double>, 3> positions;
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    if (!table.has(names[axis])) continue;
    positions[axis] = table.numbers(names[axis]);
    if (spacing_m) table.fail(names[axis], "contradicts the spacing", "give positions or a spacing");
    if (positions[axis].size() != channel_count)
      table.fail(names[axis], fmt::format("lists {} positions for {} channels", positions[axis].size(), channel_count),
                 "give one per channel");
    positions[axis].resize(channel_count);
    radar.array.elements.resize(channel_count);
  }
  for (std::size_t channel = 0; channel < radar.array.elements.size() && !spacing_m; ++channel) {
    ArrayGeometry::Element& element = radar.array.elements[channel];
    if (!positions[0].empty()) element.x_m = positions[0][channel];
    if (!positions[1].empty()) element.y_m = positions[1][channel];
    if (!positions[2].empty()) element.z_m = positions[2][channel];
  }

  if (!table.has("calibration_amplitude") && !table.has("calibration_phase_deg")) return;
  std::vector<double> amplitude = table.numbers("calibration_amplitude");
  std::vector<double> phase_deg = table.numbers("calibration_phase_deg");
  if (amplitude.empty()) amplitude.assign(channel_count, 1.0);
  if (phase_deg.empty()) phase_deg.assign(channel_count, 0.0);
  if (amplitude.size() != channel_count || phase_deg.size() != channel_count) {
    table.fail("calibration_amplitude",
               fmt::format("needs one amplitude and phase for each of {} channels", channel_count));
    return;
  }
  for (std::size_t channel = 0; channel < channel_count; ++channel)
    radar.channel_calibration.push_back(
        std::complex<float>(std::polar(amplitude[channel], deg_to_rad(phase_deg[channel]))));
}

}  // namespace cornerturn
