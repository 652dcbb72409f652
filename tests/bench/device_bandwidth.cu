#include "tests/bench/device_bench.h"

namespace cornerturn::bench {
namespace {

using namespace cornerturn::cuda;  // NOLINT: a benchmark of that module

__global__ void read_and_write(const uint4* in, uint4* out, std::size_t out_count, unsigned read_per_write) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < out_count; i += step) {
    uint4 sum = make_uint4(0, 0, 0, 0);
#pragma unroll 4
    for (unsigned r = 0; r < read_per_write; ++r) {
      const uint4 value = in[r * out_count + i];
      sum = make_uint4(sum.x ^ value.x, sum.y ^ value.y, sum.z ^ value.z, sum.w ^ value.w);
    }
    out[i] = sum;
  }
}

__global__ void widen(const short2* in, float2* out, std::size_t count, std::size_t in_count, std::size_t shift) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const short2 value = in[(i + i / in_count * shift) % in_count];
    out[i] = make_float2(value.x, value.y);
  }
}

}  // namespace

std::vector<short2> random_samples(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, 300.0F);
  std::vector<short2> block(std::min(count, std::size_t{1} << 20));
  for (short2& value : block)
    value = make_short2(static_cast<short>(normal(random)), static_cast<short>(normal(random)));
  std::vector<short2> values;
  values.reserve(count);
  while (values.size() < count) {
    const std::size_t skip = random() % 4096 % block.size();
    const std::size_t part = std::min(count - values.size(), block.size() - skip);
    values.insert(values.end(), block.begin() + static_cast<std::ptrdiff_t>(skip),
                  block.begin() + static_cast<std::ptrdiff_t>(skip + part));
  }
  return values;
}

DeviceBuffer<float2> random_device_samples(std::size_t count, unsigned seed) {
  const DeviceBuffer<short2> block = to_device(random_samples(std::min(count, std::size_t{1} << 20), seed));
  DeviceBuffer<float2> values(count);
  widen<<<1024, 256>>>(block.data(), values.data(), count, block.size(), 977);
  check_launch("widen");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return values;
}

double device_bandwidth(std::size_t bytes, unsigned read_per_write) {
  const std::size_t out_count = bytes / 16 / (read_per_write + 1);
  const DeviceBuffer<float2> in = random_device_samples(2 * out_count * read_per_write, 3);
  const DeviceBuffer<uint4> out(out_count);
  double best = 0.0;
  for (const unsigned blocks : {132U * 8, 132U * 16, 132U * 64}) {
    const double seconds = device_seconds(nullptr, 5, [&](int) {
      read_and_write<<<blocks, 256>>>(reinterpret_cast<const uint4*>(in.data()), out.data(), out_count, read_per_write);
      check_launch("read_and_write");
    });
    best = std::max(best, static_cast<double>(16 * out_count * (read_per_write + 1)) / seconds);
  }
  return best;
}

}  // namespace cornerturn::bench
