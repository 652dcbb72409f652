#include "dsp/chain/config_checks.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>

#include "dsp/stage/canceller.h"

namespace cornerturn {
namespace {

// A transform beyond this is a slip of the keyboard; it would ask for more memory than any machine has.
constexpr std::size_t kLongestTransform = std::size_t{1} << 24;

Expected<void> check_window(const std::string& key, const WindowSpec& window) {
  if (window.kind == WindowKind::chebyshev && !(window.sidelobe_db > 0.0 && window.sidelobe_db <= 200.0))
    return usage_error(key + "_sidelobe_db", figure(window.sidelobe_db) + " dB", "give 20 to 200 dB, say");
  if (window.kind == WindowKind::taylor) {
    if (!(window.sidelobe_db > 0.0 && window.sidelobe_db <= 100.0))
      return usage_error(key + "_sidelobe_db", figure(window.sidelobe_db) + " dB", "give 20 to 60 dB, say");
    if (window.taylor_nbar < 1 || window.taylor_nbar > 64)
      return usage_error(key + "_taylor_nbar", std::to_string(window.taylor_nbar), "give 1 to 64");
  }
  if (window.kind == WindowKind::kaiser && !(window.kaiser_beta >= 0.0 && window.kaiser_beta <= 100.0))
    return usage_error(key + "_kaiser_beta", figure(window.kaiser_beta), "give 0 to 100");
  return {};
}

Expected<void> check_transform(const std::string& key, std::size_t length, std::size_t at_least, const char* what) {
  if (length == 0) return {};
  if (length < at_least)
    return usage_error(key, std::to_string(length) + " is shorter than the " + std::to_string(at_least) + " " + what,
                       "use 0 (as many) or a greater length");
  if (length > kLongestTransform)
    return usage_error(key, std::to_string(length) + " is too long",
                       "use " + std::to_string(kLongestTransform) + " at the most");
  return {};
}

Expected<void> check_loading(const std::string& key, double loading) {
  if (!(loading >= 0.0 && loading <= 1e6)) return usage_error(key, figure(loading), "give 0 or more, 0.01 say");
  return {};
}

Expected<void> check_angle(const ChainConfig::Angle& angle) {
  if (!angle.enabled) return {};
  if (!(angle.min_deg >= -90.0 && angle.max_deg <= 90.0 && angle.min_deg < angle.max_deg))
    return usage_error("angle.min_deg", "the range " + figure(angle.min_deg) + " to " + figure(angle.max_deg) + " deg",
                       "give min_deg < max_deg inside -90 to 90");
  if (!(angle.step_deg >= 1e-3 && angle.step_deg <= angle.max_deg - angle.min_deg))
    return usage_error("angle.step_deg", figure(angle.step_deg) + " deg",
                       "give at least 0.001 and at most the width of the range");
  if (angle.train_gates == 0)
    return usage_error("angle.train_gates", "0 gates leave nothing to train on", "give 1 or more");
  return check_loading("angle.loading", angle.loading);
}

Expected<void> check_pulse(const Waveform& waveform, const CpiShape& shape) {
  if (waveform.replica.empty()) {
    const double width = waveform.pulse_width_s * waveform.sample_rate_hz;
    if (!(waveform.pulse_width_s > 0.0) || waveform.bandwidth_hz == 0.0 || !std::isfinite(waveform.bandwidth_hz))
      return usage_error("radar.waveform.replica", "a pulse radar without replica, bandwidth and pulse width",
                         "give replica, or bandwidth_hz and pulse_width_s of the LFM");
    if (std::abs(waveform.bandwidth_hz) > waveform.sample_rate_hz)
      return usage_error("radar.waveform.bandwidth_hz",
                         figure(waveform.bandwidth_hz) + " Hz is more than the sample rate of " +
                             figure(waveform.sample_rate_hz) + " Hz can carry",
                         "check both");
    if (!(width >= 1.0 && width <= static_cast<double>(shape.sample_count)))
      return usage_error("radar.waveform.pulse_width_s",
                         figure(width) + " samples wide in lines of " + std::to_string(shape.sample_count),
                         "the replica must fit into a line");
    return {};
  }
  if (waveform.replica.size() > shape.sample_count)
    return usage_error("radar.waveform.replica",
                       std::to_string(waveform.replica.size()) + " samples are more than the " +
                           std::to_string(shape.sample_count) + " of a line",
                       "the replica must fit into a line");
  double energy = 0.0;
  for (const std::complex<float> value : waveform.replica) energy += std::norm(std::complex<double>(value));
  if (!(energy > 0.0 && std::isfinite(energy)))
    return usage_error("radar.waveform.replica", "its energy is " + figure(energy), "check its samples");
  return {};
}

}  // namespace

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

Expected<void> check_radar(const RadarDescription& radar, const CpiShape& shape) {
  const Waveform& waveform = radar.waveform;
  const auto positive = [](const char* key, double value) -> Expected<void> {
    if (value > 0.0 && std::isfinite(value)) return {};
    return usage_error(std::string("radar.") + key, figure(value) + " is not a positive number",
                       "give it in the capture or its sidecar");
  };
  if (auto ok = positive("waveform.carrier_hz", waveform.carrier_hz); !ok) return ok;
  if (auto ok = positive("waveform.pri_s", waveform.pri_s); !ok) return ok;
  if (auto ok = positive("propagation_factor", radar.propagation_factor); !ok) return ok;
  if (std::abs(radar.doppler_sign) != 1.0)
    return usage_error("radar.doppler_sign", figure(radar.doppler_sign), "give 1 or -1");
  if (!std::isfinite(radar.range_offset_m))
    return usage_error("radar.range_offset_m", "not a finite number", "give metres");
  if (!radar.channel_calibration.empty() && radar.channel_calibration.size() != shape.channel_count)
    return usage_error("radar.channel_calibration",
                       std::to_string(radar.channel_calibration.size()) + " factors for " +
                           std::to_string(shape.channel_count) + " channels",
                       "give one for each channel");
  for (const std::complex<float> factor : radar.channel_calibration)
    if (!std::isfinite(factor.real()) || !std::isfinite(factor.imag()))
      return usage_error("radar.channel_calibration", "a factor is not finite", "check the calibration");
  if (!radar.array.elements.empty() && radar.array.elements.size() != shape.channel_count)
    return usage_error("radar.array",
                       std::to_string(radar.array.elements.size()) + " elements for " +
                           std::to_string(shape.channel_count) + " channels",
                       "give one for each channel, or none");
  if (waveform.kind == WaveformKind::profiled) {
    if (!waveform.gate_axis || waveform.gate_axis->count() != shape.sample_count)
      return usage_error("radar.waveform.gate_axis",
                         (waveform.gate_axis ? std::to_string(waveform.gate_axis->count()) : std::string("no")) +
                             " ranges for " + std::to_string(shape.sample_count) + " samples",
                         "a profiled capture needs the range of each sample");
    return {};
  }
  if (auto ok = positive("waveform.sample_rate_hz", waveform.sample_rate_hz); !ok) return ok;
  if (waveform.kind == WaveformKind::pulse) return check_pulse(waveform, shape);
  return positive("waveform.slope_hz_per_s", std::abs(waveform.slope_hz_per_s));
}

Expected<void> check_config(const ChainConfig& config, const RadarDescription& radar, const CpiShape& shape) {
  if (auto ok = check_window("range.window", config.range.window); !ok) return ok;
  if (auto ok = check_window("doppler.window", config.doppler.window); !ok) return ok;
  if (config.range.fft_length != 0 && radar.waveform.kind != WaveformKind::fmcw)
    return usage_error("range.fft_length", "only FMCW has a range transform", "leave it out");
  if (auto ok = check_transform("range.fft_length", config.range.fft_length, shape.sample_count, "samples"); !ok)
    return ok;
  if (auto ok = check_transform("doppler.fft_length", config.doppler.fft_length, shape.pulse_count, "pulses"); !ok)
    return ok;
  if (!std::isfinite(config.range.min_m) || !std::isfinite(config.range.max_m))
    return usage_error("range.min_m", "not a finite number", "give metres");
  if (config.range.max_m != 0.0 && config.range.max_m <= config.range.min_m)
    return usage_error("range.max_m",
                       figure(config.range.max_m) + " m is not beyond min_m = " + figure(config.range.min_m) + " m",
                       "give a greater range, or 0 for no limit");
  if (PulseCanceller::output_count(config.canceller, shape.pulse_count) == 0)
    return usage_error("canceller",
                       std::string(to_string(config.canceller)) + " needs more pulses than the " +
                           std::to_string(shape.pulse_count) + " of a CPI",
                       "use none, or longer CPIs");
  if (config.cfar.enabled && !(config.cfar.pfa >= 1e-12 && config.cfar.pfa <= 0.5))
    return usage_error("cfar.pfa", figure(config.cfar.pfa), "give 1e-12 to 0.5");
  if (config.grouping.max_detections == 0 || config.grouping.max_detections > (std::size_t{1} << 24))
    return usage_error("grouping.max_detections", std::to_string(config.grouping.max_detections), "give 1 to 16777216");
  if (auto ok = check_loading("covariance.loading", config.covariance.loading); !ok) return ok;
  return check_angle(config.angle);
}

Expected<void> check_cfar_window(const ChainConfig::Cfar& cfar, std::size_t gate_count, std::size_t doppler_bin_count) {
  if (!cfar.enabled) return {};
  constexpr std::size_t kWidest = std::size_t{1} << 20;
  if (std::max({cfar.train_range, cfar.guard_range, cfar.train_doppler, cfar.guard_doppler}) > kWidest)
    return usage_error("cfar.train_range", "a window of more than " + std::to_string(kWidest) + " cells a side",
                       "use fewer cells");
  const bool along_range = cfar.axes != CfarAxes::doppler;
  const bool along_doppler = cfar.axes != CfarAxes::range;
  // The middle cell is the one with the fewest neighbours beyond its guard cells.
  const bool range_trains = along_range && cfar.train_range > 0 && gate_count >= 2 * cfar.guard_range + 2;
  const bool doppler_trains =
      along_doppler && cfar.train_doppler > 0 && doppler_bin_count >= 2 * cfar.guard_doppler + 2;
  if (range_trains || doppler_trains) return {};
  return usage_error(along_range ? "cfar.train_range" : "cfar.train_doppler",
                     "the window leaves no training cells in a map of " + std::to_string(gate_count) + " gates and " +
                         std::to_string(doppler_bin_count) + " Doppler bins",
                     "give more training cells, fewer guard cells, or other cfar.axes");
}

}  // namespace cornerturn
