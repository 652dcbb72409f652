#pragma once

#include <cstdint>

#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/unpack.h"

/// What kernels that read raw lines have in common.
namespace cornerturn::cuda {

/// Scalar index of a line's first sample, without the offset of I or Q.
__device__ inline std::int64_t first_scalar(const UnpackJob& job, unsigned channel, unsigned pulse_in_segment) {
  const DeviceLayout& layout = job.layout;
  return layout.offset + pulse_in_segment * layout.pulse_stride +
         channel / layout.channels_per_group * layout.channel_group_stride +
         channel % layout.channels_per_group * layout.channel_stride;
}

__device__ inline bool is_gap(const GapTable& gaps, unsigned pulse, unsigned sample) {
  if (gaps.offsets == nullptr) return false;
  for (unsigned i = gaps.offsets[pulse]; i < gaps.offsets[pulse + 1]; ++i)
    if (sample - gaps.spans[i].first_sample < gaps.spans[i].sample_count) return true;
  return false;
}

/// What a block has found in one line goes to the counters of the CPI.
__device__ inline void count_quality(const UnpackJob& job, unsigned channel, unsigned masked, unsigned saturated,
                                     bool signal) {
  masked = warp_sum(masked);  // the first lane's is whole
  saturated = warp_sum(saturated);
  const bool any = __any_sync(0xFFFFFFFFU, signal);
  if (threadIdx.x % 32 != 0) return;
  if (masked > 0) atomicAdd(job.quality.masked_samples, masked);
  if (saturated > 0) atomicAdd(job.quality.saturated_samples, saturated);
  if (any && atomicAdd(&job.quality.channel_has_signal[channel], 0U) == 0)
    atomicExch(&job.quality.channel_has_signal[channel], 1U);
}

__device__ inline int low_half(int word) { return static_cast<short>(word & 0xFFFF); }
__device__ inline int high_half(int word) { return word >> 16; }

}  // namespace cornerturn::cuda
