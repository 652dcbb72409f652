#include "dsp/theory/source_covariance.h"

#include <array>

#include <gtest/gtest.h>

#include "dsp/stage/covariance.h"
#include "tests/dsp/theory/real_form.h"

namespace cornerturn {
namespace {

using Matrix = std::vector<std::complex<double>>;

const std::array<PlaneWave, 2> kTwoSources{{{-10.0, 100.0}, {25.0, 100.0}}};

Matrix two_sources(bool coherent) {
  return source_covariance(ArrayGeometry::uniform_line(8, 0.5), 1.0, kTwoSources, 1.0, coherent);
}

/// Ascending.
std::vector<double> eigenvalues(const Matrix& matrix, std::size_t order) {
  const Eigen::MatrixXd form = real_form(matrix, order);
  EXPECT_LT((form - form.transpose()).norm(), 1e-10 * form.norm());
  const Eigen::VectorXd twice = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(form).eigenvalues();
  std::vector<double> values(order);
  for (std::size_t i = 0; i < order; ++i) values[i] = twice[static_cast<Eigen::Index>(2 * i)];
  return values;
}

Matrix unpacked(std::span<const std::complex<double>> packed, std::size_t order) {
  Matrix full(order * order);
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column <= row; ++column) {
      full[row * order + column] = packed[packed_index(row, column)];
      full[column * order + row] = std::conj(packed[packed_index(row, column)]);
    }
  return full;
}

TEST(SourceCovariance, UncorrelatedSourcesHaveTwoStrongEigenvalues) {
  const auto values = eigenvalues(two_sources(false), 8);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(values[i], 1.0, 1e-10);
  EXPECT_NEAR(values[6], 684.86691, 0.5e-5);
  EXPECT_NEAR(values[7], 917.13309, 0.5e-5);
}

TEST(SourceCovariance, CoherentSourcesHaveOne) {
  const auto values = eigenvalues(two_sources(true), 8);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(values[i], 1.0, 1e-10);
  EXPECT_NEAR(values[7], 1824.6578, 0.5e-4);
}

TEST(SourceCovariance, ForwardBackwardParts) {
  auto packed = packed_lower(two_sources(true), 8);
  make_forward_backward(packed, 8);
  const auto values = eigenvalues(unpacked(packed, 8), 8);
  EXPECT_NEAR(values[5], 1.0, 1e-10);
  EXPECT_NEAR(values[6], 26.3457, 0.5e-4);
  EXPECT_NEAR(values[7], 1799.3121, 0.5e-4);
}

TEST(SourceCovariance, SpatialSmoothingParts) {
  const auto values = eigenvalues(spatially_smoothed(two_sources(true), 8, 5), 5);
  EXPECT_NEAR(values[2], 1.0, 1e-10);
  EXPECT_NEAR(values[3], 311.7665, 0.5e-4);
  EXPECT_NEAR(values[4], 732.4064, 0.5e-4);
}

TEST(SourceCovariance, SmoothingOverWholeArrayChangesNothing) {
  const auto matrix = two_sources(true);
  const auto smoothed = spatially_smoothed(matrix, 8, 8);
  for (std::size_t i = 0; i < matrix.size(); ++i) EXPECT_LT(std::abs(matrix[i] - smoothed[i]), 1e-12);
}

}  // namespace
}  // namespace cornerturn
