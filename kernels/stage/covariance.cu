#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/covariance.h"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kElementsPerThread = 4;
constexpr unsigned kElementsPerBlock = kThreads * kElementsPerThread;
constexpr unsigned kMostTileElements = 5000;  // 40 KB of shared memory
constexpr unsigned kMostTileSnapshots = 64;

struct Place {
  unsigned row;
  unsigned column;
};

/// The inverse of packed_index(row, column) = row (row + 1) / 2 + column.
__device__ Place place_of(unsigned element) {
  auto row = static_cast<unsigned>((sqrtf(8.0F * static_cast<float>(element) + 1.0F) - 1.0F) * 0.5F);
  while (row * (row + 1) / 2 > element) --row;  // the root may be rounded over
  while ((row + 1) * (row + 2) / 2 <= element) ++row;
  return {row, element - row * (row + 1) / 2};
}

__device__ void add_product(float2& sum, float2 a, float2 b) {  // sum += a conj(b)
  sum.x += a.x * b.x + a.y * b.y;
  sum.y += a.y * b.x - a.x * b.y;
}

/// One gate a block along x, a part of the packed elements along y; each thread keeps its elements in registers while
/// the snapshots pass through shared memory. Partial sums of a tile are single, their sum is double.
template <bool kForwardBackward>
__global__ void __launch_bounds__(kThreads) covariance(CovarianceJob job, unsigned tile_snapshots) {
  extern __shared__ float2 tile[];  // (snapshot, channel)
  __shared__ double scratch[33];
  const auto order = static_cast<unsigned>(job.channel_count);
  const unsigned element_count = order * (order + 1) / 2;
  const auto snapshot_count = static_cast<unsigned>(job.snapshot_count);
  const std::size_t gate = blockIdx.x;
  const float2* snapshots = job.snapshots + gate * order * job.line_stride;

  Place places[kElementsPerThread];
  double2 sums[kElementsPerThread] = {};
  unsigned own_count = 0;
#pragma unroll
  for (unsigned e = 0; e < kElementsPerThread; ++e) {
    const unsigned element = blockIdx.y * kElementsPerBlock + e * kThreads + threadIdx.x;
    places[e] = element < element_count ? place_of(element) : Place{0, 0};
    if (element < element_count) own_count = e + 1;
  }

  double power = 0.0;
  for (unsigned first = 0; first < snapshot_count; first += tile_snapshots) {
    const unsigned count = min(tile_snapshots, snapshot_count - first);
    __syncthreads();  // the tile before has been used
    for (unsigned i = threadIdx.x; i < count * order; i += kThreads) {
      const unsigned channel = i / count;
      const unsigned snapshot = i % count;
      const float2 value = snapshots[channel * job.line_stride + first + snapshot];
      tile[snapshot * order + channel] = value;
      power += static_cast<double>(value.x * value.x + value.y * value.y);
    }
    __syncthreads();
#pragma unroll
    for (unsigned e = 0; e < kElementsPerThread; ++e) {
      if (e >= own_count) continue;
      const unsigned row = places[e].row;
      const unsigned column = places[e].column;
      float2 part = make_float2(0.0F, 0.0F);
#pragma unroll 4
      for (unsigned k = 0; k < count; ++k) {
        const float2* x = tile + k * order;
        add_product(part, x[row], x[column]);
        // R(M-1-c, M-1-r) of the mirrored array.
        if constexpr (kForwardBackward) add_product(part, x[order - 1 - column], x[order - 1 - row]);
      }
      sums[e].x += static_cast<double>(part.x);
      sums[e].y += static_cast<double>(part.y);
    }
  }

  const double scale = 1.0 / static_cast<double>(snapshot_count);
  const double loading = *job.loading;
  double added = 0.0;
  if (loading != 0.0) added = loading * block_sum(power, scratch) * scale / order;
  float2* const packed = job.packed_address != nullptr ? *job.packed_address : job.packed;
#pragma unroll
  for (unsigned e = 0; e < kElementsPerThread; ++e) {
    if (e >= own_count) continue;
    const double half = kForwardBackward ? 0.5 * scale : scale;
    const bool diagonal = places[e].row == places[e].column;
    const double real = sums[e].x * half + (diagonal ? added : 0.0);
    const double imaginary = diagonal ? 0.0 : sums[e].y * half;
    const unsigned element = blockIdx.y * kElementsPerBlock + e * kThreads + threadIdx.x;
    packed[gate * element_count + element] = make_float2(static_cast<float>(real), static_cast<float>(imaginary));
  }
}

}  // namespace

void launch_covariance(const CovarianceJob& job, cudaStream_t stream) {
  if (!covariance_detail::launch_on_tensor_cores(job, stream)) covariance_detail::launch_on_cores(job, stream);
}

void covariance_detail::launch_on_cores(const CovarianceJob& job, cudaStream_t stream) {
  const auto order = static_cast<unsigned>(job.channel_count);
  const unsigned element_count = order * (order + 1) / 2;
  const unsigned tile_snapshots = std::clamp(kMostTileElements / order, 1U,
                                             std::min(kMostTileSnapshots, static_cast<unsigned>(job.snapshot_count)));
  const std::size_t shared_bytes = sizeof(float2) * tile_snapshots * order;
  const dim3 grid(static_cast<unsigned>(job.gate_count), (element_count + kElementsPerBlock - 1) / kElementsPerBlock);
  if (job.forward_backward) {
    covariance<true><<<grid, kThreads, shared_bytes, stream>>>(job, tile_snapshots);
  } else {
    covariance<false><<<grid, kThreads, shared_bytes, stream>>>(job, tile_snapshots);
  }
  check_launch("covariance");
}

}  // namespace cornerturn::cuda
