#include "dsp/theory/array_figures.h"

#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/theory/source_covariance.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/units.h"
#include "tests/dsp/theory/real_form.h"

namespace cornerturn {
namespace {

TEST(ArrayFigures, BeamwidthsMeetTable) {
  const std::array<std::pair<std::size_t, double>, 5> table{
      {{4, 26.323}, {8, 12.803}, {12, 8.493}, {16, 6.359}, {86, 1.181}}};
  for (const auto& [elements, width_deg] : table)
    EXPECT_NEAR(line_array_beamwidth_deg(elements), width_deg, 0.00051) << elements;
}

TEST(ArrayFigures, FirstNullOfEightElements) { EXPECT_NEAR(line_array_first_null_deg(8), 14.478, 0.0005); }

TEST(ArrayFigures, FirstNullIsANullOfTheSteeringVectors) {
  const auto array = ArrayGeometry::uniform_line(8, 0.5);
  std::complex<double> sum;
  for (const auto& element : steering_vector(array, 1.0, line_array_first_null_deg(8))) sum += element;
  EXPECT_LT(std::abs(sum), 1e-12);
}

TEST(ArrayFigures, AngleBoundMeetsWorkedValue) {
  EXPECT_NEAR(broadside_angle_bound_deg(8, 64, 10.0), 0.078658, 0.5e-6);
}

TEST(ArrayFigures, AdaptiveLossMeetsTable) {
  EXPECT_NEAR(adaptive_loss_mean(8, 16), 0.58824, 0.5e-5);
  EXPECT_NEAR(adaptive_loss_mean(16, 32), 0.54545, 0.5e-5);
  EXPECT_NEAR(adaptive_loss_mean(32, 64), 0.52308, 0.5e-5);
  EXPECT_NEAR(adaptive_loss_mean(8, 24), 0.72, 1e-12);
  for (const std::size_t channels : {8, 16, 32})
    EXPECT_NEAR(power_to_db(adaptive_loss_mean(channels, 2 * channels - 3)), -3.0103, 1e-4) << channels;
}

// White noise, look direction s of ones: the loss is |w^H s|^2 / (N w^H w) with w = S^-1 s; its mean must be Reed,
// Mallett and Brennan's. The loss is Beta(K + 2 - N, N - 1) distributed, which gives the standard error.
double measured_adaptive_loss(std::size_t channels, std::size_t snapshots, int trials, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.0, 1.0);
  std::vector<std::complex<double>> noise(channels);
  const std::vector<std::complex<double>> steering(channels, 1.0);
  const Eigen::VectorXd s = real_form(steering);
  double sum = 0.0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::complex<double>> scatter(channels * channels);
    for (std::size_t k = 0; k < snapshots; ++k) {
      for (auto& value : noise) value = {normal(engine), normal(engine)};
      for (std::size_t row = 0; row < channels; ++row)
        for (std::size_t column = 0; column < channels; ++column)
          scatter[row * channels + column] += noise[row] * std::conj(noise[column]);
    }
    const Eigen::VectorXd weights = real_form(scatter, channels).llt().solve(s);
    // w^H s is real and positive, S being positive definite: the real forms' product is all of it.
    const double gain = weights.dot(s);
    sum += gain * gain / (weights.squaredNorm() * static_cast<double>(channels));
  }
  return sum / trials;
}

TEST(ArrayFigures, AdaptiveLossIsMeasured) {
  constexpr int kTrials = 4000;
  for (const std::size_t snapshots : {std::size_t{16}, std::size_t{24}}) {
    const double mean = adaptive_loss_mean(8, snapshots);
    const double total = static_cast<double>(snapshots + 1);  // a + b of the beta distribution
    const double sigma = std::sqrt(mean * (1.0 - mean) / (total + 1.0) / kTrials);
    EXPECT_NEAR(measured_adaptive_loss(8, snapshots, kTrials, 20), mean, 4.0 * sigma) << snapshots;
  }
}

TEST(ArrayFigures, OptimumBeamformerMeetsClosedForm) {
  struct Case {
    double azimuth_deg, inr_db, mvdr_db, conventional_db;
  };
  const auto array = ArrayGeometry::uniform_line(8, 0.5);
  const auto look = steering_vector(array, 1.0, 0.0);
  for (const Case& c :
       {Case{20.0, 30.0, 8.8082, -16.999}, Case{5.0, 30.0, 4.3077, -28.216}, Case{40.0, 40.0, 8.9399, -23.168}}) {
    const auto jammer = steering_vector(array, 1.0, c.azimuth_deg);
    const double inr = db_to_power(c.inr_db);
    std::complex<double> product;
    for (std::size_t m = 0; m < 8; ++m) product += std::conj(look[m]) * jammer[m];
    const double rho2 = std::norm(product) / 64.0;
    EXPECT_NEAR(power_to_db(mvdr_sinr(8, 1.0, inr, rho2)), c.mvdr_db, 1e-4) << c.azimuth_deg;
    EXPECT_NEAR(power_to_db(conventional_sinr(8, 1.0, inr, rho2)), c.conventional_db, 1e-3) << c.azimuth_deg;
    // The closed form against s^H R^-1 s with the matrix inverted.
    const std::array<PlaneWave, 1> interference{{{c.azimuth_deg, inr}}};
    const Eigen::MatrixXd covariance = real_form(source_covariance(array, 1.0, interference, 1.0, false), 8);
    const double direct = real_form(look).dot(covariance.llt().solve(real_form(look)));
    EXPECT_NEAR(power_to_db(direct), c.mvdr_db, 1e-4) << c.azimuth_deg;
  }
}

}  // namespace
}  // namespace cornerturn
