#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "dsp/stage/cfar.h"
#include "dsp/stage/grouping.h"
#include "tests/dsp/stage/exponential_map.h"

namespace cornerturn {
namespace {

constexpr double kPfa = 1e-3;

/// Alarms per range gate over `maps` maps.
std::vector<double> alarms_per_gate(const ChainConfig::Cfar& config, const CfarShape& shape, int maps,
                                    std::uint64_t seed) {
  ThreadPool pool(1);
  CfarDetector detector(config, shape, 1);
  ExponentialMap map(shape.gate_count, shape.doppler_bin_count, seed);
  AlarmList list(shape.gate_count * shape.doppler_bin_count);
  std::vector<double> counts(shape.gate_count);
  for (int i = 0; i < maps; ++i) {
    map.draw(shape.looks);
    detector.process(map.view(), pool, list);
    for (const CfarAlarm& alarm : list.alarms()) {
      ++counts[static_cast<std::size_t>(alarm.gate)];
      EXPECT_TRUE(std::isfinite(alarm.noise_mean));
    }
  }
  return counts;
}

/// Alarms in gates [begin, end) against the design rate, within `sigmas` of the counting error. Neighbouring decisions
/// share training cells, which raises the variance by some per cent only at these window sizes.
void expect_design_rate(const std::vector<double>& counts, std::size_t begin, std::size_t end, double cells_per_gate,
                        double sigmas) {
  const double found = std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                                       counts.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  const double expected = kPfa * cells_per_gate * static_cast<double>(end - begin);
  EXPECT_NEAR(found, expected, sigmas * std::sqrt(expected * (1.0 - kPfa))) << "gates " << begin << " to " << end;
}

ChainConfig::Cfar bug_log_config() {
  ChainConfig::Cfar config;
  config.axes = CfarAxes::range;
  config.pfa = kPfa;
  config.train_range = 12;
  config.guard_range = 2;
  return config;
}

// BL-06: CFAR at the edges of the map.
TEST(Bl06, FalseAlarmRateIsTheSameInEachRangeRow) {
  constexpr int kMaps = 50;  // 100 alarms expected per row
  const CfarDetector detector(bug_log_config(), {256, 2000, 1}, 1);
  EXPECT_NEAR(detector.factor(128, 0), 8.005, 0.0005);
  EXPECT_NEAR(detector.factor(0, 0), 9.339, 0.0005);
  const auto counts = alarms_per_gate(bug_log_config(), {256, 2000, 1}, kMaps, 60);
  // 256 rows: 4.5 sigma is passed by chance once in 600 seeds; a reused full-window factor would be 12 sigma off.
  for (std::size_t gate = 0; gate < 256; ++gate) expect_design_rate(counts, gate, gate + 1, 2000.0 * kMaps, 4.5);
  expect_design_rate(counts, 0, 14, 2000.0 * kMaps, 3.0);
  expect_design_rate(counts, 242, 256, 2000.0 * kMaps, 3.0);
  expect_design_rate(counts, 14, 242, 2000.0 * kMaps, 3.0);
}

TEST(Bl06, TargetsAtTheRimAreFoundAtTheirBins) {
  const CfarShape shape{256, 2000, 1};
  ExponentialMap map(256, 2000, 61);
  map.draw();
  const std::vector<int> gates{0, 1, 128, 254, 255};
  for (std::size_t i = 0; i < gates.size(); ++i) map.at(static_cast<std::size_t>(gates[i]), 300 * (i + 1)) = 100.0F;
  ThreadPool pool(1);
  CfarDetector detector(bug_log_config(), shape, 1);
  AlarmList list(4096);
  detector.process(map.view(), pool, list);
  GroupingGeometry geometry;
  geometry.gate_axis = Axis::uniform("range", "m", 0.0, 1.0, 256);
  geometry.doppler_axis = Axis::uniform("range_rate", "m s-1", 0.0, 1.0, 2000);
  DetectionGrouper grouper({}, geometry, list.capacity());
  std::vector<Detection> detections(4096);
  detections.resize(grouper.process(map.view(), list.alarms(), detections));
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const auto found = std::ranges::find_if(detections, [&](const Detection& detection) {
      return detection.gate == gates[i] && detection.doppler_bin == static_cast<int>(300 * (i + 1));
    });
    ASSERT_NE(found, detections.end()) << "gate " << gates[i];
    EXPECT_NEAR(found->range_m, gates[i], 0.5);
    EXPECT_EQ((found->flags & kRangeEdge) != 0, gates[i] == 0 || gates[i] == 255);
    EXPECT_TRUE(std::isfinite(found->snr_db));
  }
}

TEST(Bl06, MapOfSixteenGatesWorksWithWhatIsLeft) {
  constexpr int kMaps = 400;
  const auto counts = alarms_per_gate(bug_log_config(), {16, 2000, 1}, kMaps, 62);
  for (std::size_t gate = 0; gate < 16; ++gate) expect_design_rate(counts, gate, gate + 1, 2000.0 * kMaps, 4.0);
  expect_design_rate(counts, 0, 16, 2000.0 * kMaps, 3.0);
}

TEST(CfarFalseAlarm, TwoDimensionalWindowKeepsTheRateInEachZone) {
  constexpr int kMaps = 100;
  ChainConfig::Cfar config;
  config.pfa = kPfa;
  const auto counts = alarms_per_gate(config, {128, 256, 1}, kMaps, 63);
  expect_design_rate(counts, 0, 10, 256.0 * kMaps, 3.0);
  expect_design_rate(counts, 118, 128, 256.0 * kMaps, 3.0);
  expect_design_rate(counts, 10, 118, 256.0 * kMaps, 3.0);
}

TEST(CfarFalseAlarm, DopplerEdgesThatDoNotWrapKeepTheRate) {
  constexpr int kMaps = 200;
  ChainConfig::Cfar config;
  config.pfa = kPfa;
  config.doppler_wraps = false;
  ThreadPool pool(1);
  CfarDetector detector(config, {128, 64, 1}, 1);
  ExponentialMap map(128, 64, 64);
  AlarmList list(8192);
  double rim = 0.0;
  double corners = 0.0;
  for (int i = 0; i < kMaps; ++i) {
    map.draw();
    detector.process(map.view(), pool, list);
    for (const CfarAlarm& alarm : list.alarms()) {
      const bool doppler_rim = alarm.doppler_bin < 6 || alarm.doppler_bin >= 58;
      rim += doppler_rim;
      corners += doppler_rim && (alarm.gate < 10 || alarm.gate >= 118);
    }
  }
  const double rim_expected = kPfa * 12 * 128 * kMaps;
  const double corners_expected = kPfa * 12 * 20 * kMaps;
  EXPECT_NEAR(rim, rim_expected, 3.0 * std::sqrt(rim_expected));
  EXPECT_NEAR(corners, corners_expected, 3.0 * std::sqrt(corners_expected));
}

TEST(CfarFalseAlarm, IntegrationOfFourLooksKeepsTheRate) {
  constexpr int kMaps = 40;
  ChainConfig::Cfar config = bug_log_config();
  const auto one_dimension = alarms_per_gate(config, {128, 500, 4}, kMaps, 65);
  expect_design_rate(one_dimension, 0, 14, 500.0 * kMaps, 3.0);
  expect_design_rate(one_dimension, 114, 128, 500.0 * kMaps, 3.0);
  expect_design_rate(one_dimension, 14, 114, 500.0 * kMaps, 3.0);
  config.axes = CfarAxes::range_doppler;
  const auto two_dimensions = alarms_per_gate(config, {128, 500, 4}, kMaps, 66);
  expect_design_rate(two_dimensions, 0, 14, 500.0 * kMaps, 3.0);
  expect_design_rate(two_dimensions, 114, 128, 500.0 * kMaps, 3.0);
  expect_design_rate(two_dimensions, 14, 114, 500.0 * kMaps, 3.0);
}

}  // namespace
}  // namespace cornerturn
