#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/stream.h"
#include "tests/bench/link_probe.h"

namespace cornerturn::bench {
namespace {

using namespace cornerturn::cuda;  // NOLINT: a benchmark of that module

constexpr int kRounds = 7;

__global__ void __launch_bounds__(512) read_all(const uint4* in, std::size_t count, unsigned* sink) {
  unsigned sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const uint4 value = in[i];
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == 0x12345678U) *sink = sum;  // keeps the reads
}

template <typename Body> double median_seconds(Body&& body) {
  std::vector<double> seconds;
  for (int round = 0; round <= kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (round > 0) seconds.push_back(elapsed.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

}  // namespace

LinkRates measure_link(std::size_t in_bytes, std::size_t out_bytes) {
  constexpr std::size_t kBuffers = 4;
  const std::size_t repeats = std::max<std::size_t>(8, (std::size_t{1} << 29) / in_bytes);
  std::vector<PinnedBuffer<std::byte>> hosts;
  std::vector<DeviceBuffer<std::byte>> devices;
  std::mt19937_64 random(1);
  for (std::size_t b = 0; b < kBuffers; ++b) {
    hosts.emplace_back(in_bytes);
    devices.emplace_back(in_bytes);
    for (std::size_t i = 0; i + 8 <= in_bytes; i += 8) {
      const std::uint64_t value = random();
      std::memcpy(hosts.back().host() + i, &value, 8);
    }
  }
  const DeviceBuffer<std::byte> results(std::max<std::size_t>(out_bytes, 16));
  const PinnedBuffer<std::byte> results_host(std::max<std::size_t>(out_bytes, 16));
  const DeviceBuffer<unsigned> sink(1);
  check(cudaMemset(results.data(), 0, results.bytes()), "cudaMemset");
  const Stream in(Priority::normal);
  const Stream out(Priority::normal);

  const auto copy = [&](bool beside) {
    return static_cast<double>(repeats * in_bytes) / median_seconds([&] {
             for (std::size_t i = 0; i < repeats; ++i) {
               check(cudaMemcpyAsync(devices[i % kBuffers].data(), hosts[i % kBuffers].host(), in_bytes,
                                     cudaMemcpyHostToDevice, in.get()),
                     "cudaMemcpyAsync");
               if (beside)
                 check(
                     cudaMemcpyAsync(results_host.host(), results.data(), out_bytes, cudaMemcpyDeviceToHost, out.get()),
                     "cudaMemcpyAsync");
             }
             in.synchronize();
             out.synchronize();
           });
  };
  LinkRates rates;
  rates.copy_in = copy(false);
  rates.copy_in_beside = copy(true);
  const auto read = [&](bool beside) {
    return static_cast<double>(repeats * in_bytes) / median_seconds([&] {
             for (std::size_t i = 0; i < repeats; ++i) {
               read_all<<<32, 512, 0, in.get()>>>(reinterpret_cast<const uint4*>(hosts[i % kBuffers].device()),
                                                  in_bytes / 16, sink.data());
               check_launch("read_all");
               if (beside)
                 check(
                     cudaMemcpyAsync(results_host.host(), results.data(), out_bytes, cudaMemcpyDeviceToHost, out.get()),
                     "cudaMemcpyAsync");
             }
             in.synchronize();
             out.synchronize();
           });
  };
  rates.read_in_place = read(false);
  rates.read_in_place_beside = read(true);
  return rates;
}

}  // namespace cornerturn::bench
