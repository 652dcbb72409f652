#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/stage/angle.h"
#include "dsp/theory/array_figures.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

constexpr std::size_t kGates = 41;
constexpr std::size_t kChannels = 8;
constexpr std::int32_t kGate = 20;
const ArrayGeometry kEight = ArrayGeometry::uniform_line(kChannels, 0.5);  // half a wavelength of 1 m

/// Doppler cube (gate, channel, bin) of unit noise to which sources are added; each bin is a trial of its own.
class TestCube {
 public:
  TestCube(std::size_t bins, unsigned seed) : bins_(bins), cells_(kGates * kChannels * bins), engine_(seed) {
    for (auto& cell : cells_) cell = std::complex<float>(noise());
  }
  std::complex<double> noise() { return {normal_(engine_), normal_(engine_)}; }
  /// The same source in a range of gates, each gate with its own random phase (Rayleigh amplitude when `fluctuating`).
  void add(std::size_t bin, std::size_t first_gate, std::size_t end_gate, double azimuth_deg, double snr_db,
           bool fluctuating) {
    const auto response = steering_vector(kEight, 1.0, azimuth_deg);
    for (std::size_t gate = first_gate; gate < end_gate; ++gate) {
      auto signal = noise();
      if (!fluctuating) signal /= std::abs(signal);
      signal *= std::sqrt(db_to_power(snr_db));
      for (std::size_t m = 0; m < kChannels; ++m) at(gate, m, bin) += std::complex<float>(signal * response[m]);
    }
  }
  std::complex<float>& at(std::size_t gate, std::size_t channel, std::size_t bin) {
    return cells_[(gate * kChannels + channel) * bins_ + bin];
  }
  CubeView<const std::complex<float>> view() const { return {cells_.data(), kGates, kChannels, bins_}; }
  std::size_t bins() const { return bins_; }

 private:
  std::size_t bins_;
  std::vector<std::complex<float>> cells_;
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_{0.0, std::sqrt(0.5)};
};

std::vector<Detection> estimate(const TestCube& cube, std::vector<CfarAlarm> alarms = {},
                                const ChainConfig::Angle& config = {}, std::size_t* flagged = nullptr) {
  ThreadPool pool(2);
  AngleEstimator estimator(config, kEight, 1.0, pool.thread_count());
  std::vector<Detection> detections(cube.bins());
  for (std::size_t bin = 0; bin < cube.bins(); ++bin) {
    detections[bin].gate = kGate;
    detections[bin].doppler_bin = static_cast<std::int32_t>(bin);
    detections[bin].flags = kNoAngle | kRangeEdge;
  }
  const std::size_t count = estimator.process(cube.view(), alarms, pool, detections);
  if (flagged != nullptr) *flagged = count;
  return detections;
}

TEST(AngleEstimator, BartlettReachesTheBoundOfOneSnapshot) {
  constexpr std::size_t kTrials = 1000;
  constexpr double kSnr_db = 30.0;
  TestCube cube(kTrials, 1);
  for (std::size_t bin = 0; bin < kTrials; ++bin) cube.add(bin, kGate, kGate + 1, 0.0, kSnr_db, false);
  double square = 0.0;
  for (const Detection& d : estimate(cube)) {
    square += d.azimuth_bartlett_deg * d.azimuth_bartlett_deg;
    EXPECT_EQ(d.flags, kRangeEdge);
  }
  const double bound_deg = broadside_angle_bound_deg(kChannels, 1, db_to_power(kSnr_db));
  // RMS of 1000 trials: 1 / sqrt(2000) = 2.2 % standard error; three of them, and the parabola's bias below 1 %.
  EXPECT_NEAR(std::sqrt(square / kTrials) / bound_deg, 1.0, 0.08);
}

TEST(AngleEstimator, AdaptiveEstimateStaysNearTheBoundInWhiteNoise) {
  // 16 training gates for 8 channels: Reed, Mallett & Brennan's mean loss of 2.5 dB, so the error grows by about a
  // third.
  constexpr std::size_t kTrials = 500;
  TestCube cube(kTrials, 2);
  for (std::size_t bin = 0; bin < kTrials; ++bin) cube.add(bin, kGate, kGate + 1, 0.0, 30.0, false);
  double square = 0.0;
  for (const Detection& d : estimate(cube)) square += d.azimuth_deg * d.azimuth_deg;
  const double bound_deg = broadside_angle_bound_deg(kChannels, 1, 1000.0);
  EXPECT_GT(std::sqrt(square / kTrials), bound_deg);
  EXPECT_LT(std::sqrt(square / kTrials), 2.0 * bound_deg);
}

TEST(AngleEstimator, AdaptiveEstimateCancelsInterferenceThatBartlettFollows) {
  constexpr std::size_t kTrials = 20;
  TestCube cube(kTrials, 3);
  for (std::size_t bin = 0; bin < kTrials; ++bin) {
    cube.add(bin, 0, kGates, 35.0, 40.0, true);
    cube.add(bin, kGate, kGate + 1, 5.0, 25.0, false);
  }
  ChainConfig::Angle config;
  config.loading = 1e-5;  // below the noise, which lies 40 dB under the trace
  std::size_t near_interference = 0;
  for (const Detection& d : estimate(cube, {}, config)) {
    EXPECT_NEAR(d.azimuth_deg, 5.0, 1.0);
    near_interference += std::abs(d.azimuth_bartlett_deg - 35.0) < 2.0;
  }
  EXPECT_GT(near_interference, kTrials / 2);
}

