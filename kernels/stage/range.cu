#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/range.h"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 132 * 16;

__global__ void multiply_spectrum(float2* lines, const float2* spectrum, std::size_t count, std::size_t length) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const float2 a = lines[i];
    const float2 b = spectrum[i % length];
    lines[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
  }
}

__global__ void scale_channels(float2* lines, const float2* factors, std::size_t count,
                               std::size_t elements_per_channel) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const float2 a = lines[i];
    const float2 b = factors[i / elements_per_channel];
    lines[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
  }
}

constexpr unsigned kTile = 32;
constexpr unsigned kTileRows = 8;

/// One tile of 32 gates x 32 pulses of one channel through shared memory, so that both sides are read and written in
/// runs of 256 bytes.
__global__ void __launch_bounds__(kTile* kTileRows) corner_turn(CornerTurnJob job, std::size_t pulse_tiles) {
  __shared__ float2 tile[kTile][kTile + 1];
  const std::size_t channel = blockIdx.x / pulse_tiles;
  const std::size_t first_pulse = blockIdx.x % pulse_tiles * kTile;
  const std::size_t first_gate = static_cast<std::size_t>(blockIdx.y) * kTile;
  for (unsigned row = threadIdx.y; row < kTile; row += kTileRows) {
    const std::size_t pulse = first_pulse + row;
    const std::size_t gate = first_gate + threadIdx.x;
    if (pulse < job.pulse_count && gate < job.gate_count)
      tile[row][threadIdx.x] = job.lines[(channel * job.pulse_count + pulse) * job.line_length + job.first_gate + gate];
  }
  __syncthreads();
  for (unsigned row = threadIdx.y; row < kTile; row += kTileRows) {
    const std::size_t pulse = first_pulse + threadIdx.x;
    const std::size_t gate = first_gate + row;
    if (pulse < job.pulse_count && gate < job.gate_count)
      job.cube[(gate * job.channel_count + channel) * job.pulse_count + pulse] = tile[threadIdx.x][row];
  }
}

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>(std::min<std::size_t>((count + kThreads - 1) / kThreads, kMostBlocks));
}

}  // namespace

void launch_multiply_spectrum(float2* lines, const float2* spectrum, std::size_t line_count, std::size_t length,
                              cudaStream_t stream) {
  const std::size_t count = line_count * length;
  multiply_spectrum<<<blocks_for(count), kThreads, 0, stream>>>(lines, spectrum, count, length);
  check_launch("multiply_spectrum");
}

void launch_scale_channels(float2* lines, const float2* factors, std::size_t channel_count,
                           std::size_t elements_per_channel, cudaStream_t stream) {
  const std::size_t count = channel_count * elements_per_channel;
  scale_channels<<<blocks_for(count), kThreads, 0, stream>>>(lines, factors, count, elements_per_channel);
  check_launch("scale_channels");
}

void launch_corner_turn(const CornerTurnJob& job, cudaStream_t stream) {
  // Pulses lie along x, whose limit is 2^31 blocks; 65,535 tiles of gates along y are two million gates.
  const std::size_t pulse_tiles = (job.pulse_count + kTile - 1) / kTile;
  const std::size_t gate_tiles = (job.gate_count + kTile - 1) / kTile;
  const dim3 grid(static_cast<unsigned>(pulse_tiles * job.channel_count), static_cast<unsigned>(gate_tiles));
  corner_turn<<<grid, dim3(kTile, kTileRows), 0, stream>>>(job, pulse_tiles);
  check_launch("corner_turn");
}

}  // namespace cornerturn::cuda
