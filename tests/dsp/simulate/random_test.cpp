#include "dsp/simulate/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

constexpr std::size_t kCount = 1 << 20;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(GaussianNoise, FollowsTheNormalLaw) {
  std::vector<float> first(kCount);
  std::vector<float> second(kCount);
  GaussianNoise(stream_key(1, DrawPurpose::noise, 0)).fill(first, second);
  for (std::vector<float>* values : {&first, &second}) {
    double sum = 0.0;
    double square_sum = 0.0;
    double fourth_sum = 0.0;
    for (const float value : *values) {
      const double square = static_cast<double>(value) * value;
      sum += value;
      square_sum += square;
      fourth_sum += square * square;
    }
    const auto n = static_cast<double>(kCount);
    // Five standard errors of each moment: 1, sqrt(2), sqrt(96) over sqrt(n).
    EXPECT_NEAR(sum / n, 0.0, 5.0 / std::sqrt(n));
    EXPECT_NEAR(square_sum / n, 1.0, 5.0 * std::sqrt(2.0 / n));
    EXPECT_NEAR(fourth_sum / n, 3.0, 5.0 * std::sqrt(96.0 / n));

    std::ranges::sort(*values);
    double distance = 0.0;
    for (std::size_t i = 0; i < kCount; ++i)
      distance = std::max(distance, std::abs(normal_cdf((*values)[i]) - (static_cast<double>(i) + 0.5) / n));
    EXPECT_LT(distance, 1.95 / std::sqrt(n));  // Kolmogorov-Smirnov at 0.1 %
    // Tail beyond 4 sigma: 66.4 expected of 2^20, Poisson.
    const auto beyond = values->end() - std::ranges::upper_bound(*values, 4.0F);
    EXPECT_NEAR(static_cast<double>(beyond), 33.2, 5.0 * std::sqrt(33.2));
  }
}

TEST(GaussianNoise, IsWhiteAndItsHalvesAreUncorrelated) {
  std::vector<float> first(kCount);
  std::vector<float> second(kCount);
  GaussianNoise(stream_key(2, DrawPurpose::noise, 0)).fill(first, second);
  const double limit = 5.0 / std::sqrt(static_cast<double>(kCount));
  for (const std::size_t lag : {1U, 2U, 8U, 16U, 17U, 32U, 256U}) {
    double own = 0.0;
    double cross = 0.0;
    for (std::size_t i = 0; i + lag < kCount; ++i) {
      own += static_cast<double>(first[i]) * first[i + lag];
      cross += static_cast<double>(first[i]) * second[i + lag];
    }
    EXPECT_LT(std::abs(own) / kCount, limit) << lag;
    EXPECT_LT(std::abs(cross) / kCount, limit) << lag;
  }
  double same = 0.0;
  for (std::size_t i = 0; i < kCount; ++i) same += static_cast<double>(first[i]) * second[i];
  EXPECT_LT(std::abs(same) / kCount, limit);
}

TEST(GaussianNoise, DependsOnEachPartOfItsKey) {
  const auto draw = [](std::uint64_t key) {
    std::vector<float> first(40);
    std::vector<float> second(40);
    GaussianNoise(key).fill(first, second);
    return first;
  };
  const auto base = draw(stream_key(1, DrawPurpose::noise, 2, 3));
  EXPECT_EQ(base, draw(stream_key(1, DrawPurpose::noise, 2, 3)));
  EXPECT_NE(base, draw(stream_key(2, DrawPurpose::noise, 2, 3)));
  EXPECT_NE(base, draw(stream_key(1, DrawPurpose::clutter, 2, 3)));
  EXPECT_NE(base, draw(stream_key(1, DrawPurpose::noise, 3, 3)));
  EXPECT_NE(base, draw(stream_key(1, DrawPurpose::noise, 3, 2)));
}

TEST(DrawStream, UniformsAreInRangeAndEven) {
  DrawStream draws(stream_key(5, DrawPurpose::target, 0));
  std::vector<int> histogram(16);
  for (int i = 0; i < 16000; ++i) {
    const double value = draws.uniform();
    ASSERT_GT(value, 0.0);
    ASSERT_LE(value, 1.0);
    ++histogram[static_cast<std::size_t>(std::min(15.0, value * 16.0))];
  }
  double chi_square = 0.0;
  for (const int count : histogram) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 37.7);  // 15 degrees of freedom at 0.1 %
}

}  // namespace
}  // namespace cornerturn
