#include "dsp/chain/result_pool.h"

#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

std::shared_ptr<ResultPool> ResultPool::make(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count) {
  return std::shared_ptr<ResultPool>(new ResultPool(std::move(plan), slot_count));
}

ResultPool::ResultPool(std::shared_ptr<const ChainPlan> plan, std::size_t slot_count) : plan_(std::move(plan)) {
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
      store.memory = AlignedBuffer<std::byte>(product_bytes(*plan_, kind));
      store.products = make_products(*plan_, kind, store.memory.span());
      store.made = true;
    }
    for (Product& product : store.products) own.result.products.push_back(std::move(product));
    store.in_result = true;
  }
  own.result.quality = {};
}

}  // namespace cornerturn
