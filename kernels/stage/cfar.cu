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

/// One tile of gates x bins a block: sums over range for each bin of tile and halo go to shared memory, then each cell
/// adds its own neighbourhood of them.
__global__ void __launch_bounds__(kThreads) cfar(CfarJob job, unsigned tile_gates) {
  extern __shared__ float sums[];  // far then near, each (gate, bin of tile and halo)
  const unsigned halo = job.train_doppler + job.guard_doppler;
  const unsigned width = kTileBins + 2 * halo;
  float* const far = sums;
  float* const near = sums + tile_gates * width;
  const unsigned first_gate = blockIdx.x * tile_gates;
  const unsigned first_bin = blockIdx.y * kTileBins;

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

}  // namespace

void launch_cfar(const CfarJob& job, cudaStream_t stream) {
  const unsigned width = kTileBins + 2 * (job.train_doppler + job.guard_doppler);
  const auto shared_bytes = [&](unsigned gates) { return 2 * sizeof(float) * gates * width; };
  unsigned tile_gates = kMostTileGates;
  while (tile_gates > 1 && shared_bytes(tile_gates) > kUsualSharedBytes) tile_gates /= 2;
  if (shared_bytes(tile_gates) > kUsualSharedBytes)
    check(cudaFuncSetAttribute(cfar, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kMostSharedBytes)),
          "cudaFuncSetAttribute");
  const dim3 grid((job.gate_count + tile_gates - 1) / tile_gates, (job.bin_count + kTileBins - 1) / kTileBins);
  cfar<<<grid, kThreads, shared_bytes(tile_gates), stream>>>(job, tile_gates);
  check_launch("cfar");
}

}  // namespace cornerturn::cuda
