#include "dsp/simulate/scene.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "dsp/vocabulary/number_text.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

constexpr double kNoClutterDb = -200.0;

std::string target_key(std::size_t index, const char* member) {
  return "target[" + std::to_string(index) + "]." + member;
}

Expected<void> validate_shape(const Scene& scene) {
  const CpiShape& shape = scene.shape;
  if (shape.channel_count == 0) return usage_error("shape.channel_count", "is 0", "give 1 or more");
  if (shape.pulse_count == 0) return usage_error("shape.pulse_count", "is 0", "give 1 or more");
  if (shape.sample_count == 0) return usage_error("shape.sample_count", "is 0", "give 1 or more");
  if (scene.cpi_count == 0) return usage_error("cpi_count", "is 0", "give 1 or more");
  // 2^40 samples are 4 TiB: more than any slot, and products of sizes stay far from 64 bits.
  constexpr double kMostSamples = 1099511627776.0;
  const double samples = static_cast<double>(shape.channel_count) * static_cast<double>(shape.pulse_count) *
                         static_cast<double>(shape.sample_count);
  if (samples > kMostSamples)
    return usage_error("shape.sample_count", "makes CPIs of " + number_text(samples) + " samples",
                       "give smaller channel, pulse or sample counts");
  return {};
}

Expected<void> validate_fmcw(const Scene& scene) {
  const RadarDescription& radar = scene.radar;
  if (radar.waveform.slope_hz_per_s == 0.0)
    return usage_error("waveform.slope_hz_per_s", "is missing or 0", "give the slope of the chirp");
  if (radar.waveform.slope_hz_per_s * radar.doppler_sign < 0.0)
    return usage_error("radar.doppler_sign", "contradicts the sign of waveform.slope_hz_per_s: beats would be negative",
                       "leave doppler_sign out, or give both the same sign");
  return {};
}

Expected<void> validate_pulse(const Scene& scene) {
  const Waveform& waveform = scene.radar.waveform;
  if (!scene.complex_samples)
    return usage_error("complex_samples", "is false, but pulses are simulated at baseband", "set it to true");
  if (waveform.receive_start_s < 0.0)
    return usage_error("waveform.receive_start_s", number_text(waveform.receive_start_s) + " s is negative",
                       "give the time from the start of transmission to the first sample");
  if (waveform.replica.empty()) {
    if (!(waveform.pulse_width_s * waveform.sample_rate_hz >= 2.0))
      return usage_error("waveform.pulse_width_s",
                         number_text(waveform.pulse_width_s) + " s is shorter than two samples",
                         "give a longer pulse or a higher sample_rate_hz");
    if (!(std::abs(waveform.bandwidth_hz) <= waveform.sample_rate_hz))
      return usage_error("waveform.bandwidth_hz",
                         number_text(waveform.bandwidth_hz) + " Hz is wider than the sample rate " +
                             number_text(waveform.sample_rate_hz) + " Hz",
                         "give a smaller bandwidth or a higher sample_rate_hz");
  }
  if (range_view(scene).max_m <= range_view(scene).min_m)
    return usage_error("shape.sample_count", "the receive window is shorter than the pulse", "give more samples");
  return {};
}

Expected<void> validate_waveform(const Scene& scene) {
  const Waveform& waveform = scene.radar.waveform;
  if (waveform.kind == WaveformKind::profiled)
    return usage_error("waveform.kind", "profiled samples are not simulated", "use fmcw or pulse");
  if (!(waveform.carrier_hz > 0.0)) return usage_error("waveform.carrier_hz", "is missing or not positive");
  if (!(waveform.sample_rate_hz > 0.0)) return usage_error("waveform.sample_rate_hz", "is missing or not positive");
  const double window_s =
      static_cast<double>(scene.shape.sample_count) / waveform.sample_rate_hz + waveform.receive_start_s;
  // A relative rounding error must not refuse a PRI that is exactly as long as its samples.
  if (!(waveform.pri_s * (1.0 + 1e-12) >= window_s))
    return usage_error("waveform.pri_s",
                       number_text(waveform.pri_s) + " s is shorter than the receive window, which ends after " +
                           number_text(window_s) + " s",
                       "give a longer pri_s or fewer samples");
  const double cpi_s = static_cast<double>(scene.shape.pulse_count) * waveform.pri_s;
  if (scene.cpi_period_s != 0.0 && !(scene.cpi_period_s * (1.0 + 1e-12) >= cpi_s))
    return usage_error(
        "cpi_period_s",
        number_text(scene.cpi_period_s) + " s is shorter than the pulses of one CPI, " + number_text(cpi_s) + " s",
        "give a longer period, or 0 for CPIs back to back");
  return waveform.kind == WaveformKind::fmcw ? validate_fmcw(scene) : validate_pulse(scene);
}

Expected<void> validate_radar(const Scene& scene) {
  const RadarDescription& radar = scene.radar;
  const std::size_t channels = scene.shape.channel_count;
  if (std::abs(radar.doppler_sign) != 1.0)
    return usage_error("radar.doppler_sign", number_text(radar.doppler_sign) + " is no sign", "use 1 or -1");
  if (std::abs(radar.array.steering_sign) != 1.0)
    return usage_error("array.steering_sign", number_text(radar.array.steering_sign) + " is no sign", "use 1 or -1");
  if (!(radar.propagation_factor > 0.0))
    return usage_error("radar.propagation_factor", number_text(radar.propagation_factor) + " is not positive",
                       "use 0.5 (two-way) or 1 (one-way)");
  if (!radar.array.elements.empty() && radar.array.elements.size() != channels)
    return usage_error(
        "array.x_m",
        std::to_string(radar.array.elements.size()) + " positions for " + std::to_string(channels) + " channels",
        "give one position per channel");
  if (!radar.channel_calibration.empty() &&
      (radar.channel_calibration.size() != channels ||
       std::any_of(radar.channel_calibration.begin(), radar.channel_calibration.end(),
                   [](std::complex<float> factor) { return std::norm(factor) == 0.0F; })))
    return usage_error("radar.channel_calibration", "has a zero or not one factor per channel");
  return {};
}

