#include <csignal>
#include <thread>

#include "tests/src/stream/stream_fixture.h"

namespace cornerturn::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class SessionStop : public StreamTest {
 protected:
  SessionReport run_and_stop_after(microseconds delay) {
    make_session();
    std::jthread user([&] {
      std::this_thread::sleep_for(delay);
      session_->stop();
    });
    return run();
  }

  // What was shown to a sink before the stop has no hole.
  static void expect_no_hole(const SinkLog& log) { EXPECT_EQ(indices_of(log), indices_between(0, log.results.size())); }
};

TEST_F(SessionStop, BeforeTheRunProcessesNothingMuchAndSaysSo) {
  source.cpi_count = 1'000'000;
  const auto log = add_sink();
  make_session().stop();
  const SessionReport report = run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.error);
  EXPECT_EQ(report.statistics.cpis_in, 0u);
  EXPECT_FALSE(log->complete);
}

TEST_F(SessionStop, BehindTheEndIsNoInterruption) {
  const auto log = add_sink();
  EXPECT_TRUE(run().complete());
  session_->stop();
  EXPECT_TRUE(log->complete);
}

TEST_F(SessionStop, WhileTheSourceStallsInMidCpi) {
  source.segments = 2;
  source.stall_at = 6;
  const auto log = add_sink();
  make_session();
  std::jthread user([&] {
    const auto stalls = [&] {
      const StatisticsSnapshot now = session_->statistics();
      return now.cpis_in == 7 && now.processed == 6;
    };
    while (!stalls()) std::this_thread::sleep_for(milliseconds(1));
    session_->stop();
  });
  const SessionReport report = run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(indices_of(*log), indices_between(0, 6));
  EXPECT_EQ(report.statistics.dropped[DropCause::stopped], 1u);
  EXPECT_EQ(report.statistics.cpis_in, 7u);
  EXPECT_FALSE(log->complete);
  EXPECT_EQ(log->finished, 1);
}

TEST_F(SessionStop, WhileASlowSinkHoldsTheChain) {
  source.cpi_count = 1'000'000;
  const auto log = add_sink({.accept_time = milliseconds(3)}, SinkPolicy::lossless, 2);
  const SessionReport report = run_and_stop_after(milliseconds(15));
  EXPECT_TRUE(report.interrupted);
  expect_no_hole(*log);
  EXPECT_EQ(log->results.size(), report.statistics.processed);  // what was processed was kept
}

TEST_F(SessionStop, FromASignalHandler) {
  source.cpi_count = 1'000'000;
  backend.max_delay = microseconds(200);
  add_sink();
  static Session* session = nullptr;
  session = &make_session();
  const auto previous = std::signal(SIGUSR1, [](int) { session->stop(); });
  std::jthread user([&] {
    std::this_thread::sleep_for(milliseconds(5));
    std::raise(SIGUSR1);
  });
  EXPECT_TRUE(run().interrupted);
  user.join();
  std::signal(SIGUSR1, previous);
}

TEST_F(SessionStop, FromTheProgressCallback) {
  source.cpi_count = 1'000'000;
  options.progress_period = milliseconds(2);
  options.progress = [&](std::uint64_t, std::uint64_t) { session_->stop(); };
  add_sink();
  EXPECT_TRUE(run().interrupted);
}

TEST_F(SessionStop, ExceptionOfTheProgressCallbackIsAnError) {
  source.cpi_count = 1'000'000;
  options.progress_period = milliseconds(2);
  options.progress = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("terminal lost"); };
  add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "session: terminal lost");
}

struct SweepCase {
  const char* name;
  bool live;
  std::size_t segments;
  microseconds segment_delay;
  microseconds backend_delay;
  microseconds sink_time;
  bool reconfigures;
};

class SessionStopSweep : public SessionStop, public ::testing::WithParamInterface<SweepCase> {};

// Stops at moments spread over the start, the run and (short captures) the end, in each state of the stream.
TEST_P(SessionStopSweep, AtAnyMomentKeepsTheBooks) {
  const SweepCase& c = GetParam();
  for (int step = 0; step < 24; ++step) {
    SCOPED_TRACE(step);
    source = {};
    source.cpi_count = step % 3 == 0 ? 12 : 1'000'000;
    source.live = c.live;
    source.segments = c.segments;
    source.segment_delay = c.segment_delay;
    backend.max_delay = c.backend_delay;
    backend.seed = static_cast<std::uint32_t>(step + 1);
    backend.failing = {3};
    if (c.reconfigures) {
      source.before_fill = [&](std::uint64_t index) {
        if (index % 4 != 1) return;
        EXPECT_TRUE(session_->reconfigure(configuration()));
      };
    }
    session_.reset();
    const auto file = add_sink({.accept_time = c.sink_time});
    const auto view = add_sink({.accept_time = microseconds(700)}, SinkPolicy::skip_oldest, 1);
    const SessionReport report = run_and_stop_after(microseconds(step * step * 25));
    EXPECT_FALSE(report.error);
    EXPECT_EQ(file->complete, !report.interrupted);
    EXPECT_EQ(file->results.size(), report.statistics.processed);
    EXPECT_EQ(report.statistics.sinks[1].accepted + report.statistics.sinks[1].skipped, report.statistics.processed);
    if (!report.interrupted) {
      EXPECT_EQ(report.statistics.cpis_in, 12u);
    }
    forget_sinks();
  }
}

INSTANTIATE_TEST_SUITE_P(
    States, SessionStopSweep,
    ::testing::Values(SweepCase{"Fast", false, 1, microseconds(0), microseconds(0), microseconds(0), false},
                      SweepCase{"SlowBackend", false, 1, microseconds(0), microseconds(2000), microseconds(0), false},
                      SweepCase{"SlowSink", false, 1, microseconds(0), microseconds(100), microseconds(1000), false},
                      SweepCase{"SlowSegments", false, 4, microseconds(300), microseconds(100), microseconds(0), false},
                      SweepCase{"Live", true, 2, microseconds(50), microseconds(1000), microseconds(200), false},
                      SweepCase{"Changing", false, 1, microseconds(100), microseconds(300), microseconds(50), true}),
    [](const auto& sweep) { return std::string(sweep.param.name); });

}  // namespace
}  // namespace cornerturn::testing
