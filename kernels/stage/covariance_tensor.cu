#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/covariance.h"

namespace cornerturn::cuda {
namespace {

// Products of 16 x 8 elements over 8 snapshots; a fragment of the left factor is two of the right one, for both are
// rows of X: channels along rows, snapshots along columns, in any order that is the same for both.
constexpr unsigned kRows = 16;
constexpr unsigned kColumns = 8;
constexpr unsigned kStep = 8;  // snapshots

/// A sample in two parts: the upper 11 bits, rounded, and the rest, of which tensor cores take the upper 11 bits.
struct Split {
  unsigned high;
  unsigned low;
};
/// What one thread holds of 8 channels x 8 snapshots: of channel lane / 4 snapshots 2 (lane % 4) and the next.
struct Fragment {
  Split real[2];
  Split imaginary[2];
};

__device__ __forceinline__ Split split(float value) {
  // As cvt.rna.tf32 rounds, in two instructions of full rate.
  const unsigned high = (__float_as_uint(value) + 0x1000U) & 0xFFFFE000U;
  return {high, __float_as_uint(value - __uint_as_float(high))};
}
__device__ __forceinline__ Fragment split(float4 two_samples) {
  return {{split(two_samples.x), split(two_samples.z)}, {split(two_samples.y), split(two_samples.w)}};
}

/// sum += left right^T. left: 16 channels, the parts of two fragments; right: 8 channels.
__device__ __forceinline__ void add_product(float (&sum)[4], unsigned left_0, unsigned left_1, unsigned left_2,
                                            unsigned left_3, unsigned right_0, unsigned right_1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left_0), "r"(left_1), "r"(left_2), "r"(left_3), "r"(right_0), "r"(right_1));
#endif
}
enum class Part { low_high, high_low, high_high };
/// The two small products come before the large one; what the small parts' own product would add is below single
/// precision.
template <Part kPart>
__device__ __forceinline__ void add_part(float (&sum)[4], const Split (&upper)[2], const Split (&lower)[2],
                                         const Split (&right)[2]) {
  if constexpr (kPart == Part::low_high) {
    add_product(sum, upper[0].low, lower[0].low, upper[1].low, lower[1].low, right[0].high, right[1].high);
  } else if constexpr (kPart == Part::high_low) {
    add_product(sum, upper[0].high, lower[0].high, upper[1].high, lower[1].high, right[0].low, right[1].low);
  } else {
    add_product(sum, upper[0].high, lower[0].high, upper[1].high, lower[1].high, right[0].high, right[1].high);
  }
}
template <Part kPart>
__device__ __forceinline__ void add_parts(float (&sums)[4][4], const Fragment& upper, const Fragment& lower,
                                          const Fragment& right) {
  add_part<kPart>(sums[0], upper.real, lower.real, right.real);
  add_part<kPart>(sums[1], upper.imaginary, lower.imaginary, right.imaginary);
  add_part<kPart>(sums[2], upper.imaginary, lower.imaginary, right.real);
  add_part<kPart>(sums[3], upper.real, lower.real, right.imaginary);
}

/// Column tiles are counted over the row tiles: row tile t has the 2 t + 2 tiles up to its diagonal.
constexpr unsigned first_tile_of(unsigned row_tile) { return row_tile * (row_tile + 1); }
constexpr unsigned row_tile_of(unsigned tile) {
  unsigned row_tile = 0;
  while (first_tile_of(row_tile + 1) <= tile) ++row_tile;
  return row_tile;
}

