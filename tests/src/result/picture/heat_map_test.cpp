#include "src/result/picture/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "src/result/picture/colour_map.h"

namespace cornerturn {
namespace {

const std::uint32_t kTop = packed(viridis(1.0));
const std::uint32_t kBottom = packed(viridis(0.0));

TEST(HeatMap, CellsLieWhereTheirCoordinatesSay) {
  // One cell of four stands out: range 2 (upper), rate -1 (left); the rate axis falls, so that it is the second column.
  const Axis range = Axis::uniform("range", "m", 1.0, 1.0, 2);
  const Axis rate = Axis::uniform("range_rate", "m s-1", 1.0, -2.0, 2);
  const std::vector<float> levels{0, 0, 0, 1};
  const PixelImage image = draw_heat_map(levels, range, rate, {0.0, 1.0}, 4, 4);
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x)
      EXPECT_EQ(image.pixels[y * 4 + x], y < 2 && x < 2 ? kTop : kBottom) << x << ' ' << y;
}

TEST(HeatMap, NoPeakIsLostWhenCellsOutnumberPixels) {
  const Axis range = Axis::uniform("range", "m", 0.0, 1.0, 1000);
  const Axis rate = Axis::uniform("range_rate", "m s-1", 0.0, 1.0, 700);
  std::vector<float> levels(700'000, 0.0F);
  levels[333 * 700 + 555] = 1.0F;
  const PixelImage image = draw_heat_map(levels, range, rate, {0.0, 1.0}, 13, 11);
  const auto bright = std::count(image.pixels.begin(), image.pixels.end(), kTop);
  EXPECT_EQ(bright, 1) << "one cell, not on the edge of two pixels";
  // Rows from the top: 11 rows of 1000/11 cells; columns of 700/13 cells.
  EXPECT_EQ(image.pixels[(10 - 333 * 11 / 1000) * 13 + 555 * 13 / 700], kTop);
}

TEST(HeatMap, CellsOfAListedAxisReachHalfWayToTheirNeighbours) {
  const Axis range = Axis::listed("range", "m", {0.0, 1.0, 3.0});  // edges at -0.5, 0.5, 2, 4
  const Axis rate = Axis::uniform("range_rate", "m s-1", 0.0, 1.0, 1);
  const std::vector<float> levels{0, 1, 0};
  const PixelImage image = draw_heat_map(levels, range, rate, {0.0, 1.0}, 1, 9);  // half a metre each
  std::vector<bool> bright;
  for (const std::uint32_t pixel : image.pixels) bright.push_back(pixel == kTop);
  EXPECT_EQ(bright, (std::vector<bool>{false, false, false, false, true, true, true, false, false}));
}

TEST(HeatMap, LevelsWithoutPowerNeverReachTheLimits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> levels = levels_db(std::vector<float>{0.0F, nan, infinity, 100.0F, 1.0F, 1.0F, 1.0F});
  const Interval limits = level_limits(levels);
  EXPECT_EQ(limits.high, 20.0);
  EXPECT_EQ(limits.low, -5.0) << "5 dB under the median of the cells with power";
  const Interval empty = level_limits(levels_db(std::vector<float>(10, 0.0F)));
  EXPECT_TRUE(std::isfinite(empty.low) && empty.low < empty.high);
}

TEST(ColourMap, RunsFromDarkVioletToYellowAndGetsBrighter) {
  EXPECT_EQ(packed(viridis(0.0)), 0x440154U);
  EXPECT_EQ(packed(viridis(1.0)), 0xFDE725U);
  EXPECT_EQ(packed(viridis(std::nan(""))), 0x440154U);
  double before = -1.0;
  for (int i = 0; i <= 100; ++i) {
    const Colour colour = viridis(i / 100.0);
    const double luminance = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
    EXPECT_GT(luminance, before) << i;
    before = luminance;
  }
}

}  // namespace
}  // namespace cornerturn
