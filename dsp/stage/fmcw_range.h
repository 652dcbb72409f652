#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/math/fft_plan.h"

namespace cornerturn {

/// Range transform of dechirped samples: X[k] = sum_n w[n] x[n] exp(-j 2 pi k n / L), gate k at beat frequency k fs /
/// L. Complex sampling gives gates 0 .. L - 1; real sampling gates 0 .. L/2 (the others mirror them), doubled by the
/// window's scale so that a cosine of amplitude A reads A.
/// A target that moves is shifted by its Doppler frequency: X peaks at fb = 2 R |S| / c + fd, with fd in the capture's
/// own sign of phase. The map keeps the gates as they are; each detection is corrected: R = c (fb - fd) / (2 |S|).
/// Shape: in (sample), out (gate). Units: counts. Threads: any number, on different lines.
/// Source: Richards, Scheer & Holm, Principles of Modern Radar (2010), section 8.3 (stretch processing, beat
/// frequency).
class FmcwRange {
 public:
  /// `window` (sample), already scaled; fft_length >= window.size().
  FmcwRange(std::vector<float> window, std::size_t fft_length, bool complex_samples);

  std::size_t sample_count() const { return window_.size(); }
  std::size_t fft_length() const { return plan_.length(); }
  /// Gates that out must have room for: L, or L/2 + 1 for real sampling.
  std::size_t gate_count() const { return complex_samples_ ? fft_length() : fft_length() / 2 + 1; }

  /// `line` (fft_length) holds the samples first and serves as work space; `out` (gate_count). Both 64-byte aligned.
  void process(std::span<std::complex<float>> line, std::span<std::complex<float>> out) const;
  /// The same for real sampling; `factor` (the channel's calibration) multiplies the output.
  void process_real(std::span<float> line, std::complex<float> factor, std::span<std::complex<float>> out) const;

 private:
  std::vector<float> window_;
  bool complex_samples_;
  FftPlan plan_;
};

}  // namespace cornerturn
