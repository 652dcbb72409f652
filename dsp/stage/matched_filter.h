#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/math/fft_plan.h"
#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {

/// Linear-FM replica as transmitted: r[i] = exp(j pi (B / T) (i / fs - T / 2)^2), i = 0 .. round(T fs) - 1, i / fs
/// after the start of transmission; B negative sweeps downwards. Source: Richards, Fundamentals of Radar Signal
/// Processing (2014), section 4.6.
std::vector<std::complex<float>> make_lfm_replica(double bandwidth_hz, double pulse_width_s, double sample_rate_hz);

/// Pulse compression by fast convolution: y[g] = sum_i x[g + i] r*[i], only for gates that see the whole replica:
/// samples - replica + 1. These need a circular length of only the number of samples: what wraps around falls on the
/// gates that are left out.
/// Shape: in (sample), out (gate). Units: counts times those of the replica. Threads: any number, on different lines.
/// Source: Oppenheim & Schafer, Discrete-Time Signal Processing, section 8.7.3 (overlap-save).
class MatchedFilter {
 public:
  /// `replica` already windowed and scaled. Requires replica.size() <= sample_count.
  MatchedFilter(std::span<const std::complex<float>> replica, std::size_t sample_count);

  /// Circular length for a number of samples.
  static std::size_t fft_length(std::size_t sample_count) { return good_fft_length(sample_count); }
  std::size_t fft_length() const { return forward_.length(); }
  std::size_t gate_count() const { return gate_count_; }

  /// `line` (fft_length) holds the samples first and serves as work space; `out` (fft_length) holds gate_count() valid
  /// gates first, then values without meaning. Both 64-byte aligned.
  void process(std::span<std::complex<float>> line, std::span<std::complex<float>> out) const;

 private:
  std::size_t sample_count_;
  std::size_t gate_count_;
  FftPlan forward_;
  FftPlan inverse_;
  AlignedBuffer<std::complex<float>> spectrum_;  // conj(FFT(replica)) / length
};

}  // namespace cornerturn
