#include "dsp/stage/integrate.h"

#include <algorithm>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

void integrate_power(MatrixView<const std::complex<float>> spectra, std::span<float> power) {
  CORNERTURN_REQUIRE(spectra.element_count() == power.size() && spectra.line_count() >= 1);
  std::fill(power.begin(), power.end(), 0.0F);
  for (std::size_t channel = 0; channel < spectra.line_count(); ++channel) {
    const std::complex<float>* line = spectra.line(channel).data();
    for (std::size_t bin = 0; bin < power.size(); ++bin)
      power[bin] += line[bin].real() * line[bin].real() + line[bin].imag() * line[bin].imag();
  }
  const float scale = 1.0F / static_cast<float>(spectra.line_count());
  for (float& value : power) value *= scale;
}

}  // namespace cornerturn
