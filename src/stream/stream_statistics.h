#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/stream/latency_histogram.h"

namespace cornerturn {

using StreamClock = std::chrono::steady_clock;

/// Why a CPI that came in has no result.
enum class DropCause {
  overrun,    ///< live source: the oldest unread CPI gave way to a new one
  abandoned,  ///< its writer ended before it was whole
  failed,     ///< the backend reported an error for it
  stopped,    ///< the run was stopped before it was processed
  missed,     ///< the source itself skipped it: its index jumps (lost packets, no free slot in time)
};
inline constexpr std::size_t kDropCauseCount = 5;
std::string_view to_string(DropCause cause);

struct DropCounts {
  std::array<std::uint64_t, kDropCauseCount> by_cause{};

  std::uint64_t operator[](DropCause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
  std::uint64_t total() const;
};

/// What one sink has done.
struct SinkStatistics {
  std::string name;
  std::uint64_t accepted = 0;
  std::uint64_t skipped = 0;  ///< lossy queue was full, or the sink had failed
  std::uint64_t waits = 0;    ///< times that the chain had to wait for a lossless sink
  std::size_t queued = 0;
  std::size_t queue_capacity = 0;
};

/// State of a stream at one moment.
/// Always: cpis_in >= processed + dropped.total(); after the end they are equal.
struct StatisticsSnapshot {
  std::uint64_t cpis_in = 0;  ///< first segment published, or missed
  std::uint64_t processed = 0;
  DropCounts dropped;

  double elapsed_s = 0.0;  ///< from the first CPI in to the latest result
  double cpis_per_s = 0.0;
  double samples_per_s = 0.0;  ///< complex (or real) samples of processed CPIs
  double gigabytes_per_s = 0.0;

  double latency_p50_s = 0.0;  ///< from the first segment published to the result retired in order
  double latency_p99_s = 0.0;
  double latency_max_s = 0.0;

  std::uint32_t configuration_version = 0;
  std::size_t ring_slots = 0;
  std::size_t ring_occupied = 0;
  std::size_t in_flight = 0;
  std::uint64_t result_waits = 0;  ///< times that the backend waited for a free result slot
  std::vector<SinkStatistics> sinks;
};

/// Counts what happens to CPIs. Cheap (one short lock per event), allocates only in snapshot().
/// Threads: any.
class StreamStatistics {
 public:
  /// Sizes of a CPI, for the rates.
  StreamStatistics(std::uint64_t samples_per_cpi, std::uint64_t bytes_per_cpi);

  void count_in(StreamClock::time_point when);
  void count_dropped(DropCause cause, std::uint64_t count = 1);
  /// CPIs that never reached the ring: in and dropped at once.
  void count_missed(std::uint64_t count);
  void count_processed(StreamClock::time_point published, StreamClock::time_point retired);

  struct Gauges {
    std::uint32_t configuration_version = 0;
    std::size_t ring_slots = 0;
    std::size_t ring_occupied = 0;
    std::size_t in_flight = 0;
    std::uint64_t result_waits = 0;
  };
  void set_gauges(const Gauges& gauges);

  /// Everything but the sinks.
  StatisticsSnapshot snapshot() const;

 private:
  const std::uint64_t samples_per_cpi_;
  const std::uint64_t bytes_per_cpi_;

  mutable std::mutex mutex_;
  std::uint64_t cpis_in_ = 0;
  std::uint64_t processed_ = 0;
  DropCounts dropped_;
  LatencyHistogram latency_;
  StreamClock::time_point first_in_{};
  StreamClock::time_point last_retired_{};
  Gauges gauges_;
};

}  // namespace cornerturn
