#include <algorithm>

#include "src/stream/guarded.h"
#include "src/stream/session.h"

namespace cornerturn {

// The source's thread: fills the ring of the newest version.

void Session::source_loop() {
  const Expected<bool> complete = guarded(info_.path, [&] { return fill_ring(); });
  const std::lock_guard lock(mutex_);
  source_complete_ = complete && *complete;
  // What has come in before an error is processed all the same. A source that was told to stop may say so by an error.
  const bool stopped = !complete && stopping_ && complete.error().kind == ErrorKind::interrupted;
  if (!complete && !stopped && !error_) error_ = complete.error();
  pipelines_.back()->ring().close();
}

// True: the source's end, or the wanted number of CPIs. False: stopped before.
Expected<bool> Session::fill_ring() {
  const WritePolicy policy = info_.live ? WritePolicy::drop_oldest : WritePolicy::block;
  std::optional<std::uint64_t> previous_index;
  for (std::size_t written = 0; options_.cpi_count == 0 || written < options_.cpi_count; ++written) {
    if (stop_requested_.load(std::memory_order_relaxed)) return false;
    Pipeline* pipeline = pipeline_for_next_cpi();
    if (pipeline == nullptr) return false;
    WriteLease slot = pipeline->ring().acquire_write(policy);
    if (!slot) return false;

    const Expected<CaptureSource::Fill> filled = source_->fill(slot);
    if (!filled) return unexpected(filled.error());
    if (*filled == CaptureSource::Fill::end) {
      const std::lock_guard lock(mutex_);
      return !stopping_;  // a source that was told to stop says end as well
    }

    if (slot.published_segments() > 0) {
      const std::uint64_t index = slot.header().index;
      if (previous_index && index > *previous_index + 1) statistics_.count_missed(index - *previous_index - 1);
      previous_index = index;
    }
    if (slot.is_whole()) slot.commit();
  }
  return true;
}

Pipeline* Session::pipeline_for_next_cpi() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return nullptr;
  // One change at a time: no more than two rings are filled and drained, whatever the number of reconfigurations.
  if (pending_ && pipelines_.size() == 1) {
    pending_->pipeline->begin_version(std::move(pending_->run), ++last_version_);
    pipelines_.push_back(std::move(pending_->pipeline));
    pending_.reset();
    pipelines_.front()->ring().close();  // after the next one is there for the pipeline's thread to find
  }
  return pipelines_.back().get();
}

// The pipeline's thread: drains one version after the other.

void Session::pipeline_loop() {
  Pipeline* pipeline = nullptr;
  {
    const std::lock_guard lock(mutex_);
    pipeline = pipelines_.front().get();
  }
  while (pipeline != nullptr) {
    Pipeline::Callbacks callbacks;
    callbacks.raw = options_.raw_tap;
    callbacks.result = [&](const ResultLease& result) { deliver(*pipeline, result); };
    callbacks.cpi_error = [&](const Error& error) {
      const std::lock_guard lock(mutex_);
      if (!first_cpi_error_) first_cpi_error_ = error;
    };
    const Expected<void> drained = guarded("backend " + pipeline->backend().info().name, [&]() -> Expected<void> {
      pipeline->drain(callbacks);
      return {};
    });
    if (!drained) {
      end_with(drained.error());  // first: what is in flight may wait for segments, and so for the source
      pipeline->fail_in_flight();
    }
    collect(*pipeline);
    pipeline = next_to_drain();
    release_drained();
  }
  const std::lock_guard lock(mutex_);
  pipeline_done_ = true;
  changed_.notify_all();
}

Pipeline* Session::next_to_drain() {
  const std::lock_guard lock(mutex_);
  ++drained_count_;
  return drained_count_ < pipelines_.size() ? pipelines_[drained_count_].get() : nullptr;
}

void Session::deliver(const Pipeline& pipeline, const ResultLease& result) {
  for (const auto& runner : runners_) runner->push(pipeline.run(), result.share());
  release_drained();
}

// An old version dies when no sink holds a result and nobody a slot of it: its backend owns both.
void Session::release_drained() {
  std::unique_ptr<Pipeline> released;  // dies after the lock is given back
  const std::lock_guard lock(mutex_);
  if (drained_count_ == 0 || pipelines_.size() < 2) return;
  Pipeline& oldest = *pipelines_.front();
  const auto holds = [&](const auto& runner) { return runner->oldest_version_held() == oldest.version(); };
  if (std::any_of(runners_.begin(), runners_.end(), holds)) return;
  if (oldest.ring().free_count() != oldest.ring().slot_count()) return;
  released = std::move(pipelines_.front());
  pipelines_.pop_front();
  --drained_count_;
}

void Session::collect(const Pipeline& pipeline) {
  const std::vector<StageTime> times = pipeline.backend().stage_times();
  const std::lock_guard lock(mutex_);
  backend_info_ = pipeline.backend().info();
  for (const StageTime& time : times) {
    const auto known = std::find_if(stage_times_.begin(), stage_times_.end(),
                                    [&](const StageTime& stage) { return stage.stage == time.stage; });
    if (known == stage_times_.end()) {
      stage_times_.push_back(time);
    } else {
      known->seconds += time.seconds;
    }
  }
}

}  // namespace cornerturn
