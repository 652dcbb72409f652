#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

#include <vector_functions.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn::test {

template <typename T> cuda::DeviceBuffer<T> to_device(const std::vector<T>& values) {
  cuda::DeviceBuffer<T> buffer(values.size());
  cuda::check(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return buffer;
}
template <typename T> std::vector<T> to_host(const cuda::DeviceBuffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  cuda::check(cudaMemcpy(values.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}
/// Device memory full of NaN, so that what nobody writes shows.
template <typename T> cuda::DeviceBuffer<T> poisoned(std::size_t count) {
  cuda::DeviceBuffer<T> buffer(count);
  cuda::check(cudaMemset(buffer.data(), 0xFF, buffer.bytes()), "cudaMemset");
  return buffer;
}

inline std::vector<float2> noise(std::size_t count, unsigned seed, float level = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, level);
  std::vector<float2> values(count);
  for (float2& value : values) value = make_float2(normal(random), normal(random));
  return values;
}

inline std::complex<double> wide(float2 value) { return {static_cast<double>(value.x), static_cast<double>(value.y)}; }

/// Relative L2 distance; NaN when a value was never written.
class RelativeL2 {
 public:
  void add(std::complex<double> found, std::complex<double> expected) {
    error2_ += std::norm(found - expected);
    norm2_ += std::norm(expected);
  }
  double value() const { return std::sqrt(error2_ / norm2_); }

 private:
  double error2_ = 0.0;
  double norm2_ = 0.0;
};

}  // namespace cornerturn::test
