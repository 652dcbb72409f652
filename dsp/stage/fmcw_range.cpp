#include "dsp/stage/fmcw_range.h"

#include <algorithm>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

FmcwRange::FmcwRange(std::vector<float> window, std::size_t fft_length, bool complex_samples)
    : window_(std::move(window)),
      complex_samples_(complex_samples),
      plan_(complex_samples ? FftPlan::forward(fft_length) : FftPlan::real_forward(fft_length)) {
  CORNERTURN_REQUIRE(!window_.empty() && window_.size() <= fft_length);
}

void FmcwRange::process(std::span<std::complex<float>> line, std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(complex_samples_ && line.size() == fft_length());
  for (std::size_t n = 0; n < window_.size(); ++n) line[n] *= window_[n];
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(window_.size()), line.end(), std::complex<float>{});
  plan_.execute(std::span<const std::complex<float>>(line), out);
}

void FmcwRange::process_real(std::span<float> line, std::complex<float> factor,
                             std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(!complex_samples_ && line.size() == fft_length());
  for (std::size_t n = 0; n < window_.size(); ++n) line[n] *= window_[n];
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(window_.size()), line.end(), 0.0F);
  plan_.execute(std::span<const float>(line), out);
  if (factor != std::complex<float>(1.0F))
    for (std::complex<float>& value : out) value *= factor;
}

}  // namespace cornerturn
