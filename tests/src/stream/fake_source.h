#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "dsp/chain/write_lease.h"
#include "src/capture/capture_source.h"
#include "tests/src/stream/fake_backend.h"

namespace cornerturn::testing {

struct FakeSourceOptions {
  std::size_t cpi_count = 20;
  bool live = false;
  std::size_t segments = 1;
  std::chrono::microseconds segment_delay{0};  ///< before each segment
  std::uint64_t stall_at = UINT64_MAX;         ///< waits in this CPI, after its first segment, until request_stop
  std::uint64_t error_at = UINT64_MAX;
  std::uint64_t late_error_at = UINT64_MAX;  ///< when all segments of this CPI are published
  std::uint64_t throw_at = UINT64_MAX;
  std::set<std::uint64_t> abandoned;               ///< given up after the first segment
  std::set<std::uint64_t> unpublished;             ///< given up before the first segment
  std::set<std::uint64_t> skipped;                 ///< lost before they reach the source
  std::function<void(std::uint64_t)> before_fill;  ///< on the source's thread
};

/// CPIs of 256 bytes; every byte of CPI i is fill_byte(i).
class FakeSource final : public CaptureSource {
 public:
  static constexpr std::size_t kSlotBytes = 256;

  explicit FakeSource(FakeSourceOptions options) : options_(std::move(options)) {
    info_.path = "fake";
    info_.format = "fake";
    info_.shape = {1, 4, 16};
    info_.slot_bytes = kSlotBytes;
    info_.cpi_count = options_.live ? 0 : options_.cpi_count;
    info_.cpi_period_s = 0.5;
    info_.live = options_.live;
  }

  const CaptureInfo& info() const override { return info_; }

  Expected<Fill> fill(WriteLease& slot) override {
    while (options_.skipped.count(next_) != 0) ++next_;
    if (next_ >= options_.cpi_count) return Fill::end;
    const std::uint64_t index = next_++;
    if (options_.before_fill) options_.before_fill(index);
    if (index == options_.error_at) return input_error("fake", "broken at CPI " + std::to_string(index));
    if (index == options_.throw_at) throw std::runtime_error("library failed");
    if (options_.unpublished.count(index) != 0) return Fill::filled;

    slot.header().index = index;
    slot.header().start_time_s = static_cast<double>(index) * info_.cpi_period_s;
    slot.set_segment_count(options_.segments);
    const std::size_t bytes = kSlotBytes / options_.segments;
    const std::size_t pulses = std::max<std::size_t>(info_.shape.pulse_count / options_.segments, 1);
    for (std::size_t i = 0; i < options_.segments; ++i) {
      if (!pause(options_.segment_delay)) return Fill::end;
      const auto part = slot.memory().subspan(i * bytes, bytes);
      std::fill(part.begin(), part.end(), fill_byte(index));
      slot.publish_segment({part, i * pulses, pulses});
      if (options_.abandoned.count(index) != 0) return Fill::filled;
      if (index == options_.stall_at) {
        pause(std::chrono::hours(1));
        return Fill::end;
      }
    }
    if (index == options_.late_error_at) {
      pause(std::chrono::milliseconds(5));  // so that the backend is done with it before
      return input_error("fake", "checksum of CPI " + std::to_string(index) + " is wrong");
    }
    return Fill::filled;
  }

  Expected<void> seek(std::size_t cpi_index) override {
    if (options_.live || cpi_index >= options_.cpi_count) return usage_error("fake", "no such CPI");
    next_ = cpi_index;
    return {};
  }

  void request_stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  /// False when stopped before.
  bool pause(std::chrono::microseconds time) {
    if (time.count() == 0) return true;
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [&] { return stopped_; });
  }

  const FakeSourceOptions options_;
  CaptureInfo info_;
  std::uint64_t next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace cornerturn::testing
