#include "dsp/stage/grouping.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

constexpr std::size_t kGates = 40;
constexpr std::size_t kBins = 16;

/// A map of floor 1 with peaks that are parabolas in dB, and the alarms above 10.
struct TestMap {
  std::vector<float> cells = std::vector<float>(kGates * kBins, 1.0F);
  std::vector<CfarAlarm> alarms;

  /// Peak of `level_db` at fractional indices; `curvature_db` lost one bin away. Wraps along Doppler.
  void add_peak(double gate, double bin, double level_db, double curvature_db) {
    for (std::size_t g = 0; g < kGates; ++g)
      for (std::size_t b = 0; b < kBins; ++b) {
        const double dg = static_cast<double>(g) - gate;
        const double db = std::remainder(static_cast<double>(b) - bin, static_cast<double>(kBins));
        const auto power = static_cast<float>(db_to_power(level_db - curvature_db * (dg * dg + db * db)));
        float& cell = cells[g * kBins + b];
        cell = std::max(cell, power);
      }
  }
  MatrixView<const float> view() const { return {cells.data(), kGates, kBins}; }
  void raise_alarms(float threshold = 10.0F) {
    alarms.clear();
    for (std::size_t g = 0; g < kGates; ++g)
      for (std::size_t b = 0; b < kBins; ++b)
        if (cells[g * kBins + b] > threshold)
          alarms.push_back({static_cast<std::int32_t>(g), static_cast<std::int32_t>(b), cells[g * kBins + b], 1.0F});
  }
};

GroupingGeometry make_geometry(bool wraps = true) {
  GroupingGeometry geometry;
  geometry.gate_axis = Axis::uniform("range", "m", 10.0, 2.0, kGates);
  geometry.doppler_axis = Axis::uniform("range_rate", "m s-1", -8.0, 1.0, kBins);
  geometry.doppler_wraps = wraps;
  geometry.zero_doppler_bin = 8.0;
  return geometry;
}

std::vector<Detection> group(const TestMap& map, const GroupingGeometry& geometry = make_geometry(),
                             const ChainConfig::Grouping& config = {}) {
  DetectionGrouper grouper(config, geometry, kGates * kBins);
  std::vector<Detection> detections(kGates * kBins);
  detections.resize(grouper.process(map.view(), map.alarms, detections));
  return detections;
}

TEST(Grouping, ParabolaInDecibelsIsFoundExactly) {
  TestMap map;
  map.add_peak(12.3, 5.8, 40.0, 6.0);
  map.raise_alarms();
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 1U);
  const Detection& d = detections.front();
  EXPECT_EQ(d.gate, 12);
  EXPECT_EQ(d.doppler_bin, 6);
  // Cells are rounded to single precision: some 1e-6 dB over curvatures of 6 dB.
  EXPECT_NEAR(d.gate_position, 12.3, 1e-5);
  EXPECT_NEAR(d.doppler_position, 5.8, 1e-5);
  EXPECT_NEAR(d.power_db, 40.0, 1e-5);
  EXPECT_NEAR(d.snr_db, 40.0, 1e-5);
  EXPECT_NEAR(d.range_m, 10.0 + 2.0 * 12.3, 2e-5);
  EXPECT_NEAR(d.range_rate_mps, -8.0 + 5.8, 1e-5);
  EXPECT_EQ(d.cell_count, static_cast<std::int32_t>(map.alarms.size()));
  EXPECT_EQ(d.flags, kNoAngle);
  EXPECT_TRUE(std::isnan(d.azimuth_deg));
}

TEST(Grouping, PeaksInFirstAndLastGateStayAndAreFlagged) {
  TestMap map;
  map.add_peak(0.0, 4.25, 30.0, 6.0);
  map.add_peak(39.0, 9.0, 30.0, 6.0);
  map.raise_alarms();
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 2U);
  EXPECT_DOUBLE_EQ(detections[0].gate_position, 0.0);
  EXPECT_NEAR(detections[0].doppler_position, 4.25, 1e-5);
  EXPECT_DOUBLE_EQ(detections[1].gate_position, 39.0);
  for (const Detection& d : detections) EXPECT_NE(d.flags & kRangeEdge, 0);
}

TEST(Grouping, PeakAcrossDopplerEndsIsOneGroup) {
  TestMap map;
  map.add_peak(20.0, 15.6, 40.0, 6.0);
  map.raise_alarms();
  const auto wrapped = group(map);
  ASSERT_EQ(wrapped.size(), 1U);
  EXPECT_EQ(wrapped[0].doppler_bin, 0);
  EXPECT_NEAR(wrapped[0].doppler_position, -0.4, 1e-5);
  EXPECT_EQ(wrapped[0].flags & kDopplerEdge, 0);
  EXPECT_EQ(wrapped[0].cell_count, static_cast<std::int32_t>(map.alarms.size()));

  const auto open = group(map, make_geometry(false));
  ASSERT_EQ(open.size(), 2U);
  for (const Detection& d : open) {
    EXPECT_NE(d.flags & kDopplerEdge, 0);
    EXPECT_DOUBLE_EQ(d.doppler_position, d.doppler_bin);
  }
}