Expected<void> validate_receiver(const SceneReceiver& receiver) {
  if (!(receiver.noise_counts > 0.0))
    return usage_error("receiver.noise_counts", number_text(receiver.noise_counts) + " is not positive",
                       "SNR is relative to the noise: for next to none use 0.001 with a higher snr_db");
  if (receiver.adc_bits < 2 || receiver.adc_bits > 16)
    return usage_error("receiver.adc_bits", std::to_string(receiver.adc_bits) + " bits are not simulated",
                       "use 2 to 16");
  if (!(std::abs(receiver.iq_phase_imbalance_deg) < 90.0))
    return usage_error("receiver.iq_phase_imbalance_deg", "leaves I and Q dependent", "use less than 90 degrees");
  return {};
}

Expected<void> validate_clutter(const Scene& scene) {
  const SceneClutter& clutter = scene.clutter;
  if (!has_clutter(scene)) return {};
  const RangeView view = range_view(scene);
  if (!(clutter.min_range_m < clutter.max_range_m))
    return usage_error("clutter.max_range_m", "is not beyond clutter.min_range_m", "give min_range_m < max_range_m");
  if (!view.contains(clutter.min_range_m) || !view.contains(clutter.max_range_m))
    return usage_error(
        view.contains(clutter.min_range_m) ? "clutter.max_range_m" : "clutter.min_range_m",
        "lies outside of what the receiver sees, " + number_text(view.min_m) + " to " + number_text(view.max_m) + " m",
        "move it inside");
  if (clutter.scatterer_count == 0) return usage_error("clutter.scatterer_count", "is 0", "give 1 or more");
  if (!(clutter.range_rate_spread_mps >= 0.0)) return usage_error("clutter.range_rate_spread_mps", "is negative");
  return {};
}

Expected<void> validate_target(const Scene& scene, std::size_t index) {
  const SceneTarget& target = scene.targets[index];
  const RangeView view = range_view(scene);
  if (!view.contains(target.range_m))
    return usage_error(target_key(index, "range_m"),
                       number_text(target.range_m) + " m lies outside of what the receiver sees, " +
                           number_text(view.min_m) + " to " + number_text(view.max_m) + " m",
                       "move the target, or change the waveform or sample_count");
  // Signs and delays are first order in v / c.
  if (!(std::abs(target.range_rate_mps) < 1e-3 * kSpeedOfLight_mps))
    return usage_error(target_key(index, "range_rate_mps"), number_text(target.range_rate_mps) + " m/s is too fast",
                       "use less than a thousandth of the speed of light");
  if (!(std::abs(target.azimuth_deg) <= 90.0))
    return usage_error(target_key(index, "azimuth_deg"),
                       number_text(target.azimuth_deg) + " degrees lie behind the array", "use -90 to 90");
  if (!(std::abs(target.snr_db) <= 300.0))
    return usage_error(target_key(index, "snr_db"), number_text(target.snr_db) + " dB is out of range",
                       "use -300 to 300");
  return {};
}

}  // namespace

bool has_clutter(const Scene& scene) { return scene.clutter.cnr_db > kNoClutterDb; }

double cpi_period_s(const Scene& scene) {
  const double cpi_s = static_cast<double>(scene.shape.pulse_count) * scene.radar.waveform.pri_s;
  return scene.cpi_period_s > 0.0 ? scene.cpi_period_s : cpi_s;
}

double echo_amplitude_counts(double snr_db, const SceneReceiver& receiver) {
  return receiver.noise_counts * std::numbers::sqrt2 * std::pow(10.0, snr_db / 20.0);
}

double pulse_width_s(const Waveform& waveform) {
  if (waveform.replica.empty()) return waveform.pulse_width_s;
  return static_cast<double>(waveform.replica.size()) / waveform.sample_rate_hz;
}

RangeView range_view(const Scene& scene) {
  const RadarDescription& radar = scene.radar;
  const Waveform& waveform = radar.waveform;
  const double metres_per_second = kSpeedOfLight_mps * radar.propagation_factor;
  const double window_s = static_cast<double>(scene.shape.sample_count) / waveform.sample_rate_hz;
  if (waveform.kind == WaveformKind::fmcw) {
    const double highest_beat_hz = waveform.sample_rate_hz * (scene.complex_samples ? 1.0 : 0.5);
    return {radar.range_offset_m,
            radar.range_offset_m + metres_per_second * highest_beat_hz / std::abs(waveform.slope_hz_per_s)};
  }
  const double last_start_s = waveform.receive_start_s + window_s - pulse_width_s(waveform);
  return {radar.range_offset_m + metres_per_second * waveform.receive_start_s,
          radar.range_offset_m + metres_per_second * last_start_s};
}

Expected<void> validate(const Scene& scene) {
  if (auto valid = validate_shape(scene); !valid) return valid;
  if (auto valid = validate_radar(scene); !valid) return valid;
  if (auto valid = validate_waveform(scene); !valid) return valid;
  if (auto valid = validate_receiver(scene.receiver); !valid) return valid;
  if (auto valid = validate_clutter(scene); !valid) return valid;
  for (std::size_t index = 0; index < scene.targets.size(); ++index)
    if (auto valid = validate_target(scene, index); !valid) return valid;
  return {};
}

}  // namespace cornerturn
