#include "kernels/chain/slot_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"

namespace cornerturn::cuda {

SlotMemory HostSlots::allocate(std::size_t bytes) {
  check(cudaSetDevice(device_), "cudaSetDevice");
  if (kind_ != SlotKind::pageable) {
    try {
      const PinnedMemory memory =
          allocate_pinned(bytes, kind_ == SlotKind::write_combined ? PinnedKind::write_combined : PinnedKind::cached);
      return {{static_cast<std::byte*>(memory.host), bytes}, memory.device};
    } catch (const CudaError&) {
      const std::lock_guard lock(mutex_);
      fallback_ = "the system refused " + bytes_text(bytes) + " of page-locked host memory, pageable memory is used";
    }
  }
  constexpr std::size_t kPage = 4096;
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return {{static_cast<std::byte*>(memory), bytes}, nullptr};
}

void HostSlots::free(const SlotMemory& memory) noexcept {
  if (memory.device != nullptr) {
    free_pinned({memory.host.data(), memory.device, memory.host.size()});
  } else {
    std::free(memory.host.data());
  }
}

std::string HostSlots::fallback() const {
  const std::lock_guard lock(mutex_);
  return fallback_;
}

}  // namespace cornerturn::cuda
