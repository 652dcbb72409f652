#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/slow_time.h"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / 32;
constexpr std::size_t kMostBlocks = 1U << 20;

/// One warp a line. Differences are formed as on the host, so that both round alike.
template <DeviceCanceller kCanceller> __global__ void __launch_bounds__(kThreads) slow_time(SlowTimeJob job) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kWarps;
  for (std::size_t line = blockIdx.x * static_cast<std::size_t>(kWarps) + threadIdx.x / 32; line < job.line_count;
       line += step) {
    const float2* in = job.in + line * job.pulse_count;
    float2* out = job.out + line * job.out_length;
    float2 mean = make_float2(0.0F, 0.0F);
    if constexpr (kCanceller == DeviceCanceller::mean) {
      double sum_i = 0.0;
      double sum_q = 0.0;
      for (unsigned pulse = lane; pulse < job.pulse_count; pulse += 32) {
        sum_i += static_cast<double>(in[pulse].x);
        sum_q += static_cast<double>(in[pulse].y);
      }
      const double scale = 1.0 / job.pulse_count;
      mean.x = static_cast<float>(__shfl_sync(0xFFFFFFFFU, warp_sum(sum_i), 0) * scale);
      mean.y = static_cast<float>(__shfl_sync(0xFFFFFFFFU, warp_sum(sum_q), 0) * scale);
    }
    // Whole warps go round together: `cancelled` may be `in`, whose values the neighbours must have read.
    for (unsigned first = 0; first < job.out_length; first += 32) {
      const unsigned pulse = first + lane;
      float2 value = make_float2(0.0F, 0.0F);
      if (pulse < job.cancelled_pulse_count) {
        value = in[pulse];
        if constexpr (kCanceller == DeviceCanceller::mean) {
          value = make_float2(value.x - mean.x, value.y - mean.y);
        } else if constexpr (kCanceller == DeviceCanceller::two_pulse) {
          const float2 next = in[pulse + 1];
          value = make_float2(next.x - value.x, next.y - value.y);
        } else if constexpr (kCanceller == DeviceCanceller::three_pulse) {
          const float2 next = in[pulse + 1];
          const float2 after = in[pulse + 2];
          value = make_float2((after.x - next.x) - (next.x - value.x), (after.y - next.y) - (next.y - value.y));
        }
      }
      if (job.cancelled != nullptr) {
        __syncwarp();
        if (pulse < job.cancelled_pulse_count) job.cancelled[line * job.pulse_count + pulse] = value;
      }
      if (job.window != nullptr && pulse < job.cancelled_pulse_count) {
        const float weight = job.window[pulse];
        value = make_float2(value.x * weight, value.y * weight);
      }
      if (pulse < job.out_length) out[pulse] = value;
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    rotate_lines(const float2* in, float2* out, std::size_t line_count, unsigned length) {
  const std::size_t count = line_count * length;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const std::size_t line = i / length;
    const auto bin = static_cast<unsigned>(i % length);
    out[i] = in[line * length + (bin + length / 2 + 1) % length];
  }
}

__global__ void __launch_bounds__(kThreads) integrate_power(const float2* cube, float* power, std::size_t cell_count,
                                                            std::size_t channel_count, std::size_t bin_count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t cell = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; cell < cell_count;
       cell += step) {
    const std::size_t gate = cell / bin_count;
    const float2* in = cube + gate * channel_count * bin_count + cell % bin_count;
    float sum = 0.0F;
#pragma unroll 4
    for (std::size_t channel = 0; channel < channel_count; ++channel) {
      const float2 value = in[channel * bin_count];
      sum += value.x * value.x + value.y * value.y;
    }
    power[cell] = sum * (1.0F / static_cast<float>(channel_count));
  }
}

unsigned blocks_for(std::size_t count, std::size_t per_block) {
  return static_cast<unsigned>(std::min((count + per_block - 1) / per_block, kMostBlocks));
}

}  // namespace

void launch_slow_time(const SlowTimeJob& job, cudaStream_t stream) {
  const unsigned blocks = blocks_for(job.line_count, kWarps);
  switch (job.canceller) {
    case DeviceCanceller::none:
      slow_time<DeviceCanceller::none><<<blocks, kThreads, 0, stream>>>(job);
      break;
    case DeviceCanceller::mean:
      slow_time<DeviceCanceller::mean><<<blocks, kThreads, 0, stream>>>(job);
      break;
    case DeviceCanceller::two_pulse:
      slow_time<DeviceCanceller::two_pulse><<<blocks, kThreads, 0, stream>>>(job);
      break;
    case DeviceCanceller::three_pulse:
      slow_time<DeviceCanceller::three_pulse><<<blocks, kThreads, 0, stream>>>(job);
      break;
  }
  check_launch("slow_time");
}

void launch_rotate_lines(const float2* in, float2* out, std::size_t line_count, std::uint32_t length,
                         cudaStream_t stream) {
  rotate_lines<<<blocks_for(line_count * length, kThreads), kThreads, 0, stream>>>(in, out, line_count, length);
  check_launch("rotate_lines");
}

void launch_integrate_power(const float2* cube, float* power, std::size_t gate_count, std::size_t channel_count,
                            std::size_t bin_count, cudaStream_t stream) {
  const std::size_t cell_count = gate_count * bin_count;
  integrate_power<<<blocks_for(cell_count, kThreads), kThreads, 0, stream>>>(cube, power, cell_count, channel_count,
                                                                             bin_count);
  check_launch("integrate_power");
}

}  // namespace cornerturn::cuda
