#include "kernels/cuda/fault_injection.h"

#include <array>
#include <atomic>
#include <mutex>

namespace cornerturn::cuda {
namespace {

struct Counter {
  std::size_t count = 0;
  std::size_t skip = 0;
};

std::atomic<bool> any_fault{false};  // the only thing that healthy runs ever read
std::mutex fault_mutex;
std::array<Counter, 3> faults;

}  // namespace

void inject_fault(Fault fault, std::size_t count, std::size_t skip) {
  const std::lock_guard lock(fault_mutex);
  faults[static_cast<std::size_t>(fault)] = {count, skip};
  bool any = false;
  for (const Counter& counter : faults) any = any || counter.count > 0;
  any_fault.store(any, std::memory_order_relaxed);
}

bool take_fault(Fault fault) {
  if (!any_fault.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(fault_mutex);
  Counter& counter = faults[static_cast<std::size_t>(fault)];
  if (counter.count == 0) return false;
  if (counter.skip > 0) {
    --counter.skip;
    return false;
  }
  --counter.count;
  return true;
}

}  // namespace cornerturn::cuda