/// The tiles [kFirstTile, kEndTile) of one gate by one warp, into `packed` in shared memory.
template <unsigned kFirstTile, unsigned kEndTile>
__device__ __forceinline__ void form_tiles(const CovarianceJob& job, const float2* gate_snapshots,
                                           unsigned snapshot_count, float2* packed) {
  constexpr unsigned kTiles = kEndTile - kFirstTile;
  // Groups of 8 channels that these tiles touch: rows of the first to the last row tile, columns from 0 on, or from the
  // first tile's own when they are all of one row tile.
  constexpr unsigned kFirstRowTile = row_tile_of(kFirstTile);
  constexpr unsigned kLastRowTile = row_tile_of(kEndTile - 1);
  constexpr unsigned kGroups = 2 * kLastRowTile + 2;
  constexpr unsigned kFirstGroup = kFirstRowTile == kLastRowTile ? kFirstTile - first_tile_of(kFirstRowTile) : 0;
  constexpr unsigned kOwnGroups = kGroups - kFirstGroup;
  static_assert(kFirstGroup <= 2 * kFirstRowTile);
  const auto order = static_cast<unsigned>(job.channel_count);
  const unsigned lane = threadIdx.x % 32;
  const unsigned lane_row = lane / 4;
  const unsigned lane_column = 2 * (lane % 4);

  // Nothing that is read waits for a test: rows beyond the last channel repeat it and are not written, snapshots beyond
  // the last repeat it and are cleared where they are used.
  const unsigned last = snapshot_count == 0 ? 0 : (snapshot_count - 1) / 2 * 2;
  const float2* rows[kOwnGroups];
#pragma unroll
  for (unsigned g = 0; g < kOwnGroups; ++g)
    rows[g] = gate_snapshots + min((kFirstGroup + g) * kColumns + lane_row, order - 1) * job.line_stride;
  const auto load = [&](float4(&two)[kOwnGroups], unsigned snapshot) {
#pragma unroll
    for (unsigned g = 0; g < kOwnGroups; ++g) two[g] = *reinterpret_cast<const float4*>(rows[g] + min(snapshot, last));
  };
  constexpr unsigned kAhead =
      kTiles != 5 && kOwnGroups <= 4 ? 2 : 1;  // steps on their way while one is used, as registers allow
  float4 next[kAhead][kOwnGroups];
#pragma unroll
  for (unsigned a = 0; a < kAhead; ++a) load(next[a], a * kStep + lane_column);

  float sums[kTiles][2][4] = {};
  const auto use = [&](float4(&two)[kOwnGroups], unsigned first) {
    if (first + kStep > snapshot_count) {
      const unsigned snapshot = first + lane_column;
#pragma unroll
      for (unsigned g = 0; g < kOwnGroups; ++g) {
        if (snapshot >= snapshot_count) two[g].x = two[g].y = 0.0F;
        if (snapshot + 1 >= snapshot_count) two[g].z = two[g].w = 0.0F;
      }
    }
    Fragment fragments[kOwnGroups];
#pragma unroll
    for (unsigned g = 0; g < kOwnGroups; ++g) fragments[g] = split(two[g]);
    load(two, first + kAhead * kStep + lane_column);
#pragma unroll
    for (unsigned t = 0; t < kTiles; ++t) {
      const unsigned row_tile = row_tile_of(kFirstTile + t);
      const Fragment& upper = fragments[2 * row_tile - kFirstGroup];
      const Fragment& lower = fragments[2 * row_tile + 1 - kFirstGroup];
      const Fragment& right = fragments[kFirstTile + t - first_tile_of(row_tile) - kFirstGroup];
      // The tensor core cuts off where an addition rounds, which over many snapshots would be a bias: only these few
      // are summed there.
      float products[4][4] = {};
      add_parts<Part::low_high>(products, upper, lower, right);
      add_parts<Part::high_low>(products, upper, lower, right);
      add_parts<Part::high_high>(products, upper, lower, right);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        sums[t][0][i] += products[0][i] + products[1][i];
        sums[t][1][i] += products[2][i] - products[3][i];
      }
    }
  };
#pragma unroll 1
  for (unsigned first = 0; first < snapshot_count; first += kAhead * kStep) {
#pragma unroll
    for (unsigned a = 0; a < kAhead; ++a)
      if (a == 0 || first + a * kStep < snapshot_count) use(next[a], first + a * kStep);
  }
  const float scale = 1.0F / static_cast<float>(job.snapshot_count);
#pragma unroll
  for (unsigned t = 0; t < kTiles; ++t) {
    const unsigned row_tile = row_tile_of(kFirstTile + t);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = row_tile * kRows + lane_row + i / 2 * kColumns;
      const unsigned column = (kFirstTile + t - first_tile_of(row_tile)) * kColumns + lane_column + i % 2;
      if (row < order && column <= row)
        packed[row * (row + 1) / 2 + column] =
            make_float2(sums[t][0][i] * scale, row == column ? 0.0F : sums[t][1][i] * scale);
    }
  }
}

template <unsigned kRowTiles, unsigned kWarps, unsigned kWarp = 0>
__device__ __forceinline__ void form_warp_tiles(unsigned warp, const CovarianceJob& job, const float2* gate_snapshots,
                                                unsigned snapshot_count, float2* packed) {
  if constexpr (kWarp < kWarps) {
    constexpr unsigned kTiles = first_tile_of(kRowTiles);
    if (warp == kWarp) {
      form_tiles<kWarp * kTiles / kWarps, (kWarp + 1) * kTiles / kWarps>(job, gate_snapshots, snapshot_count, packed);
    } else {
      form_warp_tiles<kRowTiles, kWarps, kWarp + 1>(warp, job, gate_snapshots, snapshot_count, packed);
    }
  }
}

/// The inverse of packed_index(row, column) = row (row + 1) / 2 + column, as the index of the mirrored array's element.
__device__ unsigned mirrored_index(unsigned element, unsigned order) {
  auto row = static_cast<unsigned>((sqrtf(8.0F * static_cast<float>(element) + 1.0F) - 1.0F) * 0.5F);
  while (row * (row + 1) / 2 > element) --row;  // the root may be rounded over
  while ((row + 1) * (row + 2) / 2 <= element) ++row;
  const unsigned other_row = order - 1 - (element - row * (row + 1) / 2);
  return other_row * (other_row + 1) / 2 + order - 1 - row;
}

constexpr unsigned kBlockWarps = 4;
constexpr std::size_t kFewGates = 1024;  // a warp each would not fill the device

