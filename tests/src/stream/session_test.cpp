#include <algorithm>
#include <thread>

#include "tests/src/stream/count_allocations.h"
#include "tests/src/stream/stream_fixture.h"

namespace cornerturn::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class SessionRun : public StreamTest {};

TEST_F(SessionRun, EveryCpiReachesEverySinkInOrder) {
  source.cpi_count = 200;
  const auto first = add_sink();
  const auto second = add_sink({}, SinkPolicy::lossless, 1);
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.statistics.processed, 200u);
  EXPECT_EQ(indices_of(*first), indices_between(0, 200));
  EXPECT_EQ(indices_of(*second), indices_between(0, 200));
  EXPECT_TRUE(first->complete);
  EXPECT_EQ(first->begun, std::vector<std::uint32_t>{1});
  EXPECT_EQ(report.backend.name, "fake");
  ASSERT_EQ(report.stage_times.size(), 1u);
}

TEST_F(SessionRun, ResultsRetireInOrderThoughCpisCompleteOutOfOrder) {
  source.cpi_count = 150;
  backend.threads = 4;
  backend.max_in_flight = 4;
  backend.max_delay = microseconds(1000);
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(indices_of(*log), indices_between(0, 150));
  EXPECT_EQ(ledger->max_in_flight, 4);
  EXPECT_GT(ledger->completed_out_of_order, 10);
  EXPECT_GT(report.statistics.latency_p50_s, 0.0);
  EXPECT_GE(report.statistics.latency_p99_s, report.statistics.latency_p50_s);
}

TEST_F(SessionRun, WorksWithOneCpiInFlight) {
  backend.threads = 1;
  backend.max_in_flight = 1;
  const auto log = add_sink();
  run();
  EXPECT_EQ(indices_of(*log), indices_between(0, 20));
}

TEST_F(SessionRun, WorksWithoutSinksAndWithAnEmptySource) {
  source.cpi_count = 0;
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.statistics.cpis_in, 0u);
}

TEST_F(SessionRun, ProcessesOnlyTheWantedRange) {
  options.first_cpi = 5;
  options.cpi_count = 7;
  std::uint64_t last_done = 0;
  std::uint64_t last_total = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) { last_done = done, last_total = total; };
  const auto log = add_sink();
  EXPECT_TRUE(run().complete());
  EXPECT_EQ(indices_of(*log), indices_between(5, 12));
  EXPECT_EQ(last_done, 7u);
  EXPECT_EQ(last_total, 7u);
}

TEST_F(SessionRun, ProgressGrowsToTheNumberOfCpis) {
  source.cpi_count = 30;
  backend.max_delay = microseconds(4000);
  backend.threads = 1;
  options.progress_period = milliseconds(5);
  std::vector<std::uint64_t> done;
  options.progress = [&](std::uint64_t count, std::uint64_t total) {
    done.push_back(count);
    EXPECT_EQ(total, 30u);
  };
  run();
  EXPECT_GT(done.size(), 2u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 30u);
}

TEST_F(SessionRun, RangeBeyondTheCaptureIsAnError) {
  options.first_cpi = 99;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->kind, ErrorKind::usage);
  EXPECT_TRUE(log->begun.empty());
}

TEST_F(SessionRun, FailingCpiIsCountedAndTheOthersGoOn) {
  source.cpi_count = 50;
  backend.max_delay = microseconds(200);
  backend.failing = {0, 7, 8, 49};
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.statistics.dropped[DropCause::failed], 4u);
  EXPECT_EQ(report.statistics.processed, 46u);
  EXPECT_EQ(log->results.size(), 46u);
  ASSERT_TRUE(report.first_cpi_error);
  EXPECT_EQ(report.first_cpi_error->message(), "fake: CPI 0 failed");
}

TEST_F(SessionRun, ExceptionOfEnqueueEndsTheRunWithAnError) {
  source.cpi_count = 100;
  backend.max_delay = microseconds(300);
  backend.throwing_enqueue = 20;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "backend fake: device lost while enqueueing");
  EXPECT_EQ(report.error->kind, ErrorKind::runtime);
  EXPECT_GE(report.statistics.dropped[DropCause::failed], 1u);
  EXPECT_LE(log->results.size(), 20u);
  EXPECT_FALSE(log->complete);
}

TEST_F(SessionRun, ExceptionOfWaitEndsTheRunWithAnError) {
  source.cpi_count = 100;
  backend.max_delay = microseconds(300);
  backend.throwing_wait = 20;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "backend fake: device lost while waiting");
  EXPECT_EQ(indices_of(*log), indices_between(0, 20));
}

TEST_F(SessionRun, BackendThatCannotBeMadeEndsTheRunBeforeItBegins) {
  StreamConfiguration broken = configuration();
  broken.make_backend = [](const auto&, const auto&, std::size_t) -> Expected<std::unique_ptr<Backend>> {
    throw std::bad_alloc();
  };
  auto log = std::make_shared<SinkLog>();
  std::vector<SinkSetup> sinks;
  sinks.push_back({std::make_unique<FakeSink>(FakeSinkOptions{}, log)});
  session_ = std::make_unique<Session>(std::make_unique<FakeSource>(source), broken, std::move(sinks));
  const SessionReport report = session_->run();
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message().find("not enough memory"), std::string::npos);
  EXPECT_TRUE(log->begun.empty());
}

TEST_F(SessionRun, SourceErrorKeepsWhatCameBefore) {
  source.error_at = 13;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->kind, ErrorKind::input);
  EXPECT_EQ(report.error->message(), "fake: broken at CPI 13");
  EXPECT_EQ(indices_of(*log), indices_between(0, 13));
  EXPECT_FALSE(log->complete);
  EXPECT_FALSE(report.interrupted);
}

