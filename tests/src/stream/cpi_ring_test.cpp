#include "src/stream/cpi_ring.h"

#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/src/stream/count_allocations.h"

namespace cornerturn::testing {
namespace {

using std::chrono::milliseconds;

class HeapAllocator final : public SlotAllocator {
 public:
  SlotMemory allocate(std::size_t bytes) override {
    if (live == fail_after) throw std::bad_alloc();
    ++live;
    return {{new std::byte[bytes], bytes}, nullptr};
  }
  void free(const SlotMemory& memory) noexcept override {
    --live;
    delete[] memory.host.data();
  }
  int live = 0;
  int fail_after = -1;
};

class CpiRingTest : public ::testing::Test {
 public:
  void write(std::uint64_t index, WritePolicy policy = WritePolicy::block) {
    WriteLease slot = ring.acquire_write(policy);
    ASSERT_TRUE(slot);
    slot.header().index = index;
    slot.publish_segment({slot.memory(), 0, 1});
    slot.commit();
  }
  std::uint64_t dropped(DropCause cause) const { return statistics.snapshot().dropped[cause]; }

  HeapAllocator allocator;
  StreamStatistics statistics{1, 1};
  CpiRing ring{allocator, {3, 64}, statistics};
};

TEST_F(CpiRingTest, HandsOutCpisInOrderAndReusesSlots) {
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t i = 0; i < 3; ++i) write(3 * round + i);
    for (std::uint64_t i = 0; i < 3; ++i) {
      CpiRing::Claim claim = ring.acquire_read();
      ASSERT_EQ(claim.status, CpiRing::ReadStatus::claimed);
      EXPECT_EQ(claim.lease->cpi.header.index, 3 * round + i);
      EXPECT_TRUE(ring.settle(claim.sequence));
    }
  }
  EXPECT_EQ(ring.free_count(), 3u);
  EXPECT_EQ(statistics.snapshot().cpis_in, 15u);
  EXPECT_EQ(statistics.snapshot().dropped.total(), 0u);
}

TEST_F(CpiRingTest, CpiCanBeReadFromItsFirstSegment) {
  WriteLease slot = ring.acquire_write(WritePolicy::block);
  slot.set_segment_count(2);
  EXPECT_EQ(ring.acquire_read_for(milliseconds(1)).status, CpiRing::ReadStatus::timed_out);
  slot.publish_segment({slot.memory().first(32), 0, 1});
  CpiRing::Claim claim = ring.acquire_read();
  ASSERT_EQ(claim.status, CpiRing::ReadStatus::claimed);
  EXPECT_TRUE(claim.lease->wait_for_segment(0));
  EXPECT_FALSE(claim.lease->has_segment(1));

  std::jthread reader([&] { EXPECT_TRUE(claim.lease->wait_for_segment(1)); });
  slot.publish_segment({slot.memory().last(32), 1, 1});
  slot.commit();
  reader.join();
  EXPECT_TRUE(ring.settle(claim.sequence));
}

TEST_F(CpiRingTest, WriterThatBlocksGoesOnWhenALeaseEnds) {
  for (std::uint64_t i = 0; i < 3; ++i) write(i);
  CpiRing::Claim claim = ring.acquire_read();
  std::jthread writer([&] { write(3); });
  claim.lease.release();
  writer.join();
  EXPECT_TRUE(ring.settle(claim.sequence));
  EXPECT_EQ(statistics.snapshot().cpis_in, 4u);
  EXPECT_EQ(statistics.snapshot().dropped.total(), 0u);
}

TEST_F(CpiRingTest, LiveWriterTakesTheOldestUnreadSlot) {
  for (std::uint64_t i = 0; i < 7; ++i) write(i, WritePolicy::drop_oldest);
  EXPECT_EQ(dropped(DropCause::overrun), 4u);
  for (std::uint64_t i = 4; i < 7; ++i) EXPECT_EQ(ring.acquire_read().lease->cpi.header.index, i);
}

