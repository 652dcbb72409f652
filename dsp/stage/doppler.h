#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/math/fft_plan.h"
#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// Doppler transform of all channels of one gate: X[b] = sum_p w[p] x[p] exp(-j 2 pi (b - floor(L/2)) p / L), so that
/// zero Doppler lies at bin floor(L/2) and the phase turns forwards above it.
/// Shape: in (channel, pulse), out (channel, bin). Units: counts. Threads: any number, on different blocks.
/// Source: Richards, Fundamentals of Radar Signal Processing (2014), section 5.3 (pulse Doppler processing).
class DopplerTransform {
 public:
  /// `window` (pulse), already scaled; fft_length >= window.size().
  DopplerTransform(std::span<const float> window, std::size_t fft_length, std::size_t channel_count);

  std::size_t pulse_count() const { return weights_.size(); }
  std::size_t fft_length() const { return plan_.length(); }

  /// `lines` (channel, fft_length) holds the pulses first and serves as work space; `out` (channel, fft_length), dense.
  /// Both start 64-byte aligned.
  void process(MatrixView<std::complex<float>> lines, MatrixView<std::complex<float>> out) const;

 private:
  std::vector<float> weights_;  // for even L with the sign (-1)^p that brings zero Doppler to L/2
  FftPlan plan_;
};

}  // namespace cornerturn
