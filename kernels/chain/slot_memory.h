#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "dsp/chain/lease.h"
#include "kernels/chain/memory_strategy.h"

namespace cornerturn::cuda {

/// Memory for input slots or results: page-locked and mapped, or pageable. Where the system refuses to lock pages it
/// falls back to pageable memory, which the copy engine reads through a staging buffer of the driver, and says so.
/// Threads: any.
class HostSlots final : public SlotAllocator {
 public:
  HostSlots(SlotKind kind, int device) : kind_(kind), device_(device) {}

  SlotMemory allocate(std::size_t bytes) override;
  void free(const SlotMemory& memory) noexcept override;

  /// Why memory is not page-locked although it should be; empty: it is.
  std::string fallback() const;

 private:
  SlotKind kind_;
  int device_;
  mutable std::mutex mutex_;
  std::string fallback_;
};

}  // namespace cornerturn::cuda
