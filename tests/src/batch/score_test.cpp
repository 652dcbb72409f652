#include "src/batch/score.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dsp/stage/detection.h"

namespace cornerturn {
namespace {

/// 100 gates of 1 m from 0 m, 32 bins of 0.5 m/s from -8 m/s, CPIs of 10 ms whose middle is 4.5 ms after the start.
ChainPlan square_plan() {
  ChainPlan plan;
  plan.radar.waveform.pri_s = 1e-3;
  plan.shape = {1, 10, 100};
  plan.gate_count = 100;
  plan.gate_axis = Axis::uniform("range", "m", 0.0, 1.0, 100);
  plan.doppler_axis = Axis::uniform("range_rate", "m s-1", -8.0, 0.5, 32);
  plan.config.cfar.pfa = 1e-3;
  plan.range_window.assign(100, 0.01F);
  plan.doppler_window.assign(10, 0.1F);
  return plan;
}

Detection detection_at(double range_m, double bin, double azimuth_deg = 0.0) {
  Detection detection;
  detection.range_m = range_m;
  detection.gate_position = range_m;
  detection.gate = static_cast<std::int32_t>(std::lround(range_m));
  detection.doppler_position = bin;
  detection.doppler_bin = static_cast<std::int32_t>(std::lround(bin));
  detection.range_rate_mps = -8.0 + 0.5 * bin;
  detection.azimuth_deg = azimuth_deg;
  detection.snr_db = 20.0;
  detection.cell_count = 3;
  return detection;
}

/// A result with nothing but detections.
class DetectionResult {
 public:
  DetectionResult(double start_time_s, const std::vector<Detection>& detections) : bytes_(detection_column_bytes(64)) {
    result_.header.start_time_s = start_time_s;
    result_.products = make_detection_columns(bytes_, 64);
    write_detection_columns(result_.products, detections);
  }
  const CpiResult& operator*() const { return result_; }

