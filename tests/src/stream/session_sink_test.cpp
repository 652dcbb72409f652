#include "tests/src/stream/stream_fixture.h"

namespace cornerturn::testing {
namespace {

using std::chrono::microseconds;

class SessionSink : public StreamTest {};

TEST_F(SessionSink, SlowLosslessSinkHoldsTheChainAndGetsEverything) {
  source.cpi_count = 40;
  const auto slow = add_sink({.accept_time = microseconds(500)}, SinkPolicy::lossless, 2);
  const SessionReport report = run();
  EXPECT_EQ(indices_of(*slow), indices_between(0, 40));
  EXPECT_GT(report.statistics.sinks[0].waits, 0u);
  EXPECT_EQ(report.statistics.sinks[0].skipped, 0u);
}

TEST_F(SessionSink, SlowLossySinkNeverHoldsTheChain) {
  source.cpi_count = 100;
  const auto all = add_sink({}, SinkPolicy::lossless, 4);
  const auto view = add_sink({.name = "view", .accept_time = microseconds(20000)}, SinkPolicy::skip_oldest, 1);
  const SessionReport report = run();
  EXPECT_EQ(indices_of(*all), indices_between(0, 100));
  const SinkStatistics& statistics = report.statistics.sinks[1];
  EXPECT_EQ(statistics.name, "view");
  EXPECT_EQ(statistics.accepted + statistics.skipped, 100u);
  EXPECT_GT(statistics.skipped, 50u);
  EXPECT_EQ(statistics.waits, 0u);
  EXPECT_EQ(view->results.back().index, 99u);  // the newest is shown in the end
}

TEST_F(SessionSink, SkipNewestKeepsWhatIsQueued) {
  source.cpi_count = 50;
  const auto sampler = add_sink({.accept_time = microseconds(5000)}, SinkPolicy::skip_newest, 2);
  const SessionReport report = run();
  const SinkStatistics& statistics = report.statistics.sinks[0];
  EXPECT_EQ(statistics.accepted + statistics.skipped, 50u);
  EXPECT_GT(statistics.skipped, 0u);
  EXPECT_EQ(sampler->results.front().index, 0u);
}

TEST_F(SessionSink, SinkThatCannotBeginEndsTheRunBeforeItReadsAnything) {
  const auto good = add_sink();
  const auto bad = add_sink({.begin_fails = true});
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake sink: cannot be written");
  EXPECT_EQ(report.statistics.cpis_in, 0u);
  EXPECT_EQ(good->finished, 1);
  EXPECT_FALSE(good->complete);
  EXPECT_EQ(bad->finished, 0);
}

TEST_F(SessionSink, ErrorOfALosslessSinkEndsTheRunAndItIsStillFinished) {
  source.cpi_count = 5000;
  const auto full = add_sink({.accept_fails_at = 10});
  const auto other = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake sink: disk full");
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(indices_of(*full), indices_between(0, 10));
  EXPECT_EQ(full->finished, 1);
  EXPECT_FALSE(full->complete);
  EXPECT_FALSE(other->complete);
  EXPECT_GE(other->results.size(), 11u);
  EXPECT_LT(report.statistics.processed, 5000u);
}

TEST_F(SessionSink, ExceptionOfASinkIsAnError) {
  add_sink({.accept_throws_at = 4});
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake sink: library failed");
}

TEST_F(SessionSink, ErrorOfALossySinkIsReportedAndTheRunGoesOn) {
  const auto all = add_sink();
  const auto view = add_sink({.name = "view", .accept_fails_at = 4}, SinkPolicy::skip_oldest, 64);
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  ASSERT_EQ(report.sink_errors.size(), 1u);
  EXPECT_EQ(report.sink_errors[0].message(), "view: disk full");
  EXPECT_EQ(indices_of(*all), indices_between(0, 20));
  EXPECT_TRUE(all->complete);
  EXPECT_FALSE(view->complete);
  EXPECT_EQ(view->results.size(), 4u);
}

TEST_F(SessionSink, ErrorOfFinishIsReported) {
  add_sink({.finish_fails = true});
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake sink: cannot be closed");
}

}  // namespace
}  // namespace cornerturn::testing
