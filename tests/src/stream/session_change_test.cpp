#include <atomic>
#include <thread>

#include "tests/src/stream/stream_fixture.h"

namespace cornerturn::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class SessionChange : public StreamTest {};

TEST_F(SessionChange, ReconfigurationLosesNoCpiAndBeginsANewVersion) {
  source.cpi_count = 400;
  backend.max_delay = microseconds(200);
  source.before_fill = [&](std::uint64_t index) {
    if (index == 100) {
      EXPECT_TRUE(session_->reconfigure(configuration(1e-3)));
    }
  };
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(indices_of(*log), indices_between(0, 400));
  EXPECT_EQ(log->begun, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(report.statistics.configuration_version, 2u);
  for (const SinkLog::Result& result : log->results) {
    EXPECT_EQ(result.version, result.index <= 100 ? 1u : 2u);  // asked for while CPI 100 was being filled
    EXPECT_EQ(result.pfa, result.version == 1 ? 1e-6 : 1e-3);
  }
  EXPECT_EQ(report.stage_times[0].seconds, 2.0);  // of both versions
}

TEST_F(SessionChange, ManyReconfigurationsFromAnotherThreadLoseNothing) {
  source.cpi_count = 1000;
  source.segments = 2;
  backend.max_delay = microseconds(100);
  const auto slow = add_sink({.accept_time = microseconds(20)}, SinkPolicy::lossless, 8);
  const auto view = add_sink({.accept_time = microseconds(3000)}, SinkPolicy::skip_oldest, 2);
  make_session();
  std::jthread user([&] {
    for (int i = 0; i < 60; ++i) {
      std::this_thread::sleep_for(microseconds(500));
      if (!session_->reconfigure(configuration(1e-4))) return;
    }
  });
  const SessionReport report = run();
  user.join();
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(indices_of(*slow), indices_between(0, 1000));
  EXPECT_GE(report.statistics.configuration_version, 3u);
  EXPECT_TRUE(ledger->is_clear());
}

TEST_F(SessionChange, ReconfigurationThatWaitsIsReplacedByALaterOne) {
  source.cpi_count = 50;
  source.before_fill = [&](std::uint64_t index) {
    if (index != 10) return;
    EXPECT_TRUE(session_->reconfigure(configuration(1e-2)));
    EXPECT_TRUE(session_->reconfigure(configuration(1e-3)));
  };
  const auto log = add_sink();
  run();
  EXPECT_EQ(log->begun, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(log->results.back().pfa, 1e-3);
}

TEST_F(SessionChange, FailingReconfigurationLeavesTheRunAsItWas) {
  source.before_fill = [&](std::uint64_t index) {
    if (index != 5) return;
    StreamConfiguration broken = configuration();
    broken.make_backend = [](const auto&, const auto&, std::size_t) -> Expected<std::unique_ptr<Backend>> {
      return usage_error("cfar.pfa", "is 2");
    };
    const Expected<void> changed = session_->reconfigure(broken);
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().kind, ErrorKind::usage);
  };
  const auto log = add_sink();
  EXPECT_TRUE(run().complete());
  EXPECT_EQ(log->begun, std::vector<std::uint32_t>{1});
  EXPECT_EQ(log->results.size(), 20u);
}

TEST_F(SessionChange, ReconfigurationBehindTheEndIsRefused) {
  run();
  EXPECT_FALSE(session_->reconfigure(configuration()));
  EXPECT_TRUE(ledger->is_clear());
}

TEST_F(SessionChange, SinkThatCannotBeginTheNewVersionEndsTheRun) {
  source.cpi_count = 3000;
  source.before_fill = [&](std::uint64_t index) {
    if (index == 10) {
      EXPECT_TRUE(session_->reconfigure(configuration()));
    }
  };
  struct OnceSink final : ResultSink {
    std::string name() const override { return "once"; }
    Expected<void> begin(const RunDescription& run) override {
      if (run.configuration_version > 1) return runtime_error("once", "no second version");
      return {};
    }
    Expected<void> accept(const CpiResult&) override { return {}; }
    Expected<void> finish(bool) override { return {}; }
  };
  std::vector<SinkSetup> sinks;
  sinks.push_back({std::make_unique<OnceSink>(), SinkPolicy::lossless, 4});
  session_ = std::make_unique<Session>(std::make_unique<FakeSource>(source), configuration(), std::move(sinks));
  const SessionReport report = session_->run();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message(), "once: no second version");
  EXPECT_EQ(report.statistics.cpis_in, report.statistics.processed + report.statistics.dropped.total());
  EXPECT_TRUE(ledger->is_clear());
}

TEST_F(SessionChange, LightParametersChangePerCpiWithoutANewPipeline) {
  source.cpi_count = 300;
  options.raw_tap = [&](const ReadLease& lease) {
    // On the pipeline's thread just before CPI 150 is enqueued: holds from that CPI on.
    if (lease->cpi.header.index == 150) session_->set_light({.pfa = 1e-2});
  };
  const auto log = add_sink();
  const SessionReport report = run();
  EXPECT_EQ(report.statistics.configuration_version, 1u);
  EXPECT_EQ(log->begun, std::vector<std::uint32_t>{1});
  for (const SinkLog::Result& result : log->results) EXPECT_EQ(result.pfa, result.index < 150 ? 1e-6 : 1e-2);
}

TEST_F(SessionChange, RecorderThatHoldsASlotOfAnOldVersionDoesNotHoldTheNewOne) {
  source.cpi_count = 60;
  source.before_fill = [&](std::uint64_t index) {
    if (index == 5) {
      EXPECT_TRUE(session_->reconfigure(configuration()));
    }
  };
  ReadLease kept;
  options.raw_tap = [&](const ReadLease& lease) {
    if (lease->cpi.header.index == 0) kept = lease.share();
  };
  const auto log = add_sink();
  make_session();
  std::uint64_t processed_meanwhile = 0;
  std::jthread recorder([&] {
    for (int i = 0; i < 2000 && processed_meanwhile < 60; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
      processed_meanwhile = session_->statistics().processed;
    }
    kept.release();
  });
  run();
  recorder.join();
  EXPECT_EQ(processed_meanwhile, 60u);
  EXPECT_EQ(log->begun, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(SessionChange, SlowSinkKeepsAnOldVersionAliveUntilItsResultsAreTaken) {
  source.cpi_count = 60;
  std::atomic<int> backends_at_first{0};
  source.before_fill = [&](std::uint64_t index) {
    if (index == 5) {
      EXPECT_TRUE(session_->reconfigure(configuration()));
    }
  };
  std::atomic<bool> later{false};
  options.raw_tap = [&](const ReadLease& lease) { later = lease->cpi.header.index > 20; };
  add_sink({.on_accept =
                [&](const CpiResult& result) {
                  if (result.header.index != 0) return;
                  for (int i = 0; i < 2000 && !later; ++i) std::this_thread::sleep_for(milliseconds(1));
                  backends_at_first = ledger->backends.load();
                }},
           SinkPolicy::lossless, 40);
  run();
  EXPECT_EQ(backends_at_first, 2);
}

}  // namespace
}  // namespace cornerturn::testing
