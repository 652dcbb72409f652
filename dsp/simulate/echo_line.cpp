#include "dsp/simulate/echo_line.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "dsp/simulate/phase_line.h"
#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

/// Value of a sampled signal between its samples: sinc under a Hann window of +-8 samples, zero outside of the signal.
std::complex<double> interpolate(std::span<const std::complex<float>> signal, double position) {
  constexpr std::int64_t kHalfWidth = 8;
  const auto nearest = static_cast<std::int64_t>(std::floor(position));
  std::complex<double> sum;
  for (std::int64_t index = nearest - kHalfWidth + 1; index <= nearest + kHalfWidth; ++index) {
    if (index < 0 || index >= static_cast<std::int64_t>(signal.size())) continue;
    const double distance = position - static_cast<double>(index);
    const double angle = std::numbers::pi * distance;
    const double sinc = std::abs(distance) < 1e-9 ? 1.0 : std::sin(angle) / angle;
    const double window = 0.5 + 0.5 * std::cos(angle / static_cast<double>(kHalfWidth));
    sum += std::complex<double>(signal[static_cast<std::size_t>(index)]) * (sinc * window);
  }
  return sum;
}

}  // namespace

EchoLine::EchoLine(const Scene& scene)
    : waveform_(scene.radar.waveform),
      sample_count_(scene.shape.sample_count),
      signed_carrier_hz_(scene.radar.doppler_sign * scene.radar.waveform.carrier_hz),
      range_offset_m_(scene.radar.range_offset_m),
      path_speed_mps_(kSpeedOfLight_mps * scene.radar.propagation_factor),
      view_(range_view(scene)) {}

EchoSpan EchoLine::fill(const PointEcho& echo, double time_s, std::span<float> real, std::span<float> imag) const {
  CORNERTURN_REQUIRE(real.size() >= sample_count_ && imag.size() >= sample_count_);
  const double range_m = echo.range_m + echo.range_rate_mps * time_s;
  if (!view_.contains(range_m)) return {};
  const double delay_s = (range_m - range_offset_m_) / path_speed_mps_;
  const double delay_rate = echo.range_rate_mps / path_speed_mps_;
  return waveform_.kind == WaveformKind::fmcw ? fill_fmcw(delay_s, delay_rate, real, imag)
                                              : fill_pulse(delay_s, delay_rate, real, imag);
}

EchoSpan EchoLine::fill_fmcw(double delay_s, double delay_rate, std::span<float> real, std::span<float> imag) const {
  // Phase (tau + tau' u)(d fc + |S| u) with u = (n - N/2) / fs, as a polynomial in n.
  const double slope = std::abs(waveform_.slope_hz_per_s);
  const double centre = 0.5 * static_cast<double>(sample_count_);
  const double sample_s = 1.0 / waveform_.sample_rate_hz;
  const double curvature = delay_rate * slope * sample_s * sample_s;
  const double centre_slope = (delay_s * slope + delay_rate * signed_carrier_hz_) * sample_s;
  const QuadraticPhase phase{delay_s * signed_carrier_hz_ - centre * centre_slope + centre * centre * curvature,
                             centre_slope - 2.0 * centre * curvature, curvature};
  fill_phase_line(phase, real.first(sample_count_), imag.first(sample_count_));
  return {0, sample_count_};
}

EchoSpan EchoLine::fill_pulse(double delay_s, double delay_rate, std::span<float> real, std::span<float> imag) const {
  // Time e counts from the middle of the echo, tau(t) = tau + tau' e: the transmitted pulse is read at
  // (1 - tau') e + T/2 and the carrier turns by d fc (tau + tau' e).
  const double rate_hz = waveform_.sample_rate_hz;
  const double width_s = pulse_width_s(waveform_);
  const double stretch = 1.0 - delay_rate;
  const double start = (delay_s + 0.5 * width_s - 0.5 * width_s / stretch - waveform_.receive_start_s) * rate_hz;
  const double end = start + width_s / stretch * rate_hz;
  // A sample that falls on the first edge up to rounding belongs to the pulse, one on the last edge does not.
  constexpr double kRounding = 1e-6;
  const auto first = static_cast<std::int64_t>(std::max(0.0, std::ceil(start - kRounding)));
  const auto last = static_cast<std::int64_t>(std::min(static_cast<double>(sample_count_), std::ceil(end - kRounding)));
  if (last <= first) return {};
  const auto count = static_cast<std::size_t>(last - first);

  const double first_e_s = waveform_.receive_start_s + static_cast<double>(first) / rate_hz - delay_s - 0.5 * width_s;
  const double step_s = 1.0 / rate_hz;
  QuadraticPhase phase{signed_carrier_hz_ * (delay_s + delay_rate * first_e_s),
                       signed_carrier_hz_ * delay_rate * step_s, 0.0};
  if (waveform_.replica.empty()) {
    const double chirp = 0.5 * waveform_.bandwidth_hz / waveform_.pulse_width_s * stretch * stretch;
    phase.start_cycles += chirp * first_e_s * first_e_s;
    phase.slope_cycles += 2.0 * chirp * first_e_s * step_s;
    phase.curvature_cycles = chirp * step_s * step_s;
  }
  fill_phase_line(phase, real.first(count), imag.first(count));
  if (!waveform_.replica.empty())
    multiply_replica((stretch * first_e_s + 0.5 * width_s) * rate_hz, stretch, count, real, imag);
  return {static_cast<std::size_t>(first), count};
}

void EchoLine::multiply_replica(double first_position, double step, std::size_t count, std::span<float> real,
                                std::span<float> imag) const {
  for (std::size_t sample = 0; sample < count; ++sample) {
    const std::complex<double> envelope =
        interpolate(waveform_.replica, first_position + step * static_cast<double>(sample));
    const std::complex<double> value = envelope * std::complex<double>(real[sample], imag[sample]);
    real[sample] = static_cast<float>(value.real());
    imag[sample] = static_cast<float>(value.imag());
  }
}

}  // namespace cornerturn
