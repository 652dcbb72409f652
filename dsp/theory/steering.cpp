#include "dsp/theory/steering.h"

#include <cmath>
#include <numbers>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {

std::vector<std::complex<double>> steering_vector(const ArrayGeometry& array, double wavelength_m, double azimuth_deg) {
  CORNERTURN_REQUIRE(wavelength_m > 0.0);
  const double phase_per_metre =
      array.steering_sign * 2.0 * std::numbers::pi / wavelength_m * std::sin(deg_to_rad(azimuth_deg));
  std::vector<std::complex<double>> response;
  response.reserve(array.elements.size());
  for (const auto& element : array.elements) response.push_back(std::polar(1.0, phase_per_metre * element.x_m));
  return response;
}

std::vector<double> azimuth_grid_deg(double min_deg, double max_deg, double step_deg) {
  CORNERTURN_REQUIRE(step_deg > 0.0 && max_deg >= min_deg);
  // A ten-thousandth of a step of tolerance: 120 / 0.1 must count 1200 steps although 0.1 is not exact.
  const auto steps = static_cast<std::size_t>((max_deg - min_deg) / step_deg + 1e-4);
  std::vector<double> grid(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i) grid[i] = min_deg + static_cast<double>(i) * step_deg;
  return grid;
}

}  // namespace cornerturn