TEST(AngleEstimator, GatesWithAlarmsDoNotTrain) {
  // A second strong target in the training span, near in angle, would teach the estimator to null the first.
  TestCube cube(10, 4);
  std::vector<CfarAlarm> alarms;
  for (std::size_t bin = 0; bin < cube.bins(); ++bin) {
    cube.add(bin, kGate, kGate + 1, 5.0, 25.0, false);
    cube.add(bin, kGate + 4, kGate + 5, 6.5, 45.0, false);
  }
  for (const std::int32_t gate : {kGate, kGate + 4})
    for (std::int32_t bin = 0; bin < 10; ++bin) alarms.push_back({gate, bin, 1.0F, 1.0F});
  const auto with_alarms = estimate(cube, alarms);
  const auto without = estimate(cube);
  double error_with = 0.0;
  double error_without = 0.0;
  for (std::size_t bin = 0; bin < cube.bins(); ++bin) {
    EXPECT_NEAR(with_alarms[bin].azimuth_deg, 5.0, 0.5);
    error_with += std::abs(with_alarms[bin].azimuth_deg - 5.0);
    error_without += std::abs(without[bin].azimuth_deg - 5.0);
  }
  EXPECT_GT(error_without, 2.0 * error_with);
}

TEST(AngleEstimator, TrainingAtTheRimUsesTheGatesThatExist) {
  TestCube cube(4, 5);
  for (std::size_t bin = 0; bin < 4; ++bin) cube.add(bin, 0, 1, -20.0, 30.0, false);
  ThreadPool pool(1);
  AngleEstimator estimator({}, kEight, 1.0, 1);
  std::vector<Detection> detections(4);
  for (std::int32_t bin = 0; bin < 4; ++bin) detections[static_cast<std::size_t>(bin)].doppler_bin = bin;
  estimator.process(cube.view(), {}, pool, detections);
  for (const Detection& d : detections) {
    EXPECT_NEAR(d.azimuth_deg, -20.0, 0.7);
    EXPECT_EQ(d.flags, 0);
  }
}

TEST(AngleEstimator, WithoutTrainingGatesIsConventionalAndDoubtful) {
  TestCube cube(3, 6);
  for (std::size_t bin = 0; bin < 3; ++bin) cube.add(bin, kGate, kGate + 1, 12.0, 30.0, false);
  ChainConfig::Angle config;
  config.train_gates = 0;
  for (const Detection& d : estimate(cube, {}, config)) {
    EXPECT_NEAR(d.azimuth_deg, d.azimuth_bartlett_deg, 1e-9);
    EXPECT_NE(d.flags & kAngleDoubtful, 0);
  }
}

TEST(AngleEstimator, SteeringSignMirrorsTheAngle) {
  TestCube cube(1, 7);
  cube.add(0, kGate, kGate + 1, 12.0, 30.0, false);
  ArrayGeometry mirrored = kEight;
  mirrored.steering_sign = -1.0;
  ThreadPool pool(1);
  AngleEstimator estimator({}, mirrored, 1.0, 1);
  std::vector<Detection> detections(1);
  detections[0].gate = kGate;
  estimator.process(cube.view(), {}, pool, detections);
  EXPECT_NEAR(detections[0].azimuth_bartlett_deg, -12.0, 0.5);
}

// BL-08 with the angle per detection: each bin is a cell whose 16 training gates and own gate carry the same source.
TEST(Bl08, SpoiledDetectionsAreFlaggedAndTheOthersUnchanged) {
  constexpr std::size_t kCells = 103;
  const auto make_cube = [&](bool spoil) {
    TestCube cube(kCells, 8);
    for (std::size_t bin = 0; bin < kCells; ++bin) cube.add(bin, kGate, kGate + 1, 10.0, 30.0, false);
    if (!spoil) return cube;
    for (std::size_t gate = 0; gate < kGates; ++gate)
      for (std::size_t m = 0; m < kChannels; ++m) {
        cube.at(gate, m, 20) = 0.0F;
        cube.at(gate, m, 50) = cube.at(kGate, m, 50);
        if (m == 3) cube.at(gate, m, 80) = 0.0F;
      }
    return cube;
  };
  std::size_t clean_flagged = 99;
  std::size_t spoiled_flagged = 0;
  const auto clean = estimate(make_cube(false), {}, {}, &clean_flagged);
  const auto spoiled = estimate(make_cube(true), {}, {}, &spoiled_flagged);
  EXPECT_EQ(clean_flagged, 0U);
  EXPECT_EQ(spoiled_flagged, 2U);  // 20 without data, 80 with a dead channel; 50 is loaded and right
  for (std::size_t bin = 0; bin < kCells; ++bin) {
    if (bin == 20) {
      EXPECT_TRUE(std::isnan(spoiled[bin].azimuth_deg));
      EXPECT_NE(spoiled[bin].flags & kNoAngle, 0);
      continue;
    }
    EXPECT_NEAR(spoiled[bin].azimuth_deg, 10.0, 0.5) << "cell " << bin;
    EXPECT_NEAR(spoiled[bin].azimuth_bartlett_deg, 10.0, 0.5) << "cell " << bin;
    if (bin == 50 || bin == 80) continue;
    EXPECT_EQ(spoiled[bin].azimuth_deg, clean[bin].azimuth_deg);
    EXPECT_EQ(spoiled[bin].flags, kRangeEdge);
  }
  EXPECT_NE(spoiled[80].flags & kAngleDoubtful, 0);
}

}  // namespace
}  // namespace cornerturn
