#include "kernels/cuda/cuda_error.h"
#include "kernels/probe/probe_kernels.h"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kLinkBlocks = 32;  // a few saturate the link; as many as the chain's own ingest kernel takes
constexpr std::uint32_t kUnlikely = 0x12345678U;

__global__ void __launch_bounds__(kThreads) read_all(const uint4* in, std::size_t count, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const uint4 value = in[i];
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == kUnlikely) *sink = sum;  // keeps the reads
}

__global__ void __launch_bounds__(kThreads) write_all(uint4* out, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step)
    out[i] = make_uint4(static_cast<unsigned>(i), 1U, 2U, 3U);
}

__device__ std::uint64_t scrambled(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

__global__ void __launch_bounds__(kThreads)
    read_granules(const std::uint32_t* memory, std::size_t words_per_granule, std::size_t granule_count,
                  std::size_t stride_words, std::size_t granules_in_window, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  const std::size_t word_count = granule_count * words_per_granule;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < word_count; i += step) {
    const std::size_t granule = i / words_per_granule;
    const std::size_t word = i % words_per_granule;
    const std::size_t first =
        stride_words != 0 ? granule * stride_words : scrambled(granule) % granules_in_window * words_per_granule;
    sum += memory[first + word];
  }
  if (sum == kUnlikely) *sink = sum;
}

}  // namespace

void launch_read_all(const void* in, std::size_t bytes, std::uint32_t* sink, cudaStream_t stream) {
  read_all<<<kLinkBlocks, kThreads, 0, stream>>>(static_cast<const uint4*>(in), bytes / sizeof(uint4), sink);
  check_launch("read_all");
}

void launch_write_all(void* out, std::size_t bytes, cudaStream_t stream) {
  write_all<<<kLinkBlocks, kThreads, 0, stream>>>(static_cast<uint4*>(out), bytes / sizeof(uint4));
  check_launch("write_all");
}

void launch_read_granules(const GranuleReads& reads, cudaStream_t stream) {
  constexpr unsigned kManyBlocks = 528;  // small requests need many threads in flight
  read_granules<<<kManyBlocks, kThreads, 0, stream>>>(
      static_cast<const std::uint32_t*>(reads.memory), reads.granule_bytes / 4, reads.granule_count,
      reads.stride_bytes / 4, reads.window_bytes / reads.granule_bytes, reads.sink);
  check_launch("read_granules");
}

}  // namespace cornerturn::cuda
