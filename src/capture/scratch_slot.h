#pragma once

#include <cstddef>

#include "dsp/chain/write_lease.h"
#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {

/// One slot without a ring, for work that reads a capture CPI by CPI by itself (inspect, convert, tests).
/// Threads: one.
class ScratchSlot final : private WriteSlotOwner {
 public:
  explicit ScratchSlot(std::size_t bytes) : buffer_(bytes) { slot_.memory.host = buffer_.span(); }
  ScratchSlot(const ScratchSlot&) = delete;
  ScratchSlot& operator=(const ScratchSlot&) = delete;
  ~ScratchSlot() = default;

  /// Starts the next CPI; what the slot held is gone.
  WriteLease write() {
    slot_.cpi = RawCpi{};
    slot_.cpi.segments.resize(1);
    slot_.set_write_state(0);
    return WriteLease(slot_, *this);
  }
  const RawCpi& cpi() const { return slot_.cpi; }

 private:
  void publish(RawSlot&) noexcept override {}
  void finish_write(RawSlot&, bool) noexcept override {}
  void recycle(RawSlot&) noexcept override {}

  AlignedBuffer<std::byte> buffer_;
  RawSlot slot_;
};

}  // namespace cornerturn
