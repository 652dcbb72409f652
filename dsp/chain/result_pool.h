#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "dsp/chain/lease.h"
#include "dsp/chain/product_catalogue.h"

namespace cornerturn {

/// Fixed set of results. A slot gets the memory of a product when that product is first asked of it and keeps it, so
/// that the steady state allocates nothing. Leases may outlive the backend: they keep the pool alive.
/// Threads: acquire by one thread; recycle (the end of the last lease) in any.
class ResultPool final : public SlotOwner<ResultSlot>, public std::enable_shared_from_this<ResultPool> {
 public:
  /// `allocator` gives the memory of the products (pinned, say); null: plain host memory.
  static std::shared_ptr<ResultPool> make(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count,
                                          std::shared_ptr<SlotAllocator> allocator = nullptr);
  ~ResultPool();
  ResultPool(const ResultPool&) = delete;
  ResultPool& operator=(const ResultPool&) = delete;

  /// A free slot; blocks while all are held. Its products are those of prepare().
  ResultLease acquire();
  /// Times that acquire() had to wait.
  std::uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }

  /// Puts the wanted products into the slot's result, in the order of kProductKinds. Throws std::bad_alloc.
  void prepare(ResultSlot& slot, const ProductSet& wanted) const;

  void recycle(ResultSlot& slot) noexcept override;

 private:
  struct Store {
    SlotMemory memory;
    std::vector<Product> products;  // moved from while they are in the result
    bool made = false;
    bool in_result = false;
  };
  struct Slot : ResultSlot {
    std::array<Store, kProductKinds.size()> stores;
    std::shared_ptr<ResultPool> keep_alive;  // while leased
  };

  ResultPool(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count, std::shared_ptr<SlotAllocator> allocator);
  static void take_back(Slot& slot);

  std::shared_ptr<const ChainPlan> plan_;
  std::shared_ptr<SlotAllocator> allocator_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::condition_variable slot_free_;
  std::vector<Slot*> free_;
  std::atomic<std::uint64_t> waits_{0};
};

}  // namespace cornerturn
