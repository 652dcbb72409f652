#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "src/stream/session.h"
#include "tests/src/stream/fake_sink.h"
#include "tests/src/stream/fake_source.h"

namespace cornerturn::testing {

/// A session of fakes. Whatever a test does: in = processed + dropped, nothing leaks, no slot is torn, results come in
/// order, each sink sees them on one thread and is finished once.
class StreamTest : public ::testing::Test {
 public:
  std::shared_ptr<SinkLog> add_sink(FakeSinkOptions sink = {}, SinkPolicy policy = SinkPolicy::lossless,
                                    std::size_t queue_capacity = 4) {
    auto log = std::make_shared<SinkLog>();
    sinks_.push_back({std::make_unique<FakeSink>(std::move(sink), log), policy, queue_capacity});
    logs_.push_back(log);
    return log;
  }

  StreamConfiguration configuration(double pfa = 1e-6) const {
    StreamConfiguration configuration;
    configuration.chain.cfar.pfa = pfa;
    configuration.make_backend = fake_factory(backend, ledger);
    return configuration;
  }

  Session& make_session() {
    session_ = std::make_unique<Session>(std::make_unique<FakeSource>(source), configuration(), std::move(sinks_),
                                         std::move(options));
    return *session_;
  }

  SessionReport run() {
    if (!session_) make_session();
    SessionReport report = session_->run();
    check(report);
    return report;
  }

  /// Before a test makes another session.
  void forget_sinks() {
    sinks_.clear();
    logs_.clear();
  }

  void check(const SessionReport& report) {
    const StatisticsSnapshot& s = report.statistics;
    EXPECT_EQ(s.cpis_in, s.processed + s.dropped.total());
    EXPECT_EQ(s.in_flight, 0u);
    EXPECT_TRUE(ledger->is_clear()) << ledger->slots << " slots, " << ledger->results << " results, "
                                    << ledger->backends << " backends left, " << ledger->torn << " torn";
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      const SinkLog& log = *logs_[i];
      EXPECT_TRUE(log.one_thread);
      EXPECT_EQ(log.finished, log.begun.empty() ? 0 : 1);
      if (i < s.sinks.size()) {
        EXPECT_EQ(s.sinks[i].accepted, log.results.size());
        EXPECT_LE(s.sinks[i].accepted + s.sinks[i].skipped, s.processed);
        EXPECT_EQ(s.sinks[i].queued, 0u);
      }
      for (std::size_t k = 0; k < log.results.size(); ++k) {
        const SinkLog::Result& result = log.results[k];
        EXPECT_EQ(result.byte, static_cast<double>(fill_byte(result.index)));
        EXPECT_EQ(result.version, log.begun_at_result[k]);
        if (k > 0) {
          EXPECT_GT(result.index, log.results[k - 1].index);
          EXPECT_GE(result.version, log.results[k - 1].version);
        }
      }
    }
  }

  FakeSourceOptions source;
  FakeBackendOptions backend;
  SessionOptions options;
  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();

 protected:
  std::unique_ptr<Session> session_;

 private:
  std::vector<SinkSetup> sinks_;
  std::vector<std::shared_ptr<SinkLog>> logs_;
};

inline std::vector<std::uint64_t> indices_of(const SinkLog& log) {
  std::vector<std::uint64_t> indices;
  for (const SinkLog::Result& result : log.results) indices.push_back(result.index);
  return indices;
}

inline std::vector<std::uint64_t> indices_between(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = begin; i < end; ++i) indices.push_back(i);
  return indices;
}

}  // namespace cornerturn::testing
