#include "src/stream/cpi_ring.h"

#include <algorithm>

namespace cornerturn {

CpiRing::CpiRing(SlotAllocator& allocator, const Sizes& sizes, StreamStatistics& statistics)
    : allocator_(allocator),
      slot_count_(sizes.slot_count),
      statistics_(statistics),
      slots_(std::make_unique<Slot[]>(sizes.slot_count)) {
  CORNERTURN_REQUIRE(sizes.slot_count > 0);
  free_.reserve(slot_count_);
  readable_.reserve(slot_count_);
  claims_.reserve(2 * slot_count_);
  try {
    for (std::size_t i = 0; i < slot_count_; ++i) {
      slots_[i].memory = allocator_.allocate(sizes.slot_bytes);
      slots_[i].owner = this;
      free_.push_back(&slots_[i]);
    }
  } catch (...) {
    for (Slot* slot : free_) allocator_.free(slot->memory);
    throw;
  }
}

CpiRing::~CpiRing() {
  stop();
  {
    std::unique_lock lock(mutex_);
    writable_.wait(lock, [&] { return free_.size() == slot_count_; });
  }
  for (std::size_t i = 0; i < slot_count_; ++i) allocator_.free(slots_[i].memory);
}

void CpiRing::set_configuration_version(std::uint32_t version) {
  const std::lock_guard lock(mutex_);
  configuration_version_ = version;
}

WriteLease CpiRing::acquire_write(WritePolicy policy) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed_ || stopped_) return {};
    if (!free_.empty()) {
      Slot* slot = free_.back();
      free_.pop_back();
      return begin_write(*slot);
    }
    if (policy == WritePolicy::drop_oldest) {
      if (Slot* slot = take_oldest_whole()) return begin_write(*slot);
    }
    writable_.wait(lock);
  }
}

// A slot under write cannot be taken from its writer; one that was claimed is the backend's.
CpiRing::Slot* CpiRing::take_oldest_whole() {
  const auto oldest = std::find_if(readable_.begin(), readable_.end(), [](const Slot* slot) { return !slot->writing; });
  if (oldest == readable_.end()) return nullptr;
  Slot* slot = *oldest;
  readable_.erase(oldest);
  drop(*slot, DropCause::overrun);
  slot->holders.store(0, std::memory_order_relaxed);  // the queue's was the only one
  return slot;
}

WriteLease CpiRing::begin_write(Slot& slot) {
  slot.writing = true;
  slot.published = slot.counted = slot.claimed = false;
  slot.cpi.segments.resize(1);
  std::vector<GapInterval> gaps = std::move(slot.cpi.header.gaps);  // keeps its memory
  gaps.clear();
  slot.cpi.header = CpiHeader{};
  slot.cpi.header.gaps = std::move(gaps);
  slot.write_state.store(0, std::memory_order_relaxed);
  slot.holders.store(1, std::memory_order_relaxed);  // the writer's
  return {slot, *this};
}

CpiRing::Claim CpiRing::acquire_read() {
  std::unique_lock lock(mutex_);
  readable_changed_.wait(lock, [&] { return !readable_.empty() || closed_ || stopped_; });
  return take_readable();
}

CpiRing::Claim CpiRing::acquire_read_for(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  const bool changed =
      readable_changed_.wait_for(lock, limit, [&] { return !readable_.empty() || closed_ || stopped_; });
  if (!changed) return {ReadStatus::timed_out, {}, 0, {}};
  return take_readable();
}

CpiRing::Claim CpiRing::take_readable() {
  if (readable_.empty()) return {};
  Slot& slot = *readable_.front();
  readable_.erase(readable_.begin());
  slot.claimed = true;
  slot.sequence = next_sequence_++;
  claims_.push_back({slot.sequence, slot.writing ? WriteOutcome::writing : WriteOutcome::committed});
  return {ReadStatus::claimed, ReadLease::adopt(slot), slot.sequence, slot.published_at};  // the queue's holder
}

bool CpiRing::settle(std::uint64_t sequence) {
  std::unique_lock lock(mutex_);
  auto claim = claims_.end();
  const auto has_ended = [&] {
    claim = std::find_if(claims_.begin(), claims_.end(), [&](const auto& c) { return c.sequence == sequence; });
    CORNERTURN_REQUIRE(claim != claims_.end());
    return claim->outcome != WriteOutcome::writing;
  };
  settled_.wait(lock, has_ended);
  const bool committed = claim->outcome == WriteOutcome::committed;
  claims_.erase(claim);
  return committed;
}

void CpiRing::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  writable_.notify_all();
  readable_changed_.notify_all();
}

void CpiRing::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (Slot* slot : readable_) {
    drop(*slot, DropCause::stopped);
    if (slot->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) free_.push_back(slot);  // else it is being written
  }
  readable_.clear();
  writable_.notify_all();
  readable_changed_.notify_all();
}

std::size_t CpiRing::free_count() const {
  const std::lock_guard lock(mutex_);
  return free_.size();
}

void CpiRing::recycle(RawSlot& slot) noexcept {
  // Under the lock to the end: the destructor may run as soon as the last slot is back.
  const std::lock_guard lock(mutex_);
  free_.push_back(static_cast<Slot*>(&slot));
  writable_.notify_all();
}

void CpiRing::publish(RawSlot& raw) noexcept {
  auto& slot = static_cast<Slot&>(raw);
  const std::lock_guard lock(mutex_);
  slot.published = true;
  slot.published_at = StreamClock::now();
  slot.cpi.header.configuration_version = configuration_version_;
  statistics_.count_in(slot.published_at);
  if (stopped_) {
    drop(slot, DropCause::stopped);
    return;
  }
  slot.holders.fetch_add(1, std::memory_order_relaxed);  // the queue's, later the reader's
  readable_.push_back(&slot);
  readable_changed_.notify_all();
}

void CpiRing::finish_write(RawSlot& raw, bool complete) noexcept {
  auto& slot = static_cast<Slot&>(raw);
  const std::lock_guard lock(mutex_);
  slot.writing = false;
  if (slot.published && !complete && !slot.counted) drop(slot, stopped_ ? DropCause::stopped : DropCause::abandoned);
  if (slot.claimed) {
    for (ClaimRecord& claim : claims_) {
      if (claim.sequence == slot.sequence) claim.outcome = complete ? WriteOutcome::committed : WriteOutcome::abandoned;
    }
    settled_.notify_all();
  } else if (!complete) {
    const auto unread = std::find(readable_.begin(), readable_.end(), &slot);
    if (unread != readable_.end()) {
      readable_.erase(unread);
      slot.holders.fetch_sub(1, std::memory_order_acq_rel);
    }
  }
  if (slot.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) free_.push_back(&slot);
  writable_.notify_all();  // a slot is free, or whole and so can be dropped
}

void CpiRing::drop(Slot& slot, DropCause cause) {
  slot.counted = true;
  statistics_.count_dropped(cause);
}

}  // namespace cornerturn
