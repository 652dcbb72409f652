#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/cfar.h"
#include "kernels/stage/cfar_window.cuh"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kTileBins = 64;
constexpr unsigned kMostTileGates = 8;
constexpr std::size_t kUsualSharedBytes = 48 * 1024;
constexpr std::size_t kMostSharedBytes = 96 * 1024;

__device__ void to_map(CfarJob& job, unsigned map) {
  job.power += map * static_cast<std::size_t>(job.gate_count) * job.bin_count;
  job.hits += map * static_cast<std::size_t>(job.gate_count) * job.words_per_gate();
}

/// Any window: one tile of gates x bins a block: sums over range for each bin of tile and halo go to shared memory,
/// then each cell adds its own neighbourhood of them.
__global__ void __launch_bounds__(kThreads) cfar(CfarJob job, unsigned tile_gates) {
  extern __shared__ float sums[];  // far then near, each (gate, bin of tile and halo)
  const unsigned halo = job.train_doppler + job.guard_doppler;
  const unsigned width = kTileBins + 2 * halo;
  float* const far = sums;
  float* const near = sums + tile_gates * width;
  const unsigned first_gate = blockIdx.x * tile_gates;
  const unsigned first_bin = blockIdx.y * kTileBins;
  to_map(job, blockIdx.z);

  for (unsigned i = threadIdx.x; i < tile_gates * width; i += kThreads) {
    const unsigned gate = first_gate + i / width;
    const int shifted = static_cast<int>(first_bin + i % width) - static_cast<int>(halo);
    // Beyond the last bin of the map by more than the halo, nothing is asked for.
    const bool asked = shifted < static_cast<int>(job.bin_count + halo) && gate < job.gate_count;
    const int bin = asked ? existing_bin(job, shifted) : -1;
    float far_sum = 0.0F;
    float near_sum = 0.0F;
    if (bin >= 0) {
      const RangeSpan span = range_span(job, gate);
      const float* column = job.power + bin;
      for (unsigned line = span.far_begin; line < span.near_begin; ++line)
        far_sum += column[static_cast<std::size_t>(line) * job.bin_count];
      for (unsigned line = span.near_begin; line < span.near_end; ++line)
        near_sum += column[static_cast<std::size_t>(line) * job.bin_count];
      for (unsigned line = span.near_end; line < span.far_end; ++line)
        far_sum += column[static_cast<std::size_t>(line) * job.bin_count];
    }
    far[i] = far_sum;
    near[i] = near_sum;
  }
  __syncthreads();

  const unsigned words_per_gate = job.words_per_gate();
  for (unsigned i = threadIdx.x; i < tile_gates * kTileBins; i += kThreads) {
    const unsigned row = i / kTileBins;
    const unsigned column = i % kTileBins;
    const unsigned gate = first_gate + row;
    const unsigned bin = first_bin + column;
    bool hit = false;
    if (gate < job.gate_count && bin < job.bin_count) {
      const float* far_line = far + row * width + column;
      const float* near_line = near + row * width + column;
      float sum = 0.0F;
      for (unsigned k = 0; k < 2 * halo + 1; ++k) sum += far_line[k];
      for (unsigned k = 0; k < job.train_doppler; ++k) sum += near_line[k];
      for (unsigned k = job.train_doppler + 2 * job.guard_doppler + 1; k < 2 * halo + 1; ++k) sum += near_line[k];
      const float scale = job.scale_of_count[training_count(job, range_span(job, gate), bin)];
      hit = job.power[static_cast<std::size_t>(gate) * job.bin_count + bin] > scale * sum;  // false for NaN
    }
    const unsigned word = __ballot_sync(0xFFFFFFFFU, hit);
    if (threadIdx.x % 32 == 0 && gate < job.gate_count && bin < job.bin_count)
      job.hits[static_cast<std::size_t>(gate) * words_per_gate + bin / 32] = word;
  }
}

