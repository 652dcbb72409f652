#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace cornerturn {

/// Move-only block of `count` zero-initialised T, aligned to 64 bytes (a cache line, and every vector register).
template <typename T> class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  /// Throws std::bad_alloc.
  explicit AlignedBuffer(std::size_t count) : count_(count) {
    if (count == 0) return;
    const std::size_t bytes = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    data_.reset(static_cast<T*>(memory));
    std::uninitialized_value_construct_n(data_.get(), count);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  std::span<T> span() { return {data_.get(), count_}; }
  std::span<const T> span() const { return {data_.get(), count_}; }
  T& operator[](std::size_t index) { return data_.get()[index]; }
  const T& operator[](std::size_t index) const { return data_.get()[index]; }

 private:
  struct Free {
    void operator()(T* pointer) const { std::free(pointer); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace cornerturn
