#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "dsp/chain/lease.h"
#include "src/result/result_sink.h"
#include "src/stream/stream_statistics.h"

namespace cornerturn {

/// What happens to a result when a sink's queue is full.
enum class SinkPolicy {
  lossless,     ///< the chain waits: files. An error of the sink ends the run
  skip_oldest,  ///< the oldest queued result gives way: live views. An error disables the sink and is reported
  skip_newest,  ///< the new result is skipped: samplers that must finish what they have begun
};

/// A sink and how it is fed.
struct SinkSetup {
  std::unique_ptr<ResultSink> sink;
  SinkPolicy policy = SinkPolicy::lossless;
  std::size_t queue_capacity = 4;  ///< results; at least 1
};

/// Runs one sink on a thread of its own behind a bounded queue, so that no sink holds the chain beyond its queue and
/// HDF5's lock is never taken by the chain. Results reach the sink in order, after begin() of their version.
/// Threads: push and the rest by the session's threads; the sink by its own thread alone.
class SinkRunner {
 public:
  using OnError = std::function<void(const Error&)>;
  /// `on_error` is called once at most, on the sink's thread.
  SinkRunner(SinkSetup setup, std::shared_ptr<const RunDescription> run, OnError on_error);
  /// As finish(false), unless finished.
  ~SinkRunner();

  /// Blocks until the sink has begun. False: it could not.
  bool wait_until_begun();
  /// Hands over a result; waits only when lossless and full.
  void push(const std::shared_ptr<const RunDescription>& run, ResultLease result);
  /// Works off the queue, finishes the sink and ends the thread.
  void finish(bool complete);

  /// The oldest configuration version of which a result is still held.
  std::optional<std::uint32_t> oldest_version_held() const;
  SinkPolicy policy() const { return setup_.policy; }
  SinkStatistics statistics() const;

 private:
  struct Entry {
    std::shared_ptr<const RunDescription> run;
    ResultLease result;
  };

  void work();
  bool begin(const std::shared_ptr<const RunDescription>& run);
  void fail(const Error& error);

  SinkSetup setup_;
  const OnError on_error_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> queue_;  // oldest first
  std::shared_ptr<const RunDescription> current_run_;
  bool begun_ = false;
  bool begin_tried_ = false;
  bool failed_ = false;
  bool accepting_ = false;
  bool finishing_ = false;
  bool complete_ = false;
  SinkStatistics statistics_;

  std::jthread thread_;  // last: joined before the rest dies
};

}  // namespace cornerturn
