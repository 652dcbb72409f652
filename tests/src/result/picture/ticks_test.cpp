#include "src/result/picture/ticks.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

std::vector<std::string> labels(double low, double high, int most) {
  std::vector<std::string> texts;
  for (const Tick& tick : make_ticks(low, high, most)) texts.push_back(tick.label);
  return texts;
}

TEST(Ticks, AreRoundAndInsideTheInterval) {
  EXPECT_EQ(labels(0.0, 10.0, 5), (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(-0.3, 0.3, 4), (std::vector<std::string>{"\u22120.2", "0.0", "0.2"}));
  EXPECT_EQ(labels(1.23, 4.56, 4), (std::vector<std::string>{"2", "3", "4"}));
  EXPECT_EQ(labels(5.0, 5.0, 4), (std::vector<std::string>{"5"}));
  for (const double width : {1e-9, 3e-4, 0.7, 42.0, 9.9e5, 3e12})
    for (const Tick& tick : make_ticks(-width / 3, width, 6)) {
      EXPECT_GE(tick.value, -width / 3 * (1 + 1e-6));
      EXPECT_LE(tick.value, width * (1 + 1e-6));
    }
}

TEST(Ticks, TellCoordinatesApart) {
  for (const double width : {1e-9, 3e-4, 0.7, 42.0, 9.9e5, 3e12}) {
    const auto texts = labels(-width / 3, width, 6);
    for (std::size_t i = 1; i < texts.size(); ++i) EXPECT_NE(texts[i - 1], texts[i]) << width;
    EXPECT_GE(texts.size(), 2U) << width;
  }
}

TEST(Ticks, DecimalsShowATenthOfAStep) {
  EXPECT_EQ(decimals_for(0.01), 3);
  EXPECT_EQ(decimals_for(-0.25), 2);
  EXPECT_EQ(decimals_for(1.0), 1);
  EXPECT_EQ(decimals_for(53.0), 0);
  EXPECT_EQ(decimals_for(0.0), 2) << "an axis of one cell has no step";
}

TEST(Ticks, UnitsAreSpelledForPeople) {
  EXPECT_EQ(axis_label("range_rate", "m s-1"), "range rate (m/s)");
  EXPECT_EQ(axis_label("channel", "1"), "channel");
  EXPECT_EQ(decimal_text(-0.04, 1), "0.0");
  EXPECT_EQ(decimal_text(-1.25, 1), "\u22121.2");
}

}  // namespace
}  // namespace cornerturn