/// sums(i) = values(i) + ... + values(i + kWidth - 1), of positive numbers only: nothing cancels. Halves are shared by
/// neighbouring sums.
template <int kWidth, int kCount>
__device__ __forceinline__ void window_sums(const float (&values)[kCount], float (&sums)[kCount]) {
  if constexpr (kWidth == 1) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) sums[i] = values[i];
  } else {
    constexpr int kHalf = kWidth / 2;
    float halves[kCount];
    window_sums<kHalf>(values, halves);
#pragma unroll
    for (int i = 0; i + kWidth <= kCount; ++i)
      sums[i] = halves[i] + halves[i + kHalf] + (kWidth % 2 == 1 ? values[i + kWidth - 1] : 0.0F);
  }
}

constexpr unsigned kColumnGates = 16;
constexpr unsigned kMostColumnBins = 256;
// Fewer blocks of whole lines leave multiprocessors idle: then small tiles are faster.
constexpr std::size_t kFewestColumnBlocks = 132 * 4;

/// A window that is known when compiling: a thread reads its bin's gates once into registers, where sums along range
/// share their parts; whole lines of a few gates a block, so that sums along Doppler need no other.
template <unsigned kTrainRange, unsigned kGuardRange, unsigned kTrainDoppler, unsigned kGuardDoppler>
__global__ void __launch_bounds__(kMostColumnBins, 4) cfar_columns(CfarJob job) {
  extern __shared__ float sums[];
  constexpr unsigned kReach = kTrainRange + kGuardRange;
  constexpr unsigned kLines = kColumnGates + 2 * kReach;
  constexpr unsigned kHalo = kTrainDoppler + kGuardDoppler;
  const unsigned width = job.bin_count + 2 * kHalo;
  float* const all = sums;                         // (gate, bin and halo), the guarded gates too
  float* const far = sums + kColumnGates * width;  // without them
  const unsigned first_gate = blockIdx.x * kColumnGates;
  const unsigned bin = threadIdx.x;
  const bool is_inside = first_gate >= kReach && first_gate + kColumnGates + kReach <= job.gate_count;
  to_map(job, blockIdx.y);

  float own[kColumnGates];
  if (bin < job.bin_count) {
    float values[kLines];
    const float* in = job.power + (static_cast<std::ptrdiff_t>(first_gate) - kReach) * job.bin_count + bin;
    if (is_inside) {
#pragma unroll
      for (unsigned i = 0; i < kLines; ++i) values[i] = in[i * job.bin_count];
    } else {
#pragma unroll
      for (unsigned i = 0; i < kLines; ++i)
        values[i] = first_gate + i - kReach < job.gate_count ? in[i * job.bin_count] : 0.0F;  // wraps below the first
    }
    float train_sums[kLines];
    float guard_sums[kLines];
    window_sums<kTrainRange>(values, train_sums);
    window_sums<2 * kGuardRange + 1>(values, guard_sums);
    // The same bin stands beyond the other end of a line that is continued.
    const bool before = job.doppler_wraps && bin + kHalo >= job.bin_count;
    const bool behind = job.doppler_wraps && bin < kHalo;
#pragma unroll
    for (unsigned i = 0; i < kColumnGates; ++i) {
      own[i] = values[i + kReach];
      const float far_sum = train_sums[i] + train_sums[i + kTrainRange + 2 * kGuardRange + 1];
      const float all_sum = far_sum + guard_sums[i + kTrainRange];
      const unsigned at = i * width + kHalo + bin;
      far[at] = far_sum;
      all[at] = all_sum;
      if (before) {
        far[at - job.bin_count] = far_sum;
        all[at - job.bin_count] = all_sum;
      }
      if (behind) {
        far[at + job.bin_count] = far_sum;
        all[at + job.bin_count] = all_sum;
      }
    }
  }
  if (!job.doppler_wraps) {
    for (unsigned i = threadIdx.x; i < 2 * kColumnGates * 2 * kHalo; i += blockDim.x) {
      const unsigned column = i % (2 * kHalo);
      sums[i / (2 * kHalo) * width + (column < kHalo ? column : job.bin_count + column)] = 0.0F;
    }
  }
  __syncthreads();

  const unsigned words_per_gate = job.words_per_gate();
  const bool bin_exists = bin < job.bin_count;
  const unsigned window = bin_exists ? clipped_width(job, bin, kHalo) : 0;
  const unsigned guard = bin_exists ? clipped_width(job, bin, kGuardDoppler) : 0;
  float scale = job.scale_of_count[2 * kTrainRange * window + (2 * kGuardRange + 1) * (window - guard)];
#pragma unroll
  for (unsigned i = 0; i < kColumnGates; ++i) {
    const unsigned gate = first_gate + i;
    if (gate >= job.gate_count) break;
    if (!is_inside) {
      const RangeSpan span = range_span(job, gate);
      scale = job.scale_of_count[span.far_count() * window + span.near_count() * (window - guard)];
    }
    bool hit = false;
    if (bin_exists) {
      const float* all_line = all + i * width + bin;
      const float* far_line = far + i * width + bin;
      float sum = 0.0F;
#pragma unroll
      for (unsigned k = 0; k < 2 * kHalo + 1; ++k)
        sum += k < kTrainDoppler || k > kHalo + kGuardDoppler ? all_line[k] : far_line[k];
      hit = own[i] > scale * sum;  // false for NaN
    }
    const unsigned word = __ballot_sync(0xFFFFFFFFU, hit);
    if (threadIdx.x % 32 == 0 && bin_exists)
      job.hits[static_cast<std::size_t>(gate) * words_per_gate + bin / 32] = word;
  }
}