/// kWarps warps for the tiles of a gate, 4 warps a block; kParts: over how many of them a gate's snapshots are spread,
/// which makes few gates quick. The packed matrices are put together in shared memory and leave it in whole runs.
template <unsigned kRowTiles, unsigned kWarps, unsigned kParts>
__global__ void __launch_bounds__(32 * kBlockWarps, kRowTiles == 4 ? 3 : 1) covariance_tensor(CovarianceJob job) {
  extern __shared__ float2 matrices[];
  constexpr unsigned kBlockGates = kBlockWarps / kWarps / kParts;
  const auto order = static_cast<unsigned>(job.channel_count);
  const unsigned element_count = order * (order + 1) / 2;
  const std::size_t first_gate = static_cast<std::size_t>(blockIdx.x) * kBlockGates;
  const unsigned warp = threadIdx.x / 32;
  const unsigned matrix = warp / kWarps;  // (gate, part)
  const std::size_t gate = first_gate + matrix / kParts;
  if (gate < job.gate_count) {
    const auto snapshot_count = static_cast<unsigned>(job.snapshot_count);
    const unsigned part = (snapshot_count + kParts * kStep - 1) / (kParts * kStep) * kStep;
    unsigned first = matrix % kParts * part;
    if (first >= snapshot_count) first = 0;  // nothing is left for this part
    const unsigned own_count = matrix % kParts * part < snapshot_count ? min(part, snapshot_count - first) : 0;
    form_warp_tiles<kRowTiles, kWarps>(warp % kWarps, job, job.snapshots + gate * order * job.line_stride + first,
                                       own_count, matrices + matrix * element_count);
  }
  __syncthreads();
  if constexpr (kParts > 1) {
    static_assert(kBlockGates == 1);
    for (unsigned i = threadIdx.x; i < element_count; i += blockDim.x) {
      float2 sum = matrices[i];
      for (unsigned other = 1; other < kParts; ++other) {
        const float2 value = matrices[other * element_count + i];
        sum = make_float2(sum.x + value.x, sum.y + value.y);
      }
      matrices[i] = sum;
    }
    __syncthreads();
  }

  const auto gates = static_cast<unsigned>(min(static_cast<std::size_t>(kBlockGates), job.gate_count - first_gate));
  const double loading = *job.loading;
  if (loading != 0.0) {
    if (warp < gates) {
      float2* matrix = matrices + warp * element_count;
      double trace = 0.0;
      for (unsigned row = threadIdx.x % 32; row < order; row += 32)
        trace += static_cast<double>(matrix[row * (row + 3) / 2].x);
      trace = __shfl_sync(0xFFFFFFFFU, warp_sum(trace), 0);
      for (unsigned row = threadIdx.x % 32; row < order; row += 32)
        matrix[row * (row + 3) / 2].x += static_cast<float>(loading * trace / order);
    }
    __syncthreads();
  }
  float2* const packed =
      (job.packed_address != nullptr ? *job.packed_address : job.packed) + first_gate * element_count;
  for (unsigned i = threadIdx.x; i < gates * element_count; i += blockDim.x) {
    float2 value = matrices[i];
    if (job.forward_backward) {
      const unsigned element = i % element_count;
      const float2 other = matrices[i - element + mirrored_index(element, order)];
      value = make_float2(0.5F * (value.x + other.x), 0.5F * (value.y + other.y));
    }
    packed[i] = value;
  }
}

template <unsigned kRowTiles, unsigned kWarps, unsigned kParts = 1>
void launch(const CovarianceJob& job, cudaStream_t stream) {
  constexpr std::size_t kBlockGates = kBlockWarps / kWarps / kParts;
  const std::size_t bytes = sizeof(float2) * (kBlockWarps / kWarps) * job.channel_count * (job.channel_count + 1) / 2;
  const auto blocks = static_cast<unsigned>((job.gate_count + kBlockGates - 1) / kBlockGates);
  covariance_tensor<kRowTiles, kWarps, kParts><<<blocks, 32 * kBlockWarps, bytes, stream>>>(job);
  check_launch("covariance");
}

bool has_tf32() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  return major >= 8;
}

}  // namespace

bool covariance_detail::launch_on_tensor_cores(const CovarianceJob& job, cudaStream_t stream) {
  // Two snapshots are read at once.
  const bool aligned = job.line_stride % 2 == 0 && reinterpret_cast<std::size_t>(job.snapshots) % sizeof(float4) == 0;
  if (!aligned || job.channel_count > 4 * kRows || job.gate_count == 0 || !has_tf32()) return false;
  switch ((job.channel_count + kRows - 1) / kRows) {
    case 1:
      if (job.gate_count < kFewGates) {
        launch<1, 1, 4>(job, stream);
      } else {
        launch<1, 1>(job, stream);
      }
      return true;
    case 2:
      launch<2, 1>(job, stream);
      return true;
    case 3:
      launch<3, 2>(job, stream);
      return true;
    case 4:
      launch<4, 4>(job, stream);
      return true;
    default:
      return false;
  }
}

}  // namespace cornerturn::cuda
