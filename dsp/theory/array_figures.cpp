#include "dsp/theory/array_figures.h"

#include <cmath>
#include <numbers>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {

double line_array_beamwidth_deg(std::size_t element_count, double spacing_wavelengths) {
  CORNERTURN_REQUIRE(element_count >= 2 && spacing_wavelengths > 0.0);
  const auto count = static_cast<double>(element_count);
  const auto power = [count](double u) {
    const double ratio = std::sin(count * u) / (count * std::sin(u));
    return ratio * ratio;
  };
  // The pattern falls strictly from 1 at u = 0 to 0 at the first null.
  double low = 0.0;
  double high = std::numbers::pi / count;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (power(middle) > 0.5 ? low : high) = middle;
  }
  const double sine = low / (std::numbers::pi * spacing_wavelengths);
  CORNERTURN_REQUIRE(sine <= 1.0);
  return 2.0 * rad_to_deg(std::asin(sine));
}

double line_array_first_null_deg(std::size_t element_count, double spacing_wavelengths) {
  const double sine = 1.0 / (static_cast<double>(element_count) * spacing_wavelengths);
  CORNERTURN_REQUIRE(sine > 0.0 && sine <= 1.0);
  return rad_to_deg(std::asin(sine));
}

double adaptive_loss_mean(std::size_t channels, std::size_t snapshots) {
  CORNERTURN_REQUIRE(channels >= 1 && snapshots >= channels);
  return static_cast<double>(snapshots + 2 - channels) / static_cast<double>(snapshots + 1);
}

double broadside_angle_bound_deg(std::size_t channels, std::size_t snapshots, double snr) {
  CORNERTURN_REQUIRE(channels >= 2 && snapshots >= 1 && snr > 0.0);
  const auto m = static_cast<double>(channels);
  const double information =
      std::numbers::pi * std::numbers::pi * static_cast<double>(snapshots) * snr * m * (m * m - 1.0);
  return rad_to_deg(std::sqrt(6.0 / information));
}

double mvdr_sinr(std::size_t channels, double snr, double inr, double rho2) {
  const auto m = static_cast<double>(channels);
  return snr * m * (1.0 - rho2 * m * inr / (1.0 + m * inr));
}

double conventional_sinr(std::size_t channels, double snr, double inr, double rho2) {
  const auto m = static_cast<double>(channels);
  return snr * m / (1.0 + rho2 * m * inr);
}

}  // namespace cornerturn
