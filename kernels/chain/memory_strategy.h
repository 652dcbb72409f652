#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dsp/vocabulary/error.h"

namespace cornerturn::cuda {

/// How raw samples reach the kernels and results the host. All run the same kernels.
enum class MemoryStrategy { pageable, pinned, overlapped, zero_copy, zero_copy_wc, hybrid };

enum class SlotKind { pageable, pinned, write_combined };

/// A strategy in facts; the chain knows no other difference between them.
struct StrategyTraits {
  MemoryStrategy strategy;
  std::string_view name;
  SlotKind slots;
  /// The first kernel reads the slot in place; else the copy engine brings it into device memory.
  bool reads_in_place;
  /// Correlation matrices are written by their kernel straight into mapped host memory; else the copy engine brings
  /// them back.
  bool maps_matrices;
  /// Several CPIs in flight, so that copies in, kernels and copies back overlap; else one after the other.
  bool overlaps;
};

inline constexpr std::array<StrategyTraits, 6> kStrategies = {{
    {MemoryStrategy::pageable, "pageable", SlotKind::pageable, false, false, false},
    {MemoryStrategy::pinned, "pinned", SlotKind::pinned, false, false, false},
    {MemoryStrategy::overlapped, "overlapped", SlotKind::pinned, false, false, true},
    // "Zero-copy throughout": raw samples and matrices live in host memory, cubes on the device.
    {MemoryStrategy::zero_copy, "zero-copy", SlotKind::pinned, true, true, true},
    {MemoryStrategy::zero_copy_wc, "zero-copy-wc", SlotKind::write_combined, true, true, true},
    // Raw samples are read once, in place; all that is read or written again stays on the device.
    {MemoryStrategy::hybrid, "hybrid", SlotKind::pinned, true, false, true},
}};

const StrategyTraits& traits_of(MemoryStrategy strategy);
/// Errors: usage, with the words that are known ("auto" is not one of them: it has to be decided first).
Expected<MemoryStrategy> parse_memory_strategy(std::string_view text);

}  // namespace cornerturn::cuda
