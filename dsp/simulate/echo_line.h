#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/simulate/scene.h"

namespace cornerturn {

/// One scatterer during one CPI.
struct PointEcho {
  double range_m = 0.0;  ///< at the reference time of pulse 0 of the CPI
  double range_rate_mps = 0.0;
  std::complex<double> amplitude_counts;
  std::vector<std::complex<float>> channel_response;  ///< steering vector over calibration; (channel)
};

/// Samples [first, first + count) of a line that an echo reaches.
struct EchoSpan {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Writes what one scatterer of unit amplitude sends into one pulse, in the conventions of EchoSimulator.
/// Threads: any; immutable after construction.
class EchoLine {
 public:
  explicit EchoLine(const Scene& scene);
  /// Fills real and imag (sample) over the returned span, counted from the span's first sample, and leaves the rest.
  /// `time_s` counts from the reference time of pulse 0 of the CPI.
  EchoSpan fill(const PointEcho& echo, double time_s, std::span<float> real, std::span<float> imag) const;

 private:
  EchoSpan fill_fmcw(double delay_s, double delay_rate, std::span<float> real, std::span<float> imag) const;
  EchoSpan fill_pulse(double delay_s, double delay_rate, std::span<float> real, std::span<float> imag) const;
  void multiply_replica(double first_position, double step, std::size_t count, std::span<float> real,
                        std::span<float> imag) const;

  Waveform waveform_;
  std::size_t sample_count_;
  double signed_carrier_hz_;  // the raw phase turns with this times the delay
  double range_offset_m_;
  double path_speed_mps_;  // range per delay
  RangeView view_;
};

}  // namespace cornerturn
