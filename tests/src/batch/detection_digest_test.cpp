#include "src/batch/detection_digest.h"

#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

// A result with detections of the given powers; `storage` keeps their bytes.
CpiResult make_result(std::uint64_t index, const std::vector<double>& powers_db, std::vector<std::byte>& storage) {
  CpiResult result;
  result.header.index = index;
  result.header.start_time_s = 0.1 * static_cast<double>(index);
  storage.resize(detection_column_bytes(64));
  result.products = make_detection_columns(storage, 64);
  std::vector<Detection> detections;
  for (const double power_db : powers_db) {
    detections.emplace_back();
    detections.back().power_db = power_db;
  }
  write_detection_columns(result.products, detections);
  return result;
}

TEST(DetectionDigest, ShowsTheCpiWithTheStrongestDetectionSorted) {
  DetectionDigestSink sink;
  std::vector<std::byte> storage[3];
  ASSERT_TRUE(sink.accept(make_result(4, {10.0, 30.0}, storage[0])));
  ASSERT_TRUE(sink.accept(make_result(5, {20.0, 40.0, 35.0}, storage[1])));
  ASSERT_TRUE(sink.accept(make_result(6, {}, storage[2])));
  const DetectionDigest& digest = sink.digest();
  EXPECT_EQ(digest.cpi_count, 3u);
  EXPECT_EQ(digest.detection_count, 5u);
  EXPECT_TRUE(digest.shown);
  EXPECT_EQ(digest.shown_cpi, 5u);
  ASSERT_EQ(digest.detections.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(digest.detections[0].power_db), 40.0F);
  EXPECT_FLOAT_EQ(static_cast<float>(digest.detections[2].power_db), 20.0F);
}

TEST(DetectionDigest, KeepsTheStrongestOnly) {
  DetectionDigestSink sink;
  std::vector<double> powers_db;
  for (int i = 0; i < 30; ++i) powers_db.push_back(i);
  std::vector<std::byte> storage;
  ASSERT_TRUE(sink.accept(make_result(0, powers_db, storage)));
  EXPECT_EQ(sink.digest().detections.size(), DetectionDigest::kShownCount);
  EXPECT_EQ(sink.digest().shown_cpi_detection_count, 30u);
  EXPECT_FLOAT_EQ(static_cast<float>(sink.digest().detections.back().power_db), 20.0F);
}

TEST(DetectionDigest, SumsTheQualityOfTheSamples) {
  DetectionDigestSink sink;
  std::vector<std::byte> storage;
  CpiResult result = make_result(0, {}, storage);
  result.quality = {.masked_samples = 3, .saturated_samples = 5, .zero_channels = 1, .flagged_detections = 0};
  ASSERT_TRUE(sink.accept(result));
  result.quality.zero_channels = 2;
  ASSERT_TRUE(sink.accept(result));
  EXPECT_EQ(sink.digest().quality.masked_samples, 6u);
  EXPECT_EQ(sink.digest().quality.saturated_samples, 10u);
  EXPECT_EQ(sink.digest().quality.zero_channels, 2u);
  EXPECT_FALSE(sink.digest().shown);
}

}  // namespace
}  // namespace cornerturn
