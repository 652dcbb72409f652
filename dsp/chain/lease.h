#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/product.h"
#include "dsp/vocabulary/raw_cpi.h"

namespace cornerturn {

/// Gets a slot back when its last lease ends. Implemented by the ring (raw samples) and the result pool.
template <typename Slot> class SlotOwner {
 public:
  virtual void recycle(Slot& slot) noexcept = 0;

 protected:
  ~SlotOwner() = default;
};

/// Shared, counted right to read a slot; the last holder gives the slot back to its owner. Copies are made by share(),
/// in words, because each copy keeps memory from being reused. Allocates nothing.
/// Slot needs: `std::atomic<std::uint32_t> holders` and `SlotOwner<Slot>* owner`.
/// Threads: one lease per thread; different leases of one slot may live in different threads.
template <typename Slot> class Lease {
 public:
  Lease() = default;
  /// Takes over one holder that the owner has already counted.
  static Lease adopt(Slot& slot) { return Lease(&slot); }

  Lease(Lease&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    if (this != &other) {
      release();
      slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
  }
  ~Lease() { release(); }

  Lease share() const {
    CORNERTURN_REQUIRE(slot_ != nullptr);
    slot_->holders.fetch_add(1, std::memory_order_relaxed);
    return Lease(slot_);
  }
  void release() noexcept {
    Slot* slot = std::exchange(slot_, nullptr);
    if (slot != nullptr && slot->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) slot->owner->recycle(*slot);
  }
  explicit operator bool() const { return slot_ != nullptr; }
  Slot& operator*() const { return *slot_; }
  Slot* operator->() const { return slot_; }

 private:
  explicit Lease(Slot* slot) : slot_(slot) {}
  Slot* slot_ = nullptr;
};

/// Memory of one input slot: the host's pointer and, where the backend has one, the device's pointer to the same bytes.
struct SlotMemory {
  std::span<std::byte> host;
  void* device = nullptr;
};

/// Where a ring gets its slots from; each backend has its own (plain, pinned, mapped ...).
class SlotAllocator {
 public:
  virtual ~SlotAllocator() = default;
  /// Throws std::bad_alloc.
  virtual SlotMemory allocate(std::size_t bytes) = 0;
  virtual void free(const SlotMemory& memory) noexcept = 0;
};

/// One slot of the ring: a raw CPI that may still be arriving segment by segment.
struct RawSlot {
  SlotMemory memory;
  RawCpi cpi;  ///< segments has its final length from the start; entry i is valid once segment i is published

  /// Segments published so far, and kAbandoned once the writer ended without publishing them all. One word, so that a
  /// reader that waits on it misses neither. Written by the writer alone, through set_write_state.
  static constexpr std::uint32_t kAbandoned = 0x8000'0000u;
  std::atomic<std::uint32_t> write_state{0};

  std::atomic<std::uint32_t> holders{0};
  SlotOwner<RawSlot>* owner = nullptr;

  /// Blocks until segment `index` is there. False: the writer abandoned the CPI, it must be dropped.
  bool wait_for_segment(std::size_t index) const {
    if (has_segment(index)) return true;
    std::unique_lock lock(write_mutex_);
    write_changed_.wait(lock, [&] { return has_segment(index) || is_abandoned(); });
    return has_segment(index);
  }
  bool has_segment(std::size_t index) const {
    return (write_state.load(std::memory_order_acquire) & ~kAbandoned) > index;
  }
  bool is_abandoned() const { return (write_state.load(std::memory_order_acquire) & kAbandoned) != 0; }

  /// Wakes the readers that wait for segments.
  void set_write_state(std::uint32_t state) {
    {
      const std::lock_guard lock(write_mutex_);
      write_state.store(state, std::memory_order_release);
    }
    write_changed_.notify_all();
  }

 private:
  // Not std::atomic::wait: in libstdc++ 12 a notification behind a release store may miss a waiter.
  mutable std::mutex write_mutex_;
  mutable std::condition_variable write_changed_;
};

using ReadLease = Lease<RawSlot>;

/// One slot of a backend's result pool.
struct ResultSlot {
  CpiResult result;
  std::atomic<std::uint32_t> holders{0};
  SlotOwner<ResultSlot>* owner = nullptr;
};

using ResultLease = Lease<ResultSlot>;

}  // namespace cornerturn
