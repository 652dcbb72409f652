// The scenes that are shipped, through source, CPU chain and score: what a first user sees.
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/chain/backend.h"
#include "dsp/chain/write_lease.h"
#include "src/batch/score.h"
#include "src/capture/simulator_source.h"

namespace cornerturn {
namespace {

/// Slot owner of a run with one CPI at a time.
class OneSlotOwner final : public WriteSlotOwner {
 public:
  void publish(RawSlot&) noexcept override {}
  void finish_write(RawSlot&, bool) noexcept override {}
  void recycle(RawSlot&) noexcept override {}
};

ScoreReport score_of(const std::string& uri, Canceller canceller) {
  auto source = open_simulator(uri);
  EXPECT_TRUE(source) << source.error().message();
  const CaptureInfo& info = (*source)->info();
  ChainConfig config = info.suggested_chain;
  config.canceller = canceller;
  auto plan = make_chain_plan(info.radar, info.layout, info.shape, config);
  EXPECT_TRUE(plan) << plan.error().message();
  auto backend = make_cpu_backend(*plan, {.threads = 2, .result_slots = 2});
  EXPECT_TRUE(backend) << backend.error().message();

  std::vector<std::int16_t> memory(info.slot_bytes / sizeof(std::int16_t));
  RawSlot slot;
  OneSlotOwner owner;
  slot.memory.host = std::as_writable_bytes(std::span(memory));
  slot.cpi.segments.resize(1);
  slot.owner = &owner;
  CpiRequest request;
  request.light = light_parameters(config);
  Score score(*info.truth);
  for (;;) {
    slot.write_state = 0;
    WriteLease lease(slot, owner);
    const auto filled = (*source)->fill(lease);
    EXPECT_TRUE(filled);
    if (!filled || *filled == CaptureSource::Fill::end) break;
    lease.commit();
    slot.holders = 1;
    const auto result = (*backend)->wait((*backend)->enqueue(ReadLease::adopt(slot), request));
    EXPECT_TRUE(result) << result.error().message();
    score.accumulate((*result)->result, (*backend)->plan());
  }
  return score.report();
}

void expect_all_found(const ScoreReport& report, double worst_azimuth_deg) {
  for (const TargetScore& target : report.targets) {
    SCOPED_TRACE("target at " + std::to_string(target.truth.range_m) + " m");
    EXPECT_EQ(target.in_view_count, report.cpi_count);
    EXPECT_EQ(target.miss_count(), 0U);
    EXPECT_LT(target.range_cells.worst, 0.5);
    EXPECT_LT(target.doppler_cells.worst, 0.5);
    EXPECT_EQ(target.azimuth_deg.count, report.cpi_count);
    EXPECT_LT(target.azimuth_deg.worst, worst_azimuth_deg);
  }
}

std::string scene_uri(const std::string& name) {
  return "sim://" + std::string(CORNERTURN_SOURCE_DIR) + "/datasets/scenes/" + name + ".toml?fast";
}

TEST(ScoreScenes, DemoFindsEachTargetInEachCpiAndNothingElse) {
  const ScoreReport report = score_of("sim://?fast", Canceller::none);
  EXPECT_EQ(report.cpi_count, 16U);
  EXPECT_EQ(report.targets.size(), 5U);
  expect_all_found(report, 1.0);
  EXPECT_EQ(report.false_alarm_count, 0U);
  EXPECT_EQ(report.sidelobe_count, 0U);
  EXPECT_EQ(report.extra_count, 0U);
  // The weakest target has no neighbours and low sidelobes: its SNR is that of the plan's gains. Sixteen CPIs of
  // 20 dB in 8 channels scatter by 0.2 dB; a parabola through a Hann main lobe is off by 0.2 dB at the most.
  const TargetScore& pedestrian = report.targets.back();
  EXPECT_NEAR(pedestrian.measured_snr_db, pedestrian.expected_snr_db, 1.0);
}

TEST(ScoreScenes, ReferenceSignalIsOnItsBins) {
  expect_all_found(score_of(scene_uri("reference-r1"), Canceller::none), 0.3);
}

TEST(ScoreScenes, CancellerTakesTheClutterAndLeavesTheTargets) {
  const ScoreReport with = score_of(scene_uri("surveillance-lfm"), Canceller::three_pulse);
  const ScoreReport without = score_of(scene_uri("surveillance-lfm"), Canceller::none);
  expect_all_found(with, 2.0);
  EXPECT_LE(with.false_alarm_count, 4U);
  EXPECT_GE(without.false_alarm_count, 200U);
}

TEST(ScoreScenes, NoiseAloneMeasuresTheDesignPfa) {
  const ScoreReport report = score_of(scene_uri("noise-only"), Canceller::none);
  EXPECT_EQ(report.tested_cells, 32U * 128U * 256U);
  // Pfa 1e-6 over a million cells: one alarm expected, seven or more have a probability of 1e-4.
  EXPECT_LT(report.false_alarm_count, 7U);
  EXPECT_LT(report.pfa_low, 1e-6);
  EXPECT_GT(report.pfa_high, 1e-6);
}

}  // namespace
}  // namespace cornerturn
