#include "src/stream/pipeline.h"

#include <algorithm>
#include <utility>

namespace cornerturn {
namespace {

// With CPIs in flight and the ring empty, whichever comes first counts: a new CPI wakes the thread, a completed one is
// looked for at intervals that grow with the time waited, so that looking costs little and adds at most 1/16 to the
// latency (but for the resolution of the system's timer).
class LookInterval {
 public:
  void restart() { since_ = StreamClock::now(); }
  std::chrono::nanoseconds next() const {
    const std::chrono::nanoseconds waited = StreamClock::now() - since_;
    return std::clamp<std::chrono::nanoseconds>(waited / 16, std::chrono::microseconds(20),
                                                std::chrono::milliseconds(2));
  }

 private:
  StreamClock::time_point since_ = StreamClock::now();
};

}  // namespace

Pipeline::Pipeline(Setup setup, StreamStatistics& statistics)
    : backend_(std::move(setup.backend)),
      statistics_(statistics),
      ring_(backend_->input_allocator(),
            {setup.slot_count > 0 ? setup.slot_count : backend_->max_in_flight() + 2, setup.slot_bytes}, statistics),
      request_{setup.products, setup.light} {
  in_flight_.reserve(backend_->max_in_flight());
}

void Pipeline::begin_version(RunDescription run, std::uint32_t version) {
  run.configuration_version = version;
  run_ = std::make_shared<const RunDescription>(std::move(run));
  version_ = version;
  ring_.set_configuration_version(version);
}

void Pipeline::set_light(const LightParameters& light) {
  const std::lock_guard lock(light_mutex_);
  request_.light = light;
}

void Pipeline::drain(const Callbacks& callbacks) {
  LookInterval look;
  for (;;) {
    while (!in_flight_.empty() && backend_->is_done(in_flight_.front().ticket)) {
      retire_oldest(callbacks);
      look.restart();
    }
    if (in_flight_.size() >= backend_->max_in_flight()) {
      retire_oldest(callbacks);
      look.restart();
      continue;
    }
    CpiRing::Claim claim = in_flight_.empty() ? ring_.acquire_read() : ring_.acquire_read_for(look.next());
    if (claim.status == CpiRing::ReadStatus::claimed) {
      start(std::move(claim), callbacks);
      look.restart();
    } else if (claim.status == CpiRing::ReadStatus::ended) {
      while (!in_flight_.empty()) retire_oldest(callbacks);
      return;
    }
  }
}

void Pipeline::start(CpiRing::Claim claim, const Callbacks& callbacks) {
  in_flight_.push_back({{}, claim.sequence, claim.published, false});
  if (callbacks.raw) callbacks.raw(claim.lease);
  CpiRequest request;
  {
    const std::lock_guard lock(light_mutex_);
    request = request_;
  }
  in_flight_.back().ticket = backend_->enqueue(std::move(claim.lease), request);
  in_flight_.back().enqueued = true;
  update_gauges();
}

void Pipeline::retire_oldest(const Callbacks& callbacks) {
  in_flight_.front().enqueued = false;  // if wait throws, it has still been waited for
  const InFlight oldest = in_flight_.front();
  Expected<ResultLease> result = backend_->wait(oldest.ticket);
  const bool committed = ring_.settle(oldest.sequence);
  in_flight_.erase(in_flight_.begin());
  if (committed && result) {
    statistics_.count_processed(oldest.published, StreamClock::now());
    (*result)->result.header.configuration_version = version_;
    update_gauges();
    callbacks.result(std::move(*result));
  } else {
    if (committed) {
      statistics_.count_dropped(DropCause::failed);
      callbacks.cpi_error(result.error());
    }  // else the ring has counted it
    update_gauges();
  }
}

void Pipeline::fail_in_flight() noexcept {
  for (const InFlight& entry : in_flight_) {
    if (entry.enqueued) {
      try {
        backend_->wait(entry.ticket);
      } catch (...) {  // NOLINT(bugprone-empty-catch): the exception that led here is the one that is reported
      }
    }
    if (ring_.settle(entry.sequence)) statistics_.count_dropped(DropCause::failed);
  }
  in_flight_.clear();
  update_gauges();
}

void Pipeline::update_gauges() {
  statistics_.set_gauges({version_, ring_.slot_count(), ring_.slot_count() - ring_.free_count(), in_flight_.size(),
                          backend_->result_waits()});
}

}  // namespace cornerturn
