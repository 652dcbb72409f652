#pragma once

#include <cstdint>

namespace cornerturn::cuda {

/// Calls that the steady state should make rarely or never, by all threads since the program began.
struct CallCounts {
  std::uint64_t allocations = 0;       ///< device or page-locked memory taken, or memory registered
  std::uint64_t plans = 0;             ///< cuFFT plans made
  std::uint64_t graphs = 0;            ///< graphs instantiated
  std::uint64_t synchronisations = 0;  ///< a host thread waited for an event or a stream
};
CallCounts call_counts();

enum class CountedCall { allocation, plan, graph, synchronisation };
void count_call(CountedCall call);

}  // namespace cornerturn::cuda
