#include "dsp/simulate/phase_line.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(PhaseLine, EqualsTheClosedFormOverALongLine) {
  const QuadraticPhase phase{1234.567, 0.123456789, 3.2e-7};
  std::vector<float> real(9001);  // not a multiple of the lanes
  std::vector<float> imag(real.size());
  fill_phase_line(phase, real, imag);
  for (std::size_t n = 0; n < real.size(); ++n) {
    const auto position = static_cast<double>(n);
    const double cycles = std::fmod(phase.start_cycles + phase.slope_cycles * position, 1.0) +
                          phase.curvature_cycles * position * position;
    // Half a unit in the last place of a float near 1, and the closed form's own rounding.
    ASSERT_NEAR(real[n], std::cos(2.0 * std::numbers::pi * cycles), 7e-8) << n;
    ASSERT_NEAR(imag[n], std::sin(2.0 * std::numbers::pi * cycles), 7e-8) << n;
  }
}

TEST(PhaseLine, WritesNoMoreThanItIsGiven) {
  std::vector<float> real(5, 9.0F);
  std::vector<float> imag(5, 9.0F);
  fill_phase_line({0.0, 0.25, 0.0}, std::span(real).first(3), std::span(imag).first(3));
  EXPECT_NEAR(real[2], -1.0F, 1e-7F);
  EXPECT_EQ(real[3], 9.0F);
  EXPECT_EQ(imag[3], 9.0F);
}

}  // namespace
}  // namespace cornerturn
