#include "src/stream/sink_runner.h"

#include <algorithm>
#include <utility>

#include "src/stream/guarded.h"

namespace cornerturn {

SinkRunner::SinkRunner(SinkSetup setup, std::shared_ptr<const RunDescription> run, OnError on_error)
    : setup_(std::move(setup)), on_error_(std::move(on_error)), current_run_(std::move(run)) {
  setup_.queue_capacity = std::max<std::size_t>(setup_.queue_capacity, 1);
  queue_.reserve(setup_.queue_capacity);
  statistics_.name = setup_.sink->name();
  statistics_.queue_capacity = setup_.queue_capacity;
  thread_ = std::jthread([this] { work(); });
}

SinkRunner::~SinkRunner() { finish(false); }

bool SinkRunner::wait_until_begun() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return begin_tried_; });
  return begun_;
}

void SinkRunner::push(const std::shared_ptr<const RunDescription>& run, ResultLease result) {
  Entry skipped;  // its lease ends after the lock does
  std::unique_lock lock(mutex_);
  const auto has_room = [&] { return queue_.size() < setup_.queue_capacity || failed_; };
  if (setup_.policy == SinkPolicy::lossless && !has_room()) {
    ++statistics_.waits;
    changed_.wait(lock, has_room);
  }
  if (failed_ || (setup_.policy == SinkPolicy::skip_newest && !has_room())) {
    ++statistics_.skipped;
    return;
  }
  if (!has_room()) {
    skipped = std::move(queue_.front());
    queue_.erase(queue_.begin());
    ++statistics_.skipped;
  }
  queue_.push_back({run, std::move(result)});
  changed_.notify_all();
}

void SinkRunner::finish(bool complete) {
  {
    const std::lock_guard lock(mutex_);
    if (!finishing_) complete_ = complete;
    finishing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::optional<std::uint32_t> SinkRunner::oldest_version_held() const {
  const std::lock_guard lock(mutex_);
  if (accepting_) return current_run_->configuration_version;
  if (queue_.empty()) return std::nullopt;
  return queue_.front().run->configuration_version;
}

SinkStatistics SinkRunner::statistics() const {
  const std::lock_guard lock(mutex_);
  SinkStatistics statistics = statistics_;
  statistics.queued = queue_.size();
  return statistics;
}

void SinkRunner::work() {
  ResultSink& sink = *setup_.sink;
  const bool begun = begin(current_run_);
  {
    const std::lock_guard lock(mutex_);
    begun_ = begun;
    begin_tried_ = true;
    changed_.notify_all();
  }
  if (!begun) return;

  for (;;) {
    Entry entry;
    bool new_version = false;
    {
      std::unique_lock lock(mutex_);
      accepting_ = false;
      changed_.wait(lock, [&] { return !queue_.empty() || finishing_ || failed_; });
      if (failed_ || queue_.empty()) break;
      entry = std::move(queue_.front());
      queue_.erase(queue_.begin());
      accepting_ = true;
      new_version = entry.run != current_run_;
      current_run_ = entry.run;
      changed_.notify_all();
    }
    if (new_version && !begin(entry.run)) continue;
    const Expected<void> accepted = guarded(statistics_.name, [&] { return sink.accept(entry.result->result); });
    entry.result.release();  // before accepting_ says that nothing is held
    if (!accepted) {
      fail(accepted.error());
    } else {
      const std::lock_guard lock(mutex_);
      ++statistics_.accepted;
    }
  }

  bool complete = false;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finishing_; });  // after a failure: the session says when
    complete = complete_ && !failed_;
  }
  const Expected<void> finished = guarded(statistics_.name, [&] { return sink.finish(complete); });
  if (!finished) fail(finished.error());
}

bool SinkRunner::begin(const std::shared_ptr<const RunDescription>& run) {
  const Expected<void> begun = guarded(statistics_.name, [&] { return setup_.sink->begin(*run); });
  if (!begun) fail(begun.error());
  return begun.has_value();
}

void SinkRunner::fail(const Error& error) {
  std::vector<Entry> discarded;
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    failed_ = true;
    statistics_.skipped += queue_.size();
    discarded.swap(queue_);
    changed_.notify_all();
  }
  discarded.clear();  // leases end outside the lock
  on_error_(error);
}

}  // namespace cornerturn
