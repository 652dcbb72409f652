#pragma once

#include <cstddef>
#include <utility>

#include "dsp/chain/lease.h"

namespace cornerturn {

/// The ring's side of a slot that is being written.
class WriteSlotOwner : public SlotOwner<RawSlot> {
 public:
  /// The first segment is there: readers may take the slot from now on.
  virtual void publish(RawSlot& slot) noexcept = 0;
  /// The writer is done with the slot, completely (all segments published) or not (abandoned, counted as dropped).
  virtual void finish_write(RawSlot& slot, bool complete) noexcept = 0;

 protected:
  ~WriteSlotOwner() = default;
};

/// The one right to write a slot. A lease that was not committed is dropped: never half-published data that looks
/// whole. After the last segment is published a reader may have finished with the slot before commit() is called; the
/// CPI still counts only when commit() was called. Threads: one.
class WriteLease {
 public:
  WriteLease() = default;
  WriteLease(RawSlot& slot, WriteSlotOwner& owner) : slot_(&slot), owner_(&owner) {}
  WriteLease(WriteLease&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)), owner_(other.owner_), committed_(other.committed_) {}
  WriteLease& operator=(WriteLease&& other) noexcept {
    if (this != &other) {
      finish();
      slot_ = std::exchange(other.slot_, nullptr);
      owner_ = other.owner_;
      committed_ = other.committed_;
    }
    return *this;
  }
  ~WriteLease() { finish(); }

  explicit operator bool() const { return slot_ != nullptr; }
  std::span<std::byte> memory() const { return slot_->memory.host; }
  /// To be filled before the first segment is published.
  CpiHeader& header() const { return slot_->cpi.header; }
  std::size_t segment_count() const { return slot_->cpi.segments.size(); }
  /// Sets the number of segments (default 1), before the first is published.
  void set_segment_count(std::size_t count) const { slot_->cpi.segments.resize(count); }

  /// Publishes the next segment; its bytes must not change any more.
  void publish_segment(const RawSegment& segment) {
    const std::uint32_t index = slot_->write_state.load(std::memory_order_relaxed);
    CORNERTURN_REQUIRE(index < slot_->cpi.segments.size());
    slot_->cpi.segments[index] = segment;
    slot_->set_write_state(index + 1);
    if (index == 0) owner_->publish(*slot_);
  }

  std::size_t published_segments() const { return slot_->write_state.load(std::memory_order_relaxed); }
  bool is_whole() const { return published_segments() == segment_count(); }

  /// All segments are published and the CPI is whole.
  void commit() {
    CORNERTURN_REQUIRE(is_whole());
    committed_ = true;
    finish();
  }

 private:
  void finish() noexcept {
    RawSlot* slot = std::exchange(slot_, nullptr);
    if (slot == nullptr) return;
    if (!committed_) slot->set_write_state(slot->write_state.load(std::memory_order_relaxed) | RawSlot::kAbandoned);
    owner_->finish_write(*slot, committed_);
  }

  RawSlot* slot_ = nullptr;
  WriteSlotOwner* owner_ = nullptr;
  bool committed_ = false;
};

}  // namespace cornerturn
