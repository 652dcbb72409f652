#include "dsp/math/fft_plan.h"

#include <cmath>
#include <numbers>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {
namespace {

using Complex = std::complex<float>;

AlignedBuffer<Complex> random_lines(std::size_t count, std::uint64_t seed) {
  AlignedBuffer<Complex> lines(count);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (Complex& value : lines.span()) value = {normal(random), normal(random)};
  return lines;
}

// Relative L2 distance to the sum of the definition, in double.
double error_against_definition(std::span<const Complex> in, std::span<const Complex> out, double sign) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::complex<double> sum = 0.0;
    for (std::size_t n = 0; n < in.size(); ++n)
      sum += std::complex<double>(in[n]) *
             std::polar(1.0, sign * 2.0 * std::numbers::pi * static_cast<double>(n * k % in.size()) /
                                 static_cast<double>(in.size()));
    error += std::norm(sum - std::complex<double>(out[k]));
    norm += std::norm(sum);
  }
  return std::sqrt(error / norm);
}

TEST(FftPlan, MatchesTheDefinitionForBatchesOfAnyLength) {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{90}, std::size_t{127}}) {
    constexpr std::size_t kBatch = 3;
    const auto in = random_lines(length * kBatch, length);
    AlignedBuffer<Complex> out(length * kBatch);
    FftPlan::forward(length, kBatch).execute(in.span(), out.span());
    for (std::size_t line = 0; line < kBatch; ++line)
      EXPECT_LT(error_against_definition(in.span().subspan(line * length, length),
                                         std::as_const(out).span().subspan(line * length, length), -1.0),
                5e-7);  // eps sqrt(log2 N), with a margin
    FftPlan::inverse(length).execute(in.span().first(length), out.span().first(length));
    EXPECT_LT(error_against_definition(in.span().first(length), std::as_const(out).span().first(length), 1.0), 5e-7);
  }
}

TEST(FftPlan, RealTransformGivesTheHalfSpectrum) {
  constexpr std::size_t kLength = 96;
  AlignedBuffer<float> in(kLength);
  AlignedBuffer<Complex> same(kLength);
  std::mt19937_64 random(5);
  for (std::size_t n = 0; n < kLength; ++n) same[n] = in[n] = std::normal_distribution<float>()(random);
  AlignedBuffer<Complex> half(kLength / 2 + 1);
  AlignedBuffer<Complex> whole(kLength);
  FftPlan::real_forward(kLength).execute(std::as_const(in).span(), half.span());
  FftPlan::forward(kLength).execute(std::as_const(same).span(), whole.span());
  for (std::size_t k = 0; k <= kLength / 2; ++k) EXPECT_NEAR(std::abs(half[k] - whole[k]), 0.0F, 2e-5F);
}

TEST(FftPlan, OnePlanServesSeveralThreads) {
  constexpr std::size_t kLength = 512;
  const FftPlan plan = FftPlan::forward(kLength);
  const auto in = random_lines(kLength, 9);
  AlignedBuffer<Complex> expected(kLength);
  plan.execute(in.span(), expected.span());
  std::vector<AlignedBuffer<Complex>> outs;
  for (int i = 0; i < 4; ++i) outs.emplace_back(kLength);
  {
    std::vector<std::jthread> threads;
    for (auto& out : outs)
      threads.emplace_back([&plan, &in, &out] {
        for (int repeat = 0; repeat < 100; ++repeat) plan.execute(in.span(), out.span());
      });
  }
  for (auto& out : outs)
    for (std::size_t k = 0; k < kLength; ++k) ASSERT_EQ(out[k], expected[k]);
}

TEST(FftPlan, GoodLengthsAreSmoothAndNotShorter) {
  EXPECT_EQ(good_fft_length(1), 1U);
  EXPECT_EQ(good_fft_length(4096), 4096U);
  EXPECT_EQ(good_fft_length(9001), 9072U);  // 2^4 3^4 7
  EXPECT_EQ(good_fft_length(11), 12U);
}

}  // namespace
}  // namespace cornerturn
