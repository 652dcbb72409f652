#include "src/capture/cpi_cut.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

using enum AxisRole;

Expected<CpiCut> cut(std::vector<std::uint64_t> shape, std::vector<AxisRole> axes, std::size_t pulses = 0,
                     std::optional<IqOrder> iq = {}, bool complex_pair = false) {
  ArrayElement element;
  element.complex_pair = complex_pair;
  element.scalars = complex_pair ? 2 : 1;
  element.q_scalar = complex_pair ? 1 : 0;
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  ArrayMeaning meaning;
  meaning.axes = std::move(axes);
  meaning.pulses_per_cpi = pulses;
  meaning.iq_order = iq;
  return make_cpi_cut(element, shape, order, meaning);
}

/// Position of a sample in its CPI's block by the layout.
std::int64_t i_at(const CpiCut& cut, std::size_t pulse, std::size_t channel, std::size_t sample) {
  return cut.layout.scalar_index(pulse, channel, sample) + cut.layout.i_offset;
}
std::int64_t q_at(const CpiCut& cut, std::size_t pulse, std::size_t channel, std::size_t sample) {
  return cut.layout.scalar_index(pulse, channel, sample) + cut.layout.q_offset;
}

TEST(CpiCut, AFrameIsACpi) {
  const auto result = cut({128, 3, 64, 32}, {frame, channel, pulse, sample});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->shape, (CpiShape{3, 64, 32}));
  EXPECT_EQ(result->cpi_count, 128U);
  EXPECT_EQ(result->slot_bytes(), 3U * 64U * 32U * 2U);
  EXPECT_EQ(i_at(*result, 5, 2, 7), (2 * 64 + 5) * 32 + 7);
  EXPECT_EQ(result->box(9, 0).start, (std::vector<std::uint64_t>{9, 0, 0, 0}));
}

TEST(CpiCut, TwoLaneAndFourLaneOrdersAreAxes) {
  // I0 I1 Q0 Q1 along the samples of one receiver (4 scalars a group of two).
  const auto two_lane = cut({10, 4, 512}, {pulse, channel, sample}, 0, IqOrder::iiqq);
  ASSERT_TRUE(two_lane) << two_lane.error().message();
  EXPECT_EQ(two_lane->shape.sample_count, 256U);
  EXPECT_EQ(i_at(*two_lane, 1, 2, 3), (4 + 2) * 512 + 4 + 1);
  EXPECT_EQ(q_at(*two_lane, 1, 2, 3), (4 + 2) * 512 + 4 + 3);
  // I of four receivers, then Q of four receivers, per sample.
  const auto four_lane = cut({10, 256, 2, 4}, {pulse, sample, iq, channel});
  ASSERT_TRUE(four_lane) << four_lane.error().message();
  EXPECT_EQ(i_at(*four_lane, 1, 2, 3), (256 + 3) * 8 + 2);
  EXPECT_EQ(q_at(*four_lane, 1, 2, 3), (256 + 3) * 8 + 4 + 2);
  // The same two-lane file by explicit group axes.
  const auto groups = cut({10, 4, 128, 2, 2}, {pulse, channel, group, iq, sample});
  ASSERT_TRUE(groups) << groups.error().message();
  EXPECT_EQ(groups->layout, two_lane->layout);
}

TEST(CpiCut, EveryOrderPlacesIAndQ) {
  struct Case {
    IqOrder order;
    std::int64_t i5;  // of sample 5 of 8
    std::int64_t q5;
  };
  for (const Case& each :
       {Case{IqOrder::iq, 10, 11}, Case{IqOrder::qi, 11, 10}, Case{IqOrder::iiqq, 9, 11}, Case{IqOrder::qqii, 11, 9},
        Case{IqOrder::planar_iq, 5, 13}, Case{IqOrder::planar_qi, 13, 5}}) {
    const auto result = cut({4, 16}, {pulse, sample}, 0, each.order);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->shape.sample_count, 8U);
    EXPECT_EQ(i_at(*result, 0, 0, 5), each.i5) << to_string(each.order);
    EXPECT_EQ(q_at(*result, 0, 0, 5), each.q5) << to_string(each.order);
  }
}

TEST(CpiCut, TransmittersThatTakeTurnsBecomeVirtualChannels) {
  const auto result = cut({3, 128, 2, 4, 512}, {frame, pulse, tx, channel, sample}, 0, IqOrder::iiqq);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->shape, (CpiShape{8, 128, 256}));
  EXPECT_EQ(i_at(*result, 1, 4 + 2, 0), (2 + 1) * 2048 + 2 * 512);  // tx 1, rx 2 of pulse 1
}

