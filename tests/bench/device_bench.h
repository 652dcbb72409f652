#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <vector_functions.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/stream.h"

/// What the benchmarks of single stages share.
namespace cornerturn::bench {

/// Seconds of one call of body(i), by events around `count` of them: median of `rounds` behind one that warms up.
template <typename Body> double device_seconds(cudaStream_t stream, int count, Body&& body, int rounds = 7) {
  const cuda::Event start(cuda::Event::Kind::timing);
  const cuda::Event end(cuda::Event::Kind::timing);
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    start.record(stream);
    for (int i = 0; i < count; ++i) body(i);
    end.record(stream);
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (round > 0) seconds.push_back(end.seconds_since(start) / count);
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[static_cast<std::size_t>(rounds / 2)];
}

template <typename T> cuda::DeviceBuffer<T> to_device(const std::vector<T>& values) {
  cuda::DeviceBuffer<T> buffer(values.size());
  cuda::check(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return buffer;
}
template <typename T> std::vector<T> to_host(const T* data, std::size_t count) {
  std::vector<T> values(count);
  cuda::check(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

/// Noise of 300 counts as a 12-bit converter gives it. A block of it repeated at odd places keeps the filling short.
std::vector<short2> random_samples(std::size_t count, unsigned seed);
/// The same as complex floats in device memory.
cuda::DeviceBuffer<float2> random_device_samples(std::size_t count, unsigned seed);

/// Bytes per second of a kernel that reads `read_per_write` words of 16 bytes for each that it writes; `bytes` in all.
double device_bandwidth(std::size_t bytes, unsigned read_per_write);

/// cuBLAS' X X^H for each gate; 0 where the benchmark was built without cuBLAS.
double cublas_seconds(const float2* snapshots, float2* full, std::size_t gates, std::size_t channels,
                      std::size_t snapshot_count, bool tf32);

void bench_chain(const char* dump_folder);
void bench_range();
void bench_covariance();

}  // namespace cornerturn::bench
