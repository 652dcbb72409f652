#include "kernels/cuda/memory.h"

#include <cstring>

#include "kernels/cuda/call_counts.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/fault_injection.h"

namespace cornerturn::cuda {

void* allocate_device(std::size_t bytes) {
  count_call(CountedCall::allocation);
  void* memory = nullptr;
  const cudaError_t code = take_fault(Fault::device_memory) ? cudaErrorMemoryAllocation : cudaMalloc(&memory, bytes);
  if (code == cudaSuccess) return memory;
  cudaGetLastError();  // out of memory is not a state of the device
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  throw OutOfMemory("device memory", bytes, free_bytes, code, std::source_location::current());
}

void free_device(void* memory) noexcept {
  if (memory != nullptr) cudaFree(memory);
}

PinnedMemory allocate_pinned(std::size_t bytes, PinnedKind kind) {
  count_call(CountedCall::allocation);
  PinnedMemory memory;
  memory.bytes = bytes;
  unsigned flags = cudaHostAllocMapped | cudaHostAllocPortable;
  if (kind == PinnedKind::write_combined) flags |= cudaHostAllocWriteCombined;
  const cudaError_t code =
      take_fault(Fault::pinned_memory) ? cudaErrorMemoryAllocation : cudaHostAlloc(&memory.host, bytes, flags);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw CudaError("page-locked host memory of " + bytes_text(bytes), code, std::source_location::current());
  }
  try {
    check(cudaHostGetDevicePointer(&memory.device, memory.host, 0), "cudaHostGetDevicePointer");
  } catch (...) {
    cudaFreeHost(memory.host);
    throw;
  }
  std::memset(memory.host, 0, bytes);
  return memory;
}

void free_pinned(const PinnedMemory& memory) noexcept {
  if (memory.host != nullptr) cudaFreeHost(memory.host);
}

RegisteredMemory::RegisteredMemory(std::span<std::byte> memory) {
  count_call(CountedCall::allocation);
  check(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterMapped | cudaHostRegisterPortable),
        "cudaHostRegister");
  host_ = memory.data();
  if (const cudaError_t code = cudaHostGetDevicePointer(&device_, host_, 0); code != cudaSuccess) {
    cudaHostUnregister(host_);
    throw CudaError("cudaHostGetDevicePointer", code, std::source_location::current());
  }
}

RegisteredMemory::~RegisteredMemory() {
  if (host_ != nullptr) cudaHostUnregister(host_);
}

}  // namespace cornerturn::cuda
