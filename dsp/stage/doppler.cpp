#include "dsp/stage/doppler.h"

#include <algorithm>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

DopplerTransform::DopplerTransform(std::span<const float> window, std::size_t fft_length, std::size_t channel_count)
    : weights_(window.begin(), window.end()), plan_(FftPlan::forward(fft_length, channel_count)) {
  CORNERTURN_REQUIRE(!window.empty() && window.size() <= fft_length);
  // exp(j 2 pi (L/2) p / L) = (-1)^p: a shift by half the length costs nothing when the window carries it.
  if (fft_length % 2 == 0)
    for (std::size_t pulse = 1; pulse < weights_.size(); pulse += 2) weights_[pulse] = -weights_[pulse];
}

void DopplerTransform::process(MatrixView<std::complex<float>> lines, MatrixView<std::complex<float>> out) const {
  const std::size_t channel_count = plan_.batch();
  CORNERTURN_REQUIRE(lines.line_count() == channel_count && lines.element_count() == fft_length());
  CORNERTURN_REQUIRE(out.line_count() == channel_count && out.element_count() == fft_length());
  for (std::size_t channel = 0; channel < channel_count; ++channel) {
    const std::span<std::complex<float>> line = lines.line(channel);
    for (std::size_t pulse = 0; pulse < weights_.size(); ++pulse) line[pulse] *= weights_[pulse];
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(weights_.size()), line.end(), std::complex<float>{});
  }
  const std::size_t count = channel_count * fft_length();
  plan_.execute(std::span<const std::complex<float>>(lines.data(), count), {out.data(), count});
  if (fft_length() % 2 == 1)
    for (std::size_t channel = 0; channel < channel_count; ++channel) {
      const std::span<std::complex<float>> line = out.line(channel);
      std::rotate(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(fft_length() / 2 + 1), line.end());
    }
}

}  // namespace cornerturn