TEST(Grouping, EachLocalMaximumOfAGroupIsADetection) {
  TestMap map;
  map.add_peak(10.0, 5.0, 30.0, 2.0);
  map.add_peak(14.0, 5.0, 33.0, 2.0);
  map.raise_alarms();
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 2U);
  EXPECT_EQ(detections[0].gate, 10);
  EXPECT_EQ(detections[1].gate, 14);
  // One group: both know its size.
  EXPECT_EQ(detections[0].cell_count, static_cast<std::int32_t>(map.alarms.size()));
  EXPECT_EQ(detections[1].cell_count, detections[0].cell_count);
}

TEST(Grouping, DiagonalNeighboursTouch) {
  TestMap map;
  map.cells[10 * kBins + 5] = 100.0F;
  map.cells[11 * kBins + 6] = 50.0F;
  map.raise_alarms();
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_EQ(detections[0].cell_count, 2);
}

TEST(Grouping, PlateauGivesOneDetection) {
  TestMap map;
  for (const std::size_t gate : {10, 11})
    for (const std::size_t bin : {5, 6}) map.cells[gate * kBins + bin] = 100.0F;
  map.raise_alarms();
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_EQ(detections[0].gate, 10);
  EXPECT_EQ(detections[0].doppler_bin, 5);
  EXPECT_NEAR(detections[0].gate_position, 10.5, 1e-6);
}

TEST(Grouping, AlarmBelowAHigherCellIsKeptAtItsBin) {
  // The higher neighbour raised no alarm (its own threshold is higher): the alarm must not vanish.
  TestMap map;
  map.cells[10 * kBins + 5] = 100.0F;
  map.cells[11 * kBins + 5] = 200.0F;
  map.alarms = {{10, 5, 100.0F, 1.0F}};
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_DOUBLE_EQ(detections[0].gate_position, 10.0);
  EXPECT_NEAR(detections[0].power_db, 20.0, 1e-5);
}

TEST(Grouping, TooManyDetectionsKeepTheStrongestInOrder) {
  TestMap map;
  for (int i = 0; i < 6; ++i) map.add_peak(3.0 + 6.0 * i, 8.0, 20.0 + 3.0 * (i % 3) + 0.1 * i, 8.0);
  map.raise_alarms();
  ChainConfig::Grouping config;
  config.max_detections = 2;
  DetectionGrouper grouper(config, make_geometry(), kGates * kBins);
  std::vector<Detection> detections(10);
  ASSERT_EQ(grouper.process(map.view(), map.alarms, detections), 2U);
  EXPECT_EQ(grouper.dropped(), 4U);
  EXPECT_EQ(detections[0].gate, 15);
  EXPECT_EQ(detections[1].gate, 33);
}

TEST(Grouping, DisabledListsEachAlarm) {
  TestMap map;
  map.add_peak(12.3, 5.8, 40.0, 6.0);
  map.raise_alarms();
  ChainConfig::Grouping config;
  config.enabled = false;
  const auto detections = group(map, make_geometry(), config);
  ASSERT_EQ(detections.size(), map.alarms.size());
  for (const Detection& d : detections) {
    EXPECT_EQ(d.cell_count, 1);
    EXPECT_DOUBLE_EQ(d.gate_position, d.gate);
  }
}

TEST(Grouping, InterpolationCanBeOff) {
  TestMap map;
  map.add_peak(12.3, 5.8, 40.0, 6.0);
  map.raise_alarms();
  ChainConfig::Grouping config;
  config.interpolate = false;
  const auto detections = group(map, make_geometry(), config);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_DOUBLE_EQ(detections[0].gate_position, 12.0);
  EXPECT_DOUBLE_EQ(detections[0].doppler_position, 6.0);
}

TEST(Grouping, RangeDopplerCouplingIsTakenOut) {
  // 30 MHz in 2 ms, beat 1 kHz, Doppler 100 Hz of an opening target: c (fb - fd) / (2 S) = 8.9938 m.
  const double slope_hz_per_s = 30e6 / 2e-3;
  const double metre_per_hz = kSpeedOfLight_mps / (2.0 * slope_hz_per_s);
  GroupingGeometry geometry = make_geometry();
  geometry.gate_axis = Axis::uniform("range", "m", 0.0, 50.0 * metre_per_hz, kGates);  // 50 Hz a gate
  geometry.range_coupling_m_per_bin = 25.0 * metre_per_hz;                             // 25 Hz a bin
  TestMap map;
  map.add_peak(20.0, 8.0 + 4.0, 40.0, 6.0);
  map.raise_alarms();
  const auto detections = group(map, geometry);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_NEAR(detections[0].range_m, 8.9938, 0.5e-4);
}

TEST(Grouping, NoiseFreeMapGivesFiniteLevels) {
  TestMap map;
  std::fill(map.cells.begin(), map.cells.end(), 0.0F);
  map.cells[10 * kBins + 5] = 100.0F;
  map.alarms = {{10, 5, 100.0F, 0.0F}};
  const auto detections = group(map);
  ASSERT_EQ(detections.size(), 1U);
  EXPECT_TRUE(std::isfinite(detections[0].snr_db));
  EXPECT_DOUBLE_EQ(detections[0].gate_position, 10.0);
}

}  // namespace
}  // namespace cornerturn