TEST_F(SessionRun, CpiWhoseWriterFailsAtTheVeryEndIsThrownAwayThoughTheBackendIsDone) {
  source.late_error_at = 13;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake: checksum of CPI 13 is wrong");
  EXPECT_EQ(indices_of(*log), indices_between(0, 13));
  EXPECT_EQ(report.statistics.cpis_in, 14u);
  EXPECT_EQ(report.statistics.dropped[DropCause::abandoned], 1u);
}

TEST_F(SessionRun, ExceptionOfTheSourceIsAnError) {
  source.throw_at = 3;
  const auto log = add_sink();
  const SessionReport report = run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "fake: library failed");
  EXPECT_EQ(log->results.size(), 3u);
}

TEST_F(SessionRun, AbandonedWritesAreCountedOnceAndNeverReachASink) {
  source.cpi_count = 60;
  source.segments = 4;
  source.segment_delay = microseconds(50);
  source.abandoned = {0, 5, 6, 30, 59};
  backend.max_delay = microseconds(200);
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.statistics.cpis_in, 60u);
  EXPECT_EQ(report.statistics.dropped[DropCause::abandoned], 5u);
  EXPECT_EQ(report.statistics.dropped.total(), 5u);
  EXPECT_FALSE(report.first_cpi_error);
  for (const SinkLog::Result& result : log->results) EXPECT_EQ(source.abandoned.count(result.index), 0u);
}

TEST_F(SessionRun, CpisThatTheSourceLostAreCountedAsMissed) {
  source.cpi_count = 30;
  source.skipped = {4, 5, 6, 20};
  source.unpublished = {10};  // given up before its first segment: the next index tells
  add_sink();
  const SessionReport report = run();
  EXPECT_EQ(report.statistics.cpis_in, 30u);
  EXPECT_EQ(report.statistics.dropped[DropCause::missed], 5u);
  EXPECT_EQ(report.statistics.processed, 25u);
}

TEST_F(SessionRun, CpiIsProcessedWhileItsSegmentsArrive) {
  source.cpi_count = 12;
  source.segments = 4;
  source.segment_delay = microseconds(500);
  std::size_t early = 0;
  options.raw_tap = [&](const ReadLease& lease) { early += !lease->has_segment(3); };
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_EQ(indices_of(*log), indices_between(0, 12));
  EXPECT_GT(early, 0u);
  // From the first segment to the result: three segments' delays at the least.
  EXPECT_GT(report.statistics.latency_p50_s, 1.5e-3 * 0.97);
}

TEST_F(SessionRun, ResultPoolExhaustionIsBackPressureAndCounted) {
  source.cpi_count = 40;
  backend.result_slots = 1;
  const auto log = add_sink({.accept_time = microseconds(300)}, SinkPolicy::lossless, 16);
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_GT(report.statistics.result_waits, 0u);
  EXPECT_EQ(indices_of(*log), indices_between(0, 40));
}

TEST_F(SessionRun, RecorderMayHoldSharedLeases) {
  source.cpi_count = 40;
  options.ring_slots = 8;
  std::deque<ReadLease> recorder;
  options.raw_tap = [&](const ReadLease& lease) {
    recorder.push_back(lease.share());
    const std::byte wanted = fill_byte(recorder.front()->cpi.header.index);
    EXPECT_EQ(recorder.front()->cpi.segments[0].bytes[17], wanted);
    if (recorder.size() > 5) recorder.pop_front();
    if (lease->cpi.header.index == 39) recorder.clear();
  };
  const auto log = add_sink();
  run();
  EXPECT_EQ(indices_of(*log), indices_between(0, 40));
}

TEST_F(SessionRun, RunEndsWhenARecorderGivesItsLastLeaseBack) {
  ReadLease kept;
  options.raw_tap = [&](const ReadLease& lease) {
    if (lease->cpi.header.index == 19) kept = lease.share();
  };
  make_session();
  std::jthread recorder([&] {
    while (session_->statistics().processed < 20) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(kept->cpi.segments[0].bytes[0], fill_byte(19));
    kept.release();
  });
  EXPECT_EQ(run().statistics.processed, 20u);
}

TEST_F(SessionRun, LiveSourceDropsTheOldestAndNeverWaitsForTheChain) {
  source.cpi_count = 200;
  source.live = true;
  backend.threads = 1;
  backend.max_in_flight = 2;
  backend.max_delay = microseconds(2000);
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.statistics.cpis_in, 200u);
  EXPECT_GT(report.statistics.dropped[DropCause::overrun], 100u);
  EXPECT_EQ(report.statistics.dropped.total(), report.statistics.dropped[DropCause::overrun]);
  ASSERT_FALSE(log->results.empty());
  EXPECT_EQ(log->results.back().index, 199u);  // the newest survives
}

TEST_F(SessionRun, SteadyStateOfSourceAndPipelineAllocatesNothing) {
  source.cpi_count = 300;
  std::vector<std::uint64_t> source_counts(300);
  std::vector<std::uint64_t> pipeline_counts(300);
  source.before_fill = [&](std::uint64_t index) { source_counts[index] = allocations_of_this_thread(); };
  options.raw_tap = [&](const ReadLease& lease) {
    pipeline_counts[lease->cpi.header.index] = allocations_of_this_thread();
  };
  add_sink();
  run();
  EXPECT_EQ(source_counts[299], source_counts[50]);
  EXPECT_EQ(pipeline_counts[299], pipeline_counts[50]);
}

}  // namespace
}  // namespace cornerturn::testing