template <unsigned kTrainRange, unsigned kGuardRange, unsigned kTrainDoppler, unsigned kGuardDoppler>
bool launch_columns(const CfarJob& job, cudaStream_t stream) {
  const unsigned width = job.bin_count + 2 * (kTrainDoppler + kGuardDoppler);
  const dim3 grid((job.gate_count + kColumnGates - 1) / kColumnGates, job.map_count);
  if (job.train_range != kTrainRange || job.guard_range != kGuardRange || job.train_doppler != kTrainDoppler ||
      job.guard_doppler != kGuardDoppler || job.bin_count > kMostColumnBins || width > 2 * job.bin_count ||
      static_cast<std::size_t>(grid.x) * grid.y < kFewestColumnBlocks)
    return false;
  const auto kernel = cfar_columns<kTrainRange, kGuardRange, kTrainDoppler, kGuardDoppler>;
  kernel<<<grid, (job.bin_count + 31) / 32 * 32, sizeof(float) * 2 * kColumnGates * width, stream>>>(job);
  check_launch("cfar");
  return true;
}

}  // namespace

void launch_cfar(const CfarJob& job, cudaStream_t stream) {
  // The default window, and the one of 5 x 13 cells.
  if (launch_columns<8, 2, 4, 2>(job, stream) || launch_columns<5, 1, 1, 1>(job, stream)) return;
  const unsigned width = kTileBins + 2 * (job.train_doppler + job.guard_doppler);
  const auto shared_bytes = [&](unsigned gates) { return 2 * sizeof(float) * gates * width; };
  unsigned tile_gates = kMostTileGates;
  while (tile_gates > 1 && shared_bytes(tile_gates) > kUsualSharedBytes) tile_gates /= 2;
  if (shared_bytes(tile_gates) > kUsualSharedBytes)
    check(cudaFuncSetAttribute(cfar, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kMostSharedBytes)),
          "cudaFuncSetAttribute");
  const dim3 grid((job.gate_count + tile_gates - 1) / tile_gates, (job.bin_count + kTileBins - 1) / kTileBins,
                  job.map_count);
  cfar<<<grid, kThreads, shared_bytes(tile_gates), stream>>>(job, tile_gates);
  check_launch("cfar");
}

}  // namespace cornerturn::cuda