 private:
  std::vector<std::byte> bytes_;
  CpiResult result_;
};

SceneTarget target_at(double range_m, double range_rate_mps) {
  return {range_m, range_rate_mps, 5.0, 0.0, Fluctuation::swerling0};
}

TEST(Score, BiasAndRmseAreThoseWorkedByHand) {
  const ChainPlan plan = square_plan();
  Score score({target_at(40.0, 2.0)});
  // Truth at the middles: 40.009 m and 41.009 m; bin 20.
  score.accumulate(*DetectionResult(0.0, {detection_at(40.109, 20.2, 6.0)}), plan);
  score.accumulate(*DetectionResult(0.5, {detection_at(41.309, 19.8, 8.0)}), plan);
  const ScoreReport report = score.report();
  ASSERT_EQ(report.targets.size(), 1U);
  const TargetScore& target = report.targets[0];
  EXPECT_EQ(target.in_view_count, 2U);
  EXPECT_EQ(target.detected_count, 2U);
  EXPECT_NEAR(target.range_m.bias, 0.2, 1e-9);  // (0.1 + 0.3) / 2
  EXPECT_NEAR(target.range_m.rmse, std::sqrt(0.05), 1e-9);
  EXPECT_NEAR(target.range_cells.worst, 0.3, 1e-9);
  EXPECT_NEAR(target.doppler_cells.bias, 0.0, 1e-9);
  EXPECT_NEAR(target.range_rate_mps.rmse, 0.1, 1e-9);
  EXPECT_NEAR(target.azimuth_deg.bias, 2.0, 1e-9);  // (1 + 3) / 2
  EXPECT_NEAR(target.azimuth_deg.rmse, std::sqrt(5.0), 1e-9);
  EXPECT_NEAR(target.measured_snr_db, 20.0, 1e-9);
  EXPECT_NEAR(target.expected_snr_db, 10.0 * std::log10(1001.0), 1e-5);  // 100 samples times 10 pulses at 0 dB
  EXPECT_EQ(report.false_alarm_count, 0U);
  EXPECT_EQ(report.cpi_count, 2U);
}

TEST(Score, NearestPairWinsAndEachIsTakenOnce) {
  const ChainPlan plan = square_plan();
  Score score({target_at(40.0, 0.0), target_at(41.0, 0.0)});
  // 40.6 lies in both gates; 40.0 is nearer to the first target, so 40.6 goes to the second.
  score.accumulate(*DetectionResult(0.0, {detection_at(40.6, 16.0), detection_at(40.0, 16.0)}), plan);
  const ScoreReport report = score.report();
  EXPECT_NEAR(report.targets[0].range_m.bias, 0.0, 1e-9);
  EXPECT_NEAR(report.targets[1].range_m.bias, -0.4, 1e-9);
  EXPECT_EQ(report.extra_count, 0U);
}

TEST(Score, TellsMissesExtrasSidelobesAndFalseAlarmsApart) {
  const ChainPlan plan = square_plan();
  Score score({target_at(40.0, 0.0), target_at(70.0, 4.0)});
  score.accumulate(
      *DetectionResult(0.0,
                       {
                           detection_at(40.0, 16.0),  // the first target
                           detection_at(42.5, 16.0),  // beyond 1.5 cells: a second peak of it
                           detection_at(42.0, 5.0),   // its Doppler sidelobes
                           detection_at(10.0, 25.0),  // range sidelobe of the second target, which is missed
                           detection_at(10.0, 5.0),   // nobody's
                       }),
      plan);
  const ScoreReport report = score.report();
  EXPECT_EQ(report.targets[0].detected_count, 1U);
  EXPECT_EQ(report.targets[1].detected_count, 0U);
  EXPECT_EQ(report.targets[1].miss_count(), 1U);
  EXPECT_TRUE(std::isnan(report.targets[1].range_m.bias));
  EXPECT_EQ(report.extra_count, 1U);
  EXPECT_EQ(report.sidelobe_count, 2U);
  EXPECT_EQ(report.false_alarm_count, 1U);
  EXPECT_EQ(report.false_alarm_cells, 3U);
  // Left out: gates 37 to 43 and, around 70.018 m, 68 to 73; bins 13 to 19 and 21 to 27.
  EXPECT_EQ(report.tested_cells, (100U - 13U) * (32U - 14U));
  EXPECT_NEAR(report.pfa, 3.0 / 1566.0, 1e-12);
  EXPECT_EQ(report.design_pfa, 1e-3);
}

TEST(Score, DopplerWrapsAtTheEndsAndFolds) {
  const ChainPlan plan = square_plan();
  // 9 m/s folds by the span of 16 m/s to -7 m/s, bin 2; -7.9 m/s is bin 0.2, found on the other side.
  Score score({target_at(30.0, 9.0), target_at(60.0, -7.9)});
  score.accumulate(*DetectionResult(0.0, {detection_at(30.0, 2.0), detection_at(60.0, 31.6)}), plan);
  const ScoreReport report = score.report();
  EXPECT_TRUE(report.targets[0].folded);
  EXPECT_FALSE(report.targets[1].folded);
  EXPECT_NEAR(report.targets[0].doppler_cells.bias, 0.0, 1e-9);
  EXPECT_NEAR(report.targets[1].doppler_cells.bias, -0.6, 1e-9);
  EXPECT_NEAR(report.targets[1].range_rate_mps.bias, -0.3, 1e-9);
}

TEST(Score, TargetsOutOfViewAreNotMissed) {
  const ChainPlan plan = square_plan();
  Score score({target_at(98.0, 4.0)});
  score.accumulate(*DetectionResult(0.0, {}), plan);
  score.accumulate(*DetectionResult(1.0, {}), plan);  // 102 m, the axis ends at 99.5 m
  EXPECT_EQ(score.report().targets[0].in_view_count, 1U);
  EXPECT_EQ(score.report().targets[0].miss_count(), 1U);
}

TEST(Score, DetectionsWithoutAngleCountWithoutIt) {
  const ChainPlan plan = square_plan();
  Detection detection = detection_at(40.0, 16.0, std::numeric_limits<double>::quiet_NaN());
  detection.flags = kNoAngle;
  Score score({target_at(40.0, 0.0)});
  score.accumulate(*DetectionResult(0.0, {detection}), plan);
  EXPECT_EQ(score.report().targets[0].detected_count, 1U);
  EXPECT_EQ(score.report().targets[0].azimuth_deg.count, 0U);
}

TEST(Score, WilsonIntervalHasItsClosedForm) {
  // 10 of 100, z = 1.959964: published as 0.0552 to 0.1744.
  const RateInterval tenth = wilson_interval(10, 100);
  EXPECT_NEAR(tenth.low, 0.0552, 5e-5);
  EXPECT_NEAR(tenth.high, 0.1744, 5e-5);
  // No event: 0 to z^2 / (n + z^2).
  const RateInterval none = wilson_interval(0, 1000);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_NEAR(none.high, 3.841459 / 1003.841459, 1e-8);
  EXPECT_EQ(wilson_interval(5, 5).high, 1.0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1.0);
}

TEST(Score, ExpectedSnrFollowsTheWeights) {
  ChainPlan plan = square_plan();
  EXPECT_NEAR(expected_map_snr_db(10.0, plan), 10.0 * std::log10(10001.0), 1e-4);
  // Real sampling: weights sum to 2, so that a cosine of amplitude A reads A; half of the gain is lost.
  plan.layout.complex_samples = false;
  plan.range_window.assign(100, 0.02F);
  EXPECT_NEAR(expected_map_snr_db(10.0, plan), 10.0 * std::log10(5001.0), 1e-4);
  plan.layout.complex_samples = true;
  plan.range_window.clear();
  plan.matched_replica.assign(50, {0.0F, 0.02F});
  EXPECT_NEAR(expected_map_snr_db(10.0, plan), 10.0 * std::log10(5001.0), 1e-4);
}

TEST(ScoreSink, ScoresARunAndReportsIt) {
  ScoreSink sink({target_at(40.0, 0.0), target_at(70.0, 4.0)});
  RunDescription run;
  run.plan = std::make_shared<const ChainPlan>(square_plan());
  ASSERT_TRUE(sink.begin(run));
  ASSERT_TRUE(sink.accept(*DetectionResult(0.0, {detection_at(40.25, 16.0, 5.5), detection_at(10.0, 5.0)})));
  ASSERT_TRUE(sink.finish(true));
  const std::string text = format_score(sink.report());
  EXPECT_NE(text.find("1/1"), std::string::npos) << text;
  EXPECT_NE(text.find("0/1"), std::string::npos) << text;
  EXPECT_NE(text.find("missed 1; false alarms 1;"), std::string::npos) << text;

  const nlohmann::json json = score_json(sink.report());
  EXPECT_EQ(json["targets"][0]["detected"], 1);
  EXPECT_NEAR(json["targets"][0]["range_m"]["bias"].get<double>(), 0.25, 1e-9);
  EXPECT_NEAR(json["targets"][0]["azimuth_deg"]["bias"].get<double>(), 0.5, 1e-9);
  EXPECT_TRUE(json["targets"][1]["range_m"]["bias"].is_null());
  EXPECT_TRUE(json["targets"][1]["measured_snr_db"].is_null());
  EXPECT_EQ(json["false_alarms"], 1);
  EXPECT_FALSE(json.dump().empty());
}

}  // namespace
}  // namespace cornerturn
