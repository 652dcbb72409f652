#include "src/stream/stream_statistics.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

using std::chrono::milliseconds;

TEST(LatencyHistogram, QuantilesLieWithinHalfABin) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(i * 1e-5);  // 10 us to 10 ms
  // A value lies within half a bin of its bin's centre: a factor of 2^(1/32), 2.2 %.
  EXPECT_NEAR(histogram.quantile_s(0.5), 5e-3, 0.022 * 5e-3);
  EXPECT_NEAR(histogram.quantile_s(0.99), 9.9e-3, 0.022 * 9.9e-3);
  EXPECT_DOUBLE_EQ(histogram.max_s(), 10e-3);
}

TEST(LatencyHistogram, NeverExceedsTheLongest) {
  LatencyHistogram histogram;
  histogram.add(1.0001e-3);
  EXPECT_LE(histogram.quantile_s(0.5), 1.0001e-3);
  EXPECT_NEAR(histogram.quantile_s(0.99), 1e-3, 0.022e-3);
}

TEST(LatencyHistogram, KeepsExtremes) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile_s(0.5), 0.0);
  histogram.add(0.0);
  histogram.add(1e9);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_GT(histogram.quantile_s(0.99), 1e3 * 0.9);
}

TEST(StreamStatistics, RatesFollowFromProcessedCpisAndTime) {
  StreamStatistics statistics(1000, 4000);
  const StreamClock::time_point start{};
  for (int i = 0; i < 10; ++i) {
    statistics.count_in(start + milliseconds(100 * i));
    statistics.count_processed(start + milliseconds(100 * i), start + milliseconds(100 * i + 100));
  }
  const StatisticsSnapshot snapshot = statistics.snapshot();
  EXPECT_DOUBLE_EQ(snapshot.elapsed_s, 1.0);
  EXPECT_DOUBLE_EQ(snapshot.cpis_per_s, 10.0);
  EXPECT_DOUBLE_EQ(snapshot.samples_per_s, 1e4);
  EXPECT_DOUBLE_EQ(snapshot.gigabytes_per_s, 4e-5);
  EXPECT_NEAR(snapshot.latency_p50_s, 0.1, 0.022 * 0.1);
}

TEST(StreamStatistics, DropsAreCountedByCause) {
  StreamStatistics statistics(1, 1);
  for (int i = 0; i < 5; ++i) statistics.count_in(StreamClock::now());
  statistics.count_dropped(DropCause::failed);
  statistics.count_dropped(DropCause::overrun, 2);
  statistics.count_missed(3);
  const StatisticsSnapshot snapshot = statistics.snapshot();
  EXPECT_EQ(snapshot.cpis_in, 8u);
  EXPECT_EQ(snapshot.dropped[DropCause::failed], 1u);
  EXPECT_EQ(snapshot.dropped[DropCause::overrun], 2u);
  EXPECT_EQ(snapshot.dropped[DropCause::missed], 3u);
  EXPECT_EQ(snapshot.dropped.total(), 6u);
  EXPECT_EQ(to_string(DropCause::overrun), "overrun");
}

TEST(StreamStatistics, NothingProcessedGivesZeroRates) {
  StreamStatistics statistics(1, 1);
  statistics.count_in(StreamClock::now());
  EXPECT_EQ(statistics.snapshot().cpis_per_s, 0.0);
  EXPECT_EQ(statistics.snapshot().latency_p99_s, 0.0);
}

}  // namespace
}  // namespace cornerturn
