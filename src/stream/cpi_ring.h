#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dsp/chain/lease.h"
#include "dsp/chain/write_lease.h"
#include "src/stream/stream_statistics.h"

namespace cornerturn {

/// What a writer does when no slot is free.
enum class WritePolicy {
  block,        ///< wait: files can
  drop_oldest,  ///< take the oldest slot that is whole and that no reader has claimed; live sources cannot wait
};

/// Fixed slots for raw CPIs between one source and one backend. Slots are written out of order, read in the order in
/// which their first segments were published, and reused when their last lease ends. A CPI can be read from its first
/// segment on. Every CPI that came in and is not handed out, or turns out not to be whole, is counted with its cause,
/// once. Nothing is allocated after construction, unless readers leave more than twice the slots unsettled.
/// Threads: any.
class CpiRing final : public WriteSlotOwner {
 public:
  struct Sizes {
    std::size_t slot_count = 0;
    std::size_t slot_bytes = 0;
  };
  /// Throws std::bad_alloc. The allocator and the statistics must outlive the ring.
  CpiRing(SlotAllocator& allocator, const Sizes& sizes, StreamStatistics& statistics);
  /// Blocks until every lease has ended: a recorder may still be writing.
  ~CpiRing();
  CpiRing(const CpiRing&) = delete;
  CpiRing& operator=(const CpiRing&) = delete;

  /// Goes into the header of every CPI published from now on. To be called before the first write.
  void set_configuration_version(std::uint32_t version);

  /// Blocks until there is a slot as the policy allows. Empty after close() or stop().
  WriteLease acquire_write(WritePolicy policy);

  enum class ReadStatus { claimed, timed_out, ended };
  struct Claim {
    ReadStatus status = ReadStatus::ended;
    ReadLease lease;             ///< only when claimed
    std::uint64_t sequence = 0;  ///< for settle()
    StreamClock::time_point published;
  };
  /// The next CPI in order. Blocks until there is one, until the end (after close(), when all is read) or stop().
  Claim acquire_read();
  /// The same, for `limit` at the most.
  Claim acquire_read_for(std::chrono::nanoseconds limit);

  /// Whether a claimed CPI was committed whole by its writer; blocks until the writer has ended. To be asked once per
  /// claim, before its results are used: a CPI that was not committed has been counted as abandoned (or stopped) and
  /// its results, if any, must be thrown away.
  bool settle(std::uint64_t sequence);

  /// No more writes will begin; readers get what is there and then the end.
  void close();
  /// Drops what is unread and wakes everyone. Writes that are under way may end.
  void stop();

  std::size_t slot_count() const { return slot_count_; }
  std::size_t free_count() const;

  void recycle(RawSlot& slot) noexcept override;
  void publish(RawSlot& slot) noexcept override;
  void finish_write(RawSlot& slot, bool complete) noexcept override;

 private:
  enum class WriteOutcome { writing, committed, abandoned };
  struct Slot : RawSlot {
    bool writing = false;
    bool published = false;
    bool counted = false;  // as dropped
    bool claimed = false;
    std::uint64_t sequence = 0;
    StreamClock::time_point published_at;
  };
  struct ClaimRecord {
    std::uint64_t sequence;
    WriteOutcome outcome;
  };

  Slot* take_oldest_whole();
  WriteLease begin_write(Slot& slot);
  Claim take_readable();
  void drop(Slot& slot, DropCause cause);

  SlotAllocator& allocator_;
  const std::size_t slot_count_;
  StreamStatistics& statistics_;
  std::unique_ptr<Slot[]> slots_;

  mutable std::mutex mutex_;
  std::condition_variable writable_;
  std::condition_variable readable_changed_;
  std::condition_variable settled_;
  std::vector<Slot*> free_;
  std::vector<Slot*> readable_;  // oldest first
  std::vector<ClaimRecord> claims_;
  std::uint64_t next_sequence_ = 0;
  std::uint32_t configuration_version_ = 0;
  bool closed_ = false;
  bool stopped_ = false;
};

}  // namespace cornerturn
