#include <cmath>

#include <gtest/gtest.h>

#include "src/capture/inspect_capture.h"
#include "src/capture/open_capture.h"
#include "tests/src/capture/capture_files.h"

// Recordings of real sensors, read with the sidecars of datasets/. What the chain makes of them is
// tools/accept-captures.
namespace cornerturn {
namespace {

class RealCaptures : public testing::Test {
 protected:
  void SetUp() override {
    if (root_.empty()) GTEST_SKIP() << "no recordings beside the checkout";
  }
  std::unique_ptr<CaptureSource> open(const std::string& file, const std::string& dataset) {
    const std::string layout =
        dataset.empty() ? "" : std::string(CORNERTURN_SOURCE_DIR) + "/datasets/" + dataset + "/layout.toml";
    auto source = open_capture(root_ + "/" + file, {layout, {}, 0});
    if (!source) ADD_FAILURE() << source.error().message();
    return source ? std::move(*source) : nullptr;
  }
  std::string root_ = real_captures();
};

TEST_F(RealCaptures, TiVibrationHasItsImage43DbDown) {
  for (const char* file : {"vantilator-vibration.bin", "vantilator-no-vibration.bin"}) {
    const auto source = open(std::string("ti-awr1642-vibration/") + file, "ti-awr1642-vibration");
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().shape, (CpiShape{4, 1000, 256}));
    EXPECT_TRUE(source->info().doubts.empty());
    const auto inspection = inspect_capture(*source);
    ASSERT_TRUE(inspection);
    EXPECT_TRUE(inspection->doubts.empty());
    EXPECT_NEAR(inspection->image_ratio_db, 43.0, 3.0);  // of the whole half, not of the one bin
  }
}

TEST_F(RealCaptures, InfineonFramesAreReal12BitSamples) {
  const auto source = open("infineon-bgt60-reflectors/radar.npy", "infineon-bgt60-reflectors");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->info().shape, (CpiShape{3, 64, 64}));
  EXPECT_EQ(source->info().cpi_count, 128U);
  const auto inspection = inspect_capture(*source);
  ASSERT_TRUE(inspection);
  EXPECT_TRUE(inspection->doubts.empty());
}

TEST_F(RealCaptures, AcconeerCornerReflectorPeaksAtPoint16) {
  const auto source = open("acconeer-a121/corner-reflector.h5", "");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->info().shape, (CpiShape{1, 113, 54}));
  EXPECT_NEAR(source->info().radar.waveform.pri_s, 0.02, 1e-12);
  const auto samples = next_samples(*source);
  std::vector<double> mean(54);
  for (std::size_t pulse = 0; pulse < 113; ++pulse)
    for (std::size_t point = 0; point < 54; ++point) mean[point] += std::abs(samples[pulse * 54 + point]) / 113.0;
  const auto peak = static_cast<std::size_t>(std::max_element(mean.begin(), mean.end()) - mean.begin());
  EXPECT_EQ(peak, 16U);
  EXPECT_NEAR(mean[peak], 2319.0, 1.0);
  EXPECT_NEAR(source->info().radar.waveform.gate_axis->coordinate(16.0), 0.2202, 1e-4);
}

TEST_F(RealCaptures, AllAcconeerRecordingsOpen) {
  for (const char* file : {"breathing-sitting", "presence-default", "surface_velocity_4_dist", "vibration"})
    EXPECT_NE(open(std::string("acconeer-a121/") + file + ".h5", ""), nullptr);
}

}  // namespace
}  // namespace cornerturn
