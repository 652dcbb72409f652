#include "src/capture/inspect_capture.h"

#include <limits>

#include <gtest/gtest.h>

#include "src/capture/open_capture.h"
#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

/// 8 pulses x 2 channels x 64 samples of `values` with the given type; FMCW.
template <typename T> Expected<CaptureInspection> inspect(const std::vector<T>& values, const std::string& type) {
  const CaptureFolder folder;
  write_npy(folder / "a.npy", type, "8, 2, 64", std::as_bytes(std::span(values)));
  write_text(folder / "a.npy.cornerturn.toml", R"([samples]
axes = ["pulse", "channel", "sample"]
[waveform]
carrier_hz = 77e9
slope_hz_per_s = 30e12
sample_rate_hz = 10e6
pri_s = 1e-4
)");
  auto source = open_capture(folder / "a.npy");
  if (!source) return unexpected(source.error());
  return inspect_capture(**source);
}

bool doubts(const CaptureInspection& inspection, const std::string& words) {
  for (const Doubt& doubt : inspection.doubts)
    if (doubt.what.find(words) != std::string::npos) return true;
  return false;
}

std::vector<float> noise() {
  std::vector<float> values(8 * 2 * 64);
  unsigned state = 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 16) - 32768.0F;
  }
  return values;
}

TEST(InspectCapture, FindsNothingInGoodData) {
  const auto result = inspect(noise(), "<f4");
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_TRUE(result->doubts.empty()) << result->doubts.front().what;
  EXPECT_EQ(result->samples, 1024U);
  // Uniform over 65536 codes: 65536 / sqrt(12) = 18918; 512 values scatter by 2 %.
  EXPECT_NEAR(result->channels[0].rms, 18918.0, 1500.0);
}

TEST(InspectCapture, FindsADeadChannel) {
  std::vector<float> values = noise();
  for (std::size_t pulse = 0; pulse < 8; ++pulse)
    for (std::size_t n = 0; n < 64; ++n) values[pulse * 128 + 64 + n] = 0.0F;
  const auto result = inspect(values, "<f4");
  ASSERT_TRUE(result);
  ASSERT_TRUE(doubts(*result, "without a signal"));
  EXPECT_NE(result->doubts[0].evidence.find("channel 1"), std::string::npos);
}

TEST(InspectCapture, CountsSamplesThatAreNotNumbers) {
  std::vector<float> values = noise();
  values[3] = std::numeric_limits<float>::quiet_NaN();
  values[500] = std::numeric_limits<float>::infinity();
  const auto result = inspect(values, "<f4");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->masked_samples, 2U);
  EXPECT_TRUE(doubts(*result, "not numbers"));
}

TEST(InspectCapture, FindsOverdriveAndOffsetBinaryReadAsSigned) {
  std::vector<std::int16_t> clipped(1024);
  for (std::size_t n = 0; n < clipped.size(); ++n) clipped[n] = static_cast<std::int16_t>((n * 37) % 200);
  clipped[7] = clipped[77] = 32767;
  const auto overdriven = inspect(clipped, "<i2");
  ASSERT_TRUE(overdriven);
  EXPECT_TRUE(doubts(*overdriven, "overdriven"));

  std::vector<std::int16_t> wrong(1024);
  for (std::size_t n = 0; n < wrong.size(); ++n)  // +-100 around 32768, read as signed
    wrong[n] = static_cast<std::int16_t>(static_cast<std::uint16_t>(32768 + static_cast<int>((n * 37) % 200) - 100));
  const auto jumping = inspect(wrong, "<i2");
  ASSERT_TRUE(jumping);
  EXPECT_TRUE(doubts(*jumping, "jump between the ends"));
}

TEST(InspectCapture, FindsAMissingZeroLevel) {
  std::vector<std::int16_t> values(1024);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<std::int16_t>(2048 + (n * 37) % 50);
  const auto result = inspect(values, "<i2");
  ASSERT_TRUE(result);
  EXPECT_TRUE(doubts(*result, "large constant"));
}

}  // namespace
}  // namespace cornerturn
