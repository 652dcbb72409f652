#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// Owns device memory of `count` T on the current device. Throws OutOfMemory.
void* allocate_device(std::size_t bytes);
void free_device(void* memory) noexcept;

template <typename T> class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count)
      : data_(count == 0 ? nullptr : static_cast<T*>(allocate_device(count * sizeof(T)))), count_(count) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceBuffer() { free_device(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

enum class PinnedKind {
  cached,          ///< page-locked and mapped
  write_combined,  ///< the same, not cached by the host: for buffers that the host only writes
};

/// Page-locked host memory, mapped into every device's address space. Keeps both pointers to the same bytes.
struct PinnedMemory {
  void* host = nullptr;
  void* device = nullptr;
  std::size_t bytes = 0;
};
/// Throws OutOfMemory, which names host memory.
PinnedMemory allocate_pinned(std::size_t bytes, PinnedKind kind = PinnedKind::cached);
void free_pinned(const PinnedMemory& memory) noexcept;

/// Owns pinned memory of `count` T, zeroed.
template <typename T> class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count)
      : memory_(count == 0 ? PinnedMemory{} : allocate_pinned(count * sizeof(T))), count_(count) {}
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : memory_(std::exchange(other.memory_, {})), count_(std::exchange(other.count_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~PinnedBuffer() { free_pinned(memory_); }

  T* host() const { return static_cast<T*>(memory_.host); }
  T* device() const { return static_cast<T*>(memory_.device); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  PinnedMemory memory_;
  std::size_t count_ = 0;
};

/// Page-locks memory that belongs to someone else (another process's shared memory, a mapped file) while it lives, so
/// that the device reads it in place. Throws CudaError.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  explicit RegisteredMemory(std::span<std::byte> memory);
  RegisteredMemory(RegisteredMemory&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)), device_(std::exchange(other.device_, nullptr)) {}
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~RegisteredMemory();

  void* device() const { return device_; }

 private:
  void* host_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace cornerturn::cuda
