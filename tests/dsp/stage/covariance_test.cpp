#include "dsp/stage/covariance.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

using Snapshots = std::vector<std::complex<float>>;
using Packed = std::vector<std::complex<double>>;

Snapshots random_snapshots(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal(0.0F, 1000.0F);
  Snapshots snapshots(count);
  for (auto& value : snapshots) value = {normal(engine), normal(engine)};
  return snapshots;
}

Packed by_definition(const Snapshots& x, std::size_t channels, std::size_t count) {
  Packed packed(packed_size(channels));
  for (std::size_t row = 0; row < channels; ++row)
    for (std::size_t column = 0; column <= row; ++column)
      for (std::size_t k = 0; k < count; ++k)
        packed[packed_index(row, column)] += std::complex<double>(x[row * count + k]) *
                                             std::conj(std::complex<double>(x[column * count + k])) /
                                             static_cast<double>(count);
  return packed;
}

double relative_error(std::span<const std::complex<float>> found, const Packed& expected) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += std::norm(std::complex<double>(found[i]) - expected[i]);
    size += std::norm(expected[i]);
  }
  return std::sqrt(error / size);
}

TEST(Covariance, AgreesWithDoublePrecision) {
  struct Size {
    std::size_t channels, snapshots;
  };
  for (const Size& size : {Size{1, 1}, Size{2, 7}, Size{3, 64}, Size{5, 1000}, Size{16, 128}, Size{16, 126},
                           Size{7, 257}, Size{64, 40}, Size{4, 9999}}) {
    const auto x = random_snapshots(size.channels * size.snapshots, 1);
    CovarianceStage stage(size.channels, size.snapshots, {}, 1);
    Snapshots packed(packed_size(size.channels));
    stage.process({x.data(), size.channels, size.snapshots}, packed, 0);
    // Sums of at most 256 / 8 terms in single precision, then double: a few times 6e-8.
    EXPECT_LT(relative_error(packed, by_definition(x, size.channels, size.snapshots)), 3e-7)
        << size.channels << " x " << size.snapshots;
    for (std::size_t m = 0; m < size.channels; ++m) EXPECT_EQ(packed[packed_index(m, m)].imag(), 0.0F);
  }
}

TEST(Covariance, ReadsLinesApart) {
  const auto x = random_snapshots(4 * 100, 2);
  CovarianceStage stage(4, 60, {}, 1);
  Snapshots packed(packed_size(4));
  stage.process({x.data(), 4, 60, 100}, packed, 0);
  Snapshots dense;
  for (std::size_t m = 0; m < 4; ++m) dense.insert(dense.end(), x.begin() + 100 * m, x.begin() + 100 * m + 60);
  EXPECT_LT(relative_error(packed, by_definition(dense, 4, 60)), 3e-7);
}

TEST(Covariance, ForwardBackwardIsPersymmetric) {
  const auto x = random_snapshots(5 * 40, 3);
  CovarianceStage plain(5, 40, {}, 1);
  CovarianceStage averaged(5, 40, {true, 0.0}, 1);
  Snapshots r(packed_size(5));
  Snapshots fb(packed_size(5));
  plain.process({x.data(), 5, 40}, r, 0);
  averaged.process({x.data(), 5, 40}, fb, 0);
  const auto full = [](const Snapshots& packed, std::size_t row, std::size_t column) {
    return row >= column ? packed[packed_index(row, column)] : std::conj(packed[packed_index(column, row)]);
  };
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t column = 0; column < 5; ++column) {
      const auto expected = 0.5F * (full(r, row, column) + std::conj(full(r, 4 - row, 4 - column)));
      EXPECT_LT(std::abs(full(fb, row, column) - expected), 1e-6F * std::abs(r[0]));
    }
}

TEST(Covariance, LoadingIsRelativeToTheMeanPower) {
  const auto x = random_snapshots(6 * 40, 4);
  CovarianceStage stage(6, 40, {}, 1);
  Snapshots plain(packed_size(6));
  Snapshots loaded(packed_size(6));
  stage.process({x.data(), 6, 40}, plain, 0);
  stage.set_loading(0.1);
  stage.process({x.data(), 6, 40}, loaded, 0);
  double mean_power = 0.0;
  for (std::size_t m = 0; m < 6; ++m) mean_power += static_cast<double>(plain[packed_index(m, m)].real()) / 6.0;
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t column = 0; column <= row; ++column) {
      const std::size_t i = packed_index(row, column);
      const double added = row == column ? 0.1 * mean_power : 0.0;
      EXPECT_NEAR(loaded[i].real() - plain[i].real(), added, 1e-6 * mean_power);
      EXPECT_EQ(loaded[i].imag(), plain[i].imag());
    }
}

TEST(Covariance, WorkersDoNotShareState) {
  const auto a = random_snapshots(4 * 30, 5);
  const auto b = random_snapshots(4 * 30, 6);
  CovarianceStage stage(4, 30, {}, 2);
  Snapshots first(packed_size(4));
  Snapshots again(packed_size(4));
  Snapshots other(packed_size(4));
  stage.process({a.data(), 4, 30}, first, 0);
  stage.process({b.data(), 4, 30}, other, 1);
  stage.process({a.data(), 4, 30}, again, 1);
  EXPECT_EQ(first, again);
}

}  // namespace
}  // namespace cornerturn
