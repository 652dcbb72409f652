#include "dsp/vocabulary/raw_layout.h"

#include <set>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

constexpr CpiShape kShape{.channel_count = 3, .pulse_count = 4, .sample_count = 6};

/// Every order must use each scalar of the block exactly once.
TEST(RawLayout, ContiguousLayoutsAreBijections) {
  for (const IqOrder order : {IqOrder::iq, IqOrder::qi, IqOrder::iiqq, IqOrder::qqii, IqOrder::planar_iq,
                              IqOrder::planar_qi, IqOrder::real}) {
    const RawLayout layout = make_contiguous_layout(kShape, SampleFormat::int16, order);
    std::set<std::int64_t> used;
    for (std::size_t pulse = 0; pulse < kShape.pulse_count; ++pulse)
      for (std::size_t channel = 0; channel < kShape.channel_count; ++channel)
        for (std::size_t sample = 0; sample < kShape.sample_count; ++sample) {
          used.insert(layout.scalar_index(pulse, channel, sample) + layout.i_offset);
          if (layout.complex_samples) used.insert(layout.scalar_index(pulse, channel, sample) + layout.q_offset);
        }
    const std::size_t scalars = kShape.samples() * (layout.complex_samples ? 2 : 1);
    EXPECT_EQ(used.size(), scalars) << to_string(order);
    EXPECT_EQ(*used.begin(), 0) << to_string(order);
    EXPECT_EQ(*used.rbegin(), static_cast<std::int64_t>(scalars) - 1) << to_string(order);
    EXPECT_EQ(required_bytes(layout, kShape).value(), 2 * scalars) << to_string(order);
  }
}

TEST(RawLayout, TwoLaneOrderIsTwoIThenTwoQ) {
  const RawLayout layout = make_contiguous_layout(kShape, SampleFormat::int16, IqOrder::iiqq);
  EXPECT_EQ(layout.scalar_index(0, 0, 1) + layout.i_offset, 1);
  EXPECT_EQ(layout.scalar_index(0, 0, 0) + layout.q_offset, 2);
  EXPECT_EQ(layout.scalar_index(0, 0, 2) + layout.i_offset, 4);
}

TEST(RawLayout, PackedTwelveBitNeedsThreeBytesForTwoScalars) {
  const RawLayout layout = make_contiguous_layout({1, 1, 5}, SampleFormat::int12_packed, IqOrder::iq);
  EXPECT_EQ(required_bytes(layout, {1, 1, 5}).value(), 15u);
  const RawLayout real = make_contiguous_layout({1, 1, 5}, SampleFormat::int12_packed, IqOrder::real);
  EXPECT_EQ(required_bytes(real, {1, 1, 5}).value(), 8u);
}

TEST(RawLayout, RefusesWhatLeavesTheSegmentOrOverflows) {
  RawLayout layout = make_contiguous_layout(kShape, SampleFormat::int16, IqOrder::iq);
  layout.pulse_stride = -layout.pulse_stride;
  EXPECT_FALSE(required_bytes(layout, kShape));
  layout.pulse_stride = INT64_MAX / 2;
  EXPECT_FALSE(required_bytes(layout, kShape));
  EXPECT_FALSE(required_bytes(RawLayout{}, {0, 1, 1}));
  EXPECT_FALSE(required_bytes(RawLayout{.group_stride = INT64_MAX}, {1, 1, SIZE_MAX / 2}));
}

TEST(RawLayout, WordsRoundTripAndErrorsListThem) {
  EXPECT_EQ(parse_sample_format("int12_packed").value(), SampleFormat::int12_packed);
  EXPECT_EQ(parse_iq_order("qqii").value(), IqOrder::qqii);
  EXPECT_NE(parse_iq_order("iqqi").error().remedy.find("iiqq"), std::string::npos);
}

}  // namespace
}  // namespace cornerturn
