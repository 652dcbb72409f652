#include "dsp/theory/steering.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(Steering, PhaseGrowsTowardsTheSource) {
  // Half a wavelength at 30 degrees: pi / 2 from element to element, relative to the array's own origin.
  const auto response = steering_vector(ArrayGeometry::uniform_line(4, 0.002), 0.004, 30.0);
  ASSERT_EQ(response.size(), 4U);
  for (std::size_t m = 1; m < 4; ++m)
    EXPECT_NEAR(std::arg(response[m] * std::conj(response[m - 1])), std::numbers::pi / 2.0, 1e-12);
}

TEST(Steering, SignTurnsThePhaseAround) {
  auto array = ArrayGeometry::uniform_line(5, 0.5);
  const auto plain = steering_vector(array, 1.0, 17.0);
  array.steering_sign = -1.0;
  const auto turned = steering_vector(array, 1.0, 17.0);
  for (std::size_t m = 0; m < 5; ++m) EXPECT_LT(std::abs(turned[m] - std::conj(plain[m])), 1e-15);
}

TEST(Steering, GridIncludesBothEnds) {
  const auto grid = azimuth_grid_deg(-60.0, 60.0, 0.1);
  ASSERT_EQ(grid.size(), 1201U);
  EXPECT_DOUBLE_EQ(grid.front(), -60.0);
  EXPECT_NEAR(grid.back(), 60.0, 1e-9);
  EXPECT_EQ(azimuth_grid_deg(0.0, 1.0, 0.3).size(), 4U);
}

}  // namespace
}  // namespace cornerturn
