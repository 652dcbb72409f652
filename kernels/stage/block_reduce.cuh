#pragma once

#include <cstdint>

namespace cornerturn::cuda {

template <typename T> __device__ inline T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xFFFFFFFFU, value, offset);
  return value;
}

/// Sum over the block, valid in every thread. `scratch` holds 33 values and may be used again behind a barrier.
/// Threads of the block: a multiple of 32.
template <typename T> __device__ inline T block_sum(T value, T* scratch) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  value = warp_sum(value);
  __syncthreads();  // the scratch of an earlier sum has been read
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  if (warp == 0) {
    T total = lane < blockDim.x / 32 ? scratch[lane] : T{};
    total = warp_sum(total);
    if (lane == 0) scratch[32] = total;
  }
  __syncthreads();
  return scratch[32];
}

}  // namespace cornerturn::cuda