TEST(CpiCut, FramesOfOnePulseJoinToSlowTime) {
  const auto result = cut({113, 1, 74}, {frame, pulse, sample}, 0, {}, true);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->shape, (CpiShape{1, 113, 74}));
  EXPECT_EQ(result->segment_count, 1U);
  EXPECT_EQ(i_at(*result, 2, 0, 3), (2 * 74 + 3) * 2);
}

TEST(CpiCut, FramesThatDoNotJoinInMemoryBecomeSegments) {
  const auto adjacent = cut({10, 8, 3, 16}, {frame, pulse, channel, sample}, 16);
  ASSERT_TRUE(adjacent);
  EXPECT_EQ(adjacent->segment_count, 1U);
  EXPECT_EQ(adjacent->cpi_count, 5U);
  const auto apart = cut({10, 3, 8, 16}, {frame, channel, pulse, sample}, 32);
  ASSERT_TRUE(apart) << apart.error().message();
  EXPECT_EQ(apart->segment_count, 4U);
  EXPECT_EQ(apart->pulses_per_segment, 8U);
  EXPECT_EQ(apart->cpi_count, 2U);
  EXPECT_EQ(apart->left_over_pulses, 16U);
  EXPECT_EQ(apart->box(1, 2).start[0], 6U);
  EXPECT_EQ(apart->box(1, 2).count[0], 1U);
}

TEST(CpiCut, AFrameMayHoldSeveralCpis) {
  const auto result = cut({10, 64, 16}, {frame, pulse, sample}, 16);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->cpi_count, 40U);
  EXPECT_EQ(result->box(5, 0).start, (std::vector<std::uint64_t>{1, 16, 0}));
  EXPECT_EQ(result->box(5, 0).count, (std::vector<std::uint64_t>{1, 16, 16}));
}

TEST(CpiCut, WithoutFramesAllPulsesUpToALimitAreOneCpi) {
  EXPECT_EQ(cut({1000, 16}, {pulse, sample})->shape.pulse_count, 1000U);
  const auto longer = cut({10000, 16}, {pulse, sample});
  EXPECT_EQ(longer->shape.pulse_count, kMaxDefaultPulses);
  EXPECT_EQ(longer->cpi_count, 2U);
  EXPECT_EQ(longer->left_over_pulses, 10000U - 2 * kMaxDefaultPulses);
}

TEST(CpiCut, NamesTheKeyThatIsWrong) {
  const auto where = [](const Expected<CpiCut>& result) {
    EXPECT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    return result.error().where;
  };
  EXPECT_EQ(where(cut({10, 16}, {pulse, channel, sample})), "samples.axes");
  EXPECT_EQ(where(cut({10, 16}, {pulse, channel})), "samples.axes");
  EXPECT_EQ(where(cut({10, 16}, {sample, sample})), "samples.axes");
  EXPECT_EQ(where(cut({10, 16, 3}, {pulse, sample, one})), "samples.axes");
  EXPECT_EQ(where(cut({10, 16, 3}, {pulse, sample, iq})), "samples.axes");
  EXPECT_EQ(where(cut({10, 18}, {pulse, sample}, 0, IqOrder::iiqq)), "samples.iq");
  EXPECT_EQ(where(cut({10, 16, 2}, {pulse, sample, iq}, 0, IqOrder::iiqq)), "samples.iq");
  EXPECT_EQ(where(cut({10, 16, 2}, {pulse, sample, iq}, 0, {}, true)), "samples.iq");
  EXPECT_EQ(where(cut({10, 16}, {pulse, sample}, 11)), "cpi.pulses");
  EXPECT_EQ(where(cut({10, 8, 16}, {frame, pulse, sample}, 12)), "cpi.pulses");
  EXPECT_EQ(where(cut({10, 8, 16}, {frame, pulse, sample}, 3)), "cpi.pulses");
}

TEST(CpiCut, RefusesHugeSizes) {
  const std::uint64_t large = std::uint64_t{1} << 31;
  EXPECT_FALSE(cut({large, large}, {pulse, sample}));
  EXPECT_FALSE(cut({std::uint64_t{1} << 40, 16}, {pulse, sample}));
  EXPECT_FALSE(cut({16, 100000, 16}, {pulse, channel, sample}));
  EXPECT_FALSE(cut({2, large, large, large}, {frame, pulse, channel, sample}));
}

}  // namespace
}  // namespace cornerturn