TEST_F(CpiRingTest, LiveWriterNeverTakesAClaimedSlotOrOneUnderWrite) {
  write(0);
  CpiRing::Claim claimed = ring.acquire_read();
  WriteLease half = ring.acquire_write(WritePolicy::drop_oldest);
  half.header().index = 1;
  half.set_segment_count(2);
  half.publish_segment({half.memory(), 0, 1});
  write(2);

  write(3, WritePolicy::drop_oldest);  // takes CPI 2: 0 is being read, 1 being written
  EXPECT_EQ(dropped(DropCause::overrun), 1u);
  EXPECT_EQ(claimed.lease->cpi.header.index, 0u);
  half.publish_segment({half.memory(), 1, 1});
  half.commit();
  EXPECT_EQ(ring.acquire_read().lease->cpi.header.index, 1u);
  EXPECT_EQ(ring.acquire_read().lease->cpi.header.index, 3u);
}

TEST_F(CpiRingTest, LiveWriterWaitsWhileEverySlotIsHeld) {
  std::vector<CpiRing::Claim> recorder;
  for (std::uint64_t i = 0; i < 3; ++i) {
    write(i);
    recorder.push_back(ring.acquire_read());
  }
  std::jthread writer([&] { write(3, WritePolicy::drop_oldest); });
  EXPECT_EQ(ring.acquire_read_for(milliseconds(5)).status, CpiRing::ReadStatus::timed_out);
  recorder.front().lease.release();
  EXPECT_EQ(ring.acquire_read().lease->cpi.header.index, 3u);
}

TEST_F(CpiRingTest, WriteThatIsNotCommittedIsDroppedOnceAndNotHandedOut) {
  {
    WriteLease slot = ring.acquire_write(WritePolicy::block);
    slot.set_segment_count(2);
    slot.publish_segment({slot.memory(), 0, 1});
  }
  EXPECT_EQ(dropped(DropCause::abandoned), 1u);
  EXPECT_EQ(ring.free_count(), 3u);
  EXPECT_EQ(ring.acquire_read_for(milliseconds(1)).status, CpiRing::ReadStatus::timed_out);
}

TEST_F(CpiRingTest, WriteWithoutAnySegmentIsNoCpi) {
  { const WriteLease slot = ring.acquire_write(WritePolicy::block); }
  EXPECT_EQ(statistics.snapshot().cpis_in, 0u);
  EXPECT_EQ(statistics.snapshot().dropped.total(), 0u);
  EXPECT_EQ(ring.free_count(), 3u);
}

TEST_F(CpiRingTest, ReaderLearnsThatAClaimedCpiWasAbandoned) {
  WriteLease slot = ring.acquire_write(WritePolicy::block);
  slot.set_segment_count(2);
  slot.publish_segment({slot.memory(), 0, 1});
  CpiRing::Claim claim = ring.acquire_read();
  std::jthread writer([lease = std::move(slot)]() mutable { lease = WriteLease(); });
  EXPECT_FALSE(claim.lease->wait_for_segment(1));
  EXPECT_FALSE(ring.settle(claim.sequence));
  EXPECT_EQ(dropped(DropCause::abandoned), 1u);
}

TEST_F(CpiRingTest, AllSegmentsWithoutCommitAreAbandonedToo) {
  WriteLease slot = ring.acquire_write(WritePolicy::block);
  slot.publish_segment({slot.memory(), 0, 1});
  CpiRing::Claim claim = ring.acquire_read();
  claim.lease.release();  // a fast backend is done before the writer
  std::jthread writer([lease = std::move(slot)]() mutable {
    std::this_thread::sleep_for(milliseconds(2));
    lease = WriteLease();
  });
  EXPECT_FALSE(ring.settle(claim.sequence));  // waits for the writer
  EXPECT_EQ(dropped(DropCause::abandoned), 1u);
}

TEST_F(CpiRingTest, CloseLetsReadersFinishAndRefusesWriters) {
  write(0);
  ring.close();
  EXPECT_FALSE(ring.acquire_write(WritePolicy::block));
  EXPECT_EQ(ring.acquire_read().status, CpiRing::ReadStatus::claimed);
  EXPECT_EQ(ring.acquire_read().status, CpiRing::ReadStatus::ended);
}

TEST_F(CpiRingTest, StopDropsWhatIsUnreadAndWakesEveryone) {
  std::jthread reader([&] {
    while (ring.acquire_read().status != CpiRing::ReadStatus::ended) continue;
  });
  std::this_thread::sleep_for(milliseconds(1));
  ring.stop();
  reader.join();
  EXPECT_FALSE(ring.acquire_write(WritePolicy::block));
}

