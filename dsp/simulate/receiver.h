#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dsp/simulate/scene.h"

namespace cornerturn {

/// Turns ideal samples into what the ADC delivers: I/Q imbalance, then noise, then DC, then rounding and clipping.
/// Imbalance of gain g and phase p: I' = I, Q' = g (Q cos p + I sin p); its image lies
/// 10 log10((1 + g^2 - 2 g cos p) / (1 + g^2 + 2 g cos p)) below the signal.
/// Threads: any; immutable after construction.
class Receiver {
 public:
  Receiver(const SceneReceiver& receiver, bool complex_samples);
  /// Shape: real, imag and both noises (sample), unit variance; out (sample) or, complex, (sample, I and Q).
  void digitise(std::span<const float> real, std::span<const float> imag, std::span<const float> noise_i,
                std::span<const float> noise_q, std::span<std::int16_t> out) const;

 private:
  bool complex_samples_;
  float noise_counts_;
  float dc_i_;
  float dc_q_;
  float q_from_q_;
  float q_from_i_;
  float lowest_;
  float highest_;
};

}  // namespace cornerturn
