#include "src/stream/stream_statistics.h"

#include <numeric>

namespace cornerturn {
namespace {

double seconds_between(StreamClock::time_point begin, StreamClock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::string_view to_string(DropCause cause) {
  switch (cause) {
    case DropCause::overrun:
      return "overrun";
    case DropCause::abandoned:
      return "abandoned";
    case DropCause::failed:
      return "failed";
    case DropCause::stopped:
      return "stopped";
    case DropCause::missed:
      return "missed";
  }
  return "unknown";
}

std::uint64_t DropCounts::total() const { return std::accumulate(by_cause.begin(), by_cause.end(), std::uint64_t{0}); }

StreamStatistics::StreamStatistics(std::uint64_t samples_per_cpi, std::uint64_t bytes_per_cpi)
    : samples_per_cpi_(samples_per_cpi), bytes_per_cpi_(bytes_per_cpi) {}

void StreamStatistics::count_in(StreamClock::time_point when) {
  const std::lock_guard lock(mutex_);
  if (cpis_in_++ == 0) first_in_ = when;
}

void StreamStatistics::count_dropped(DropCause cause, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  dropped_.by_cause[static_cast<std::size_t>(cause)] += count;
}

void StreamStatistics::count_missed(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  cpis_in_ += count;
  dropped_.by_cause[static_cast<std::size_t>(DropCause::missed)] += count;
}

void StreamStatistics::count_processed(StreamClock::time_point published, StreamClock::time_point retired) {
  const std::lock_guard lock(mutex_);
  ++processed_;
  last_retired_ = retired;
  latency_.add(seconds_between(published, retired));
}

void StreamStatistics::set_gauges(const Gauges& gauges) {
  const std::lock_guard lock(mutex_);
  gauges_ = gauges;
}

StatisticsSnapshot StreamStatistics::snapshot() const {
  StatisticsSnapshot snapshot;
  const std::lock_guard lock(mutex_);
  snapshot.cpis_in = cpis_in_;
  snapshot.processed = processed_;
  snapshot.dropped = dropped_;
  if (processed_ > 0) {
    snapshot.elapsed_s = seconds_between(first_in_, last_retired_);
    if (snapshot.elapsed_s > 0.0) {
      snapshot.cpis_per_s = static_cast<double>(processed_) / snapshot.elapsed_s;
      snapshot.samples_per_s = snapshot.cpis_per_s * static_cast<double>(samples_per_cpi_);
      snapshot.gigabytes_per_s = snapshot.cpis_per_s * static_cast<double>(bytes_per_cpi_) * 1e-9;
    }
  }
  snapshot.latency_p50_s = latency_.quantile_s(0.50);
  snapshot.latency_p99_s = latency_.quantile_s(0.99);
  snapshot.latency_max_s = latency_.max_s();
  snapshot.configuration_version = gauges_.configuration_version;
  snapshot.ring_slots = gauges_.ring_slots;
  snapshot.ring_occupied = gauges_.ring_occupied;
  snapshot.in_flight = gauges_.in_flight;
  snapshot.result_waits = gauges_.result_waits;
  return snapshot;
}

}  // namespace cornerturn