TEST_F(CpiRingTest, StopCountsUnreadAndHalfWrittenCpisOnce) {
  write(0);
  write(1);
  WriteLease half = ring.acquire_write(WritePolicy::block);
  half.set_segment_count(2);
  half.publish_segment({half.memory(), 0, 1});
  ring.stop();
  half = WriteLease();
  EXPECT_EQ(dropped(DropCause::stopped), 3u);
  EXPECT_EQ(statistics.snapshot().dropped.total(), 3u);
  EXPECT_EQ(ring.free_count(), 3u);
}

TEST_F(CpiRingTest, FirstSegmentBehindStopCountsAsStopped) {
  WriteLease late = ring.acquire_write(WritePolicy::block);
  ring.stop();
  late.publish_segment({late.memory(), 0, 1});
  late.commit();
  EXPECT_EQ(dropped(DropCause::stopped), 1u);
  EXPECT_EQ(ring.free_count(), 3u);
}

TEST_F(CpiRingTest, SharedLeaseKeepsTheSlot) {
  write(0);
  CpiRing::Claim claim = ring.acquire_read();
  ReadLease recorder = claim.lease.share();
  claim.lease.release();
  EXPECT_EQ(ring.free_count(), 2u);
  EXPECT_EQ(recorder->cpi.header.index, 0u);
  recorder.release();
  EXPECT_EQ(ring.free_count(), 3u);
}

TEST_F(CpiRingTest, SlotStartsCleanWhenReused) {
  for (int i = 0; i < 3; ++i) {  // every slot once
    WriteLease slot = ring.acquire_write(WritePolicy::block);
    slot.header() = {7, 1.0, 2.0, 9, {{1, 2, 3}}};
    slot.set_segment_count(2);
    slot.publish_segment({slot.memory(), 0, 1});
  }
  WriteLease slot = ring.acquire_write(WritePolicy::block);
  EXPECT_EQ(slot.header().index, 0u);
  EXPECT_TRUE(slot.header().gaps.empty());
  EXPECT_EQ(slot.segment_count(), 1u);
  EXPECT_EQ(slot.published_segments(), 0u);
}

TEST_F(CpiRingTest, VersionGoesIntoEveryHeader) {
  ring.set_configuration_version(5);
  write(0);
  EXPECT_EQ(ring.acquire_read().lease->cpi.header.configuration_version, 5u);
}

TEST_F(CpiRingTest, AllocatesNothingAfterConstruction) {
  const auto round = [&](std::uint64_t i) {
    write(i, WritePolicy::drop_oldest);
    CpiRing::Claim claim = ring.acquire_read();
    claim.lease.release();
    ring.settle(claim.sequence);
  };
  for (std::uint64_t i = 0; i < 10; ++i) round(i);
  const std::uint64_t before = allocations_of_this_thread();
  for (std::uint64_t i = 0; i < 100; ++i) round(i);
  EXPECT_EQ(allocations_of_this_thread(), before);
}

TEST(CpiRing, DestructorWaitsForARecorder) {
  HeapAllocator allocator;
  StreamStatistics statistics(1, 1);
  ReadLease recorder;
  std::jthread thread;
  {
    CpiRing ring(allocator, {1, 64}, statistics);
    WriteLease slot = ring.acquire_write(WritePolicy::block);
    slot.publish_segment({slot.memory(), 0, 1});
    slot.commit();
    recorder = ring.acquire_read().lease;
    thread = std::jthread([&] {
      std::this_thread::sleep_for(milliseconds(5));
      EXPECT_EQ(allocator.live, 1);
      recorder.release();
    });
  }
  thread.join();
  EXPECT_EQ(allocator.live, 0);
}

TEST(CpiRing, FailingAllocationFreesWhatItGot) {
  HeapAllocator allocator;
  allocator.fail_after = 2;
  StreamStatistics statistics(1, 1);
  EXPECT_THROW(CpiRing(allocator, {3, 64}, statistics), std::bad_alloc);
  EXPECT_EQ(allocator.live, 0);
}

}  // namespace
}  // namespace cornerturn::testing
