#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// Reads `bytes` (a multiple of 16) in order with few blocks, as an ingest kernel does. `sink` takes one word.
void launch_read_all(const void* in, std::size_t bytes, std::uint32_t* sink, cudaStream_t stream);
/// Writes `bytes` (a multiple of 16) in order.
void launch_write_all(void* out, std::size_t bytes, cudaStream_t stream);

/// Granules read by groups of neighbouring threads.
struct GranuleReads {
  const void* memory = nullptr;
  std::size_t granule_bytes = 0;  ///< a power of two from 4 on
  std::size_t granule_count = 0;  ///< to be read
  std::size_t stride_bytes = 0;   ///< 0: at random places of the window instead
  std::size_t window_bytes = 0;   ///< a power of two when random
  std::uint32_t* sink = nullptr;
};
void launch_read_granules(const GranuleReads& reads, cudaStream_t stream);

}  // namespace cornerturn::cuda
