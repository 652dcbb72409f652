#include "dsp/vocabulary/axis.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(Axis, UniformCoordinateAndIndexAreInverse) {
  const Axis axis = Axis::uniform("range", "m", 2.5, 0.25, 100);
  EXPECT_DOUBLE_EQ(axis.coordinate(0), 2.5);
  EXPECT_DOUBLE_EQ(axis.coordinate(10.5), 5.125);
  EXPECT_DOUBLE_EQ(axis.index_of(5.125), 10.5);
}

TEST(Axis, ListedAxisInterpolatesAndContinuesItsEdgeCells) {
  const Axis axis = Axis::listed("range", "m", {1.0, 2.0, 4.0});
  EXPECT_DOUBLE_EQ(axis.coordinate(1.5), 3.0);
  EXPECT_DOUBLE_EQ(axis.index_of(3.0), 1.5);
  EXPECT_DOUBLE_EQ(axis.coordinate(2.5), 5.0);
  EXPECT_DOUBLE_EQ(axis.index_of(5.0), 2.5);
  EXPECT_DOUBLE_EQ(axis.coordinate(-0.5), 0.5);
  EXPECT_DOUBLE_EQ(axis.index_of(0.5), -0.5);
}

TEST(Axis, DescendingListedAxisInverts) {
  const Axis axis = Axis::listed("range_rate", "m s-1", {4.0, 1.0, -3.0});
  for (const double index : {0.0, 0.25, 1.0, 1.75, 2.0}) EXPECT_DOUBLE_EQ(axis.index_of(axis.coordinate(index)), index);
}

TEST(Axis, SliceKeepsCoordinates) {
  const Axis uniform = Axis::uniform("range", "m", 1.0, 0.5, 10).slice(4, 3);
  EXPECT_DOUBLE_EQ(uniform.coordinate(0), 3.0);
  EXPECT_EQ(uniform.count(), 3u);
  const Axis listed = Axis::listed("range", "m", {1.0, 2.0, 4.0, 8.0}).slice(2, 2);
  EXPECT_EQ(listed.coordinates(), (std::vector<double>{4.0, 8.0}));
}

TEST(Axis, ListOfOneValueHasThatCoordinate) {
  const Axis axis = Axis::listed("range", "m", {0.2});
  EXPECT_EQ(axis.coordinates(), std::vector<double>{0.2});
}

}  // namespace
}  // namespace cornerturn
