#pragma once

#include <complex>
#include <cstddef>
#include <span>

#include "dsp/config/chain_config.h"

namespace cornerturn {

/// Removes what does not move, along slow time:
///   mean         y[p] = x[p] - mean(x)
///   two_pulse    y[p] = x[p + 1] - x[p]                  (P - 1 pulses left, noise power gain 2)
///   three_pulse  y[p] = x[p + 2] - 2 x[p + 1] + x[p]     (P - 2 pulses left, noise power gain 6)
/// Shape: in (pulse), out (cancelled pulse). Threads: any one.
/// Source: Richards, Fundamentals of Radar Signal Processing (2014), section 5.2 (pulse cancellers).
class PulseCanceller {
 public:
  /// Requires output_count(canceller, pulse_count) >= 1.
  PulseCanceller(Canceller canceller, std::size_t pulse_count);

  /// Pulses left of `pulse_count`, 0 when there are too few.
  static std::size_t output_count(Canceller canceller, std::size_t pulse_count);
  std::size_t output_count() const { return output_count(canceller_, pulse_count_); }

  /// `out` may be the start of `in`.
  void process(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const;

 private:
  Canceller canceller_;
  std::size_t pulse_count_;
};

}  // namespace cornerturn
