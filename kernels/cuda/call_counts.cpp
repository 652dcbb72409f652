#include "kernels/cuda/call_counts.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace cornerturn::cuda {
namespace {

std::array<std::atomic<std::uint64_t>, 4> counts{};

std::uint64_t count_of(CountedCall call) { return counts[static_cast<std::size_t>(call)].load(); }

}  // namespace

void count_call(CountedCall call) { counts[static_cast<std::size_t>(call)].fetch_add(1, std::memory_order_relaxed); }

CallCounts call_counts() {
  return {count_of(CountedCall::allocation), count_of(CountedCall::plan), count_of(CountedCall::graph),
          count_of(CountedCall::synchronisation)};
}

}  // namespace cornerturn::cuda
