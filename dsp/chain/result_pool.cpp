#include "dsp/chain/result_pool.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

namespace {

class HostMemory final : public SlotAllocator {
 public:
  SlotMemory allocate(std::size_t bytes) override {
    constexpr std::size_t kCacheLine = 64;
    const std::size_t rounded = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    void* memory = std::aligned_alloc(kCacheLine, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0, rounded);
    return {{static_cast<std::byte*>(memory), bytes}, nullptr};
  }
  void free(const SlotMemory& memory) noexcept override { std::free(memory.host.data()); }
};

}  // namespace

std::shared_ptr<ResultPool> ResultPool::make(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count,
                                             std::shared_ptr<SlotAllocator> allocator) {
  if (!allocator) allocator = std::make_shared<HostMemory>();
  return std::shared_ptr<ResultPool>(new ResultPool(std::move(plan), slot_count, std::move(allocator)));
}

ResultPool::~ResultPool() {
  for (const auto& slot : slots_)
    for (const Store& store : slot->stores)
      if (!store.memory.host.empty()) allocator_->free(store.memory);
}

ResultPool::ResultPool(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count,
                       std::shared_ptr<SlotAllocator> allocator)
    : plan_(std::move(plan)), allocator_(std::move(allocator)) {
  CORNERTURN_REQUIRE(slot_count >= 1);
  constexpr std::size_t kMostProducts = 32;  // detections alone are a dozen columns
  for (std::size_t i = 0; i < slot_count; ++i) {
    auto& slot = slots_.emplace_back(std::make_unique<Slot>());
    slot->owner = this;
    slot->result.products.reserve(kMostProducts);
    free_.push_back(slot.get());
  }
}

ResultLease ResultPool::acquire() {
  std::unique_lock lock(mutex_);
  if (free_.empty()) {
    waits_.fetch_add(1, std::memory_order_relaxed);
    slot_free_.wait(lock, [&] { return !free_.empty(); });
  }
  Slot* slot = free_.back();
  free_.pop_back();
  slot->keep_alive = shared_from_this();
  slot->holders.store(1, std::memory_order_relaxed);
  return ResultLease::adopt(*slot);
}

void ResultPool::recycle(ResultSlot& slot) noexcept {
  auto& own = static_cast<Slot&>(slot);
  // Destroyed after the lock is given back: it may be the last owner of the pool.
  const std::shared_ptr<ResultPool> keep_alive = std::move(own.keep_alive);
  const std::lock_guard lock(mutex_);
  free_.push_back(&own);  // capacity for all slots was taken in the constructor
  slot_free_.notify_one();
}

void ResultPool::take_back(Slot& slot) {
  auto next = slot.result.products.begin();
  for (Store& store : slot.stores) {
    if (!std::exchange(store.in_result, false)) continue;
    for (Product& product : store.products) product = std::move(*next++);
  }
  slot.result.products.clear();
}

void ResultPool::prepare(ResultSlot& slot, const ProductSet& wanted) const {
  auto& own = static_cast<Slot&>(slot);
  take_back(own);
  for (const ProductKind kind : kProductKinds) {
    if (!is_wanted(wanted, kind)) continue;
    Store& store = own.stores[static_cast<std::size_t>(kind)];
    if (!store.made) {
      if (const std::size_t bytes = product_bytes(*plan_, kind); bytes > 0) store.memory = allocator_->allocate(bytes);
      store.products = make_products(*plan_, kind, store.memory.host);
      store.made = true;
    }
    for (Product& product : store.products) own.result.products.push_back(std::move(product));
    store.in_result = true;
  }
  own.result.quality = {};
}

}  // namespace cornerturn
