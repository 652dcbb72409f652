#include "dsp/stage/detection.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {
namespace {

Detection make_example(int seed) {
  Detection d;
  d.range_m = 1.5 + seed;
  d.range_rate_mps = -2.25 * seed;
  d.power_db = 3.125;
  d.snr_db = 17.0 + seed;
  d.azimuth_deg = seed % 2 == 0 ? std::nan("") : 12.0;
  d.azimuth_bartlett_deg = 11.0;
  d.gate_position = 7.25;
  d.doppler_position = 3.5;
  d.gate = 7 + seed;
  d.doppler_bin = 3;
  d.cell_count = 9;
  d.flags = static_cast<std::uint8_t>(kRangeEdge | (seed % 2 == 0 ? kNoAngle : 0));
  return d;
}

TEST(DetectionColumns, GiveBackWhatWasWritten) {
  constexpr std::size_t kCapacity = 5;
  AlignedBuffer<std::byte> storage(detection_column_bytes(kCapacity));
  CpiResult result;
  result.products = make_detection_columns(storage.span(), kCapacity);
  EXPECT_TRUE(read_detections(result).empty());
  for (const std::size_t count : {std::size_t{3}, std::size_t{5}, std::size_t{1}}) {
    std::vector<Detection> written;
    for (std::size_t i = 0; i < count; ++i) written.push_back(make_example(static_cast<int>(i)));
    write_detection_columns(result.products, written);
    const auto read = read_detections(result);
    ASSERT_EQ(read.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(read[i].range_m, written[i].range_m);
      EXPECT_EQ(read[i].range_rate_mps, written[i].range_rate_mps);
      EXPECT_EQ(read[i].power_db, written[i].power_db);
      EXPECT_EQ(read[i].snr_db, written[i].snr_db);
      EXPECT_EQ(std::isnan(read[i].azimuth_deg), std::isnan(written[i].azimuth_deg));
      EXPECT_EQ(read[i].azimuth_bartlett_deg, written[i].azimuth_bartlett_deg);
      EXPECT_EQ(read[i].gate_position, written[i].gate_position);
      EXPECT_EQ(read[i].doppler_position, written[i].doppler_position);
      EXPECT_EQ(read[i].gate, written[i].gate);
      EXPECT_EQ(read[i].doppler_bin, written[i].doppler_bin);
      EXPECT_EQ(read[i].cell_count, written[i].cell_count);
      EXPECT_EQ(read[i].flags, written[i].flags);
    }
  }
}

TEST(DetectionColumns, SayWhatTheyAre) {
  AlignedBuffer<std::byte> storage(detection_column_bytes(3));
  for (const Product& column : make_detection_columns(storage.span(), 3)) {
    EXPECT_TRUE(column.name.starts_with("detection_")) << column.name;
    EXPECT_TRUE(column.is_detection_column());
    EXPECT_EQ(column.element_count(), 0U);
    EXPECT_FALSE(column.description.empty());
    EXPECT_FALSE(column.unit.empty());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.bytes.data()) % 64, 0U) << column.name;
    EXPECT_EQ(column.flag_meanings.empty(), column.name != "detection_flags");
  }
}

TEST(DetectionColumns, AbsentOnesStayAtTheirDefaults) {
  AlignedBuffer<std::byte> storage(detection_column_bytes(3));
  CpiResult result;
  result.products = make_detection_columns(storage.span(), 3);
  const std::vector<Detection> written{make_example(1), make_example(2)};
  write_detection_columns(result.products, written);
  std::erase_if(result.products, [](const Product& product) { return product.name == "detection_range_m"; });
  const auto read = read_detections(result);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].range_m, 0.0);
  EXPECT_EQ(read[0].snr_db, written[0].snr_db);
}

}  // namespace
}  // namespace cornerturn
