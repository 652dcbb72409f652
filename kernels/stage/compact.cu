#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/cfar.h"
#include "kernels/stage/cfar_window.cuh"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 256;  // words a block, one a thread
constexpr unsigned kWarps = kThreads / 32;
// Up to here each block counts the words before its own itself, which costs less than another kernel.
constexpr std::size_t kWordsOfSmallMaps = 4096;

__device__ bool has_hit(const CfarJob& job, unsigned gate, unsigned bin) {
  const std::size_t word = static_cast<std::size_t>(gate) * job.words_per_gate() + bin / 32;
  return (job.hits[word] >> (bin % 32) & 1U) != 0;
}

__device__ float power_at(const CfarJob& job, unsigned gate, unsigned bin) {
  return job.power[static_cast<std::size_t>(gate) * job.bin_count + bin];
}

/// The rule of DetectionGrouper: of two alarms that touch, the weaker is no peak; of equal ones the later is none.
__device__ bool is_peak(const CfarJob& job, unsigned gate, unsigned bin) {
  const float own = power_at(job, gate, bin);
  for (int gate_shift = -1; gate_shift <= 1; ++gate_shift) {
    const int other_gate = static_cast<int>(gate) + gate_shift;
    if (other_gate < 0 || other_gate >= static_cast<int>(job.gate_count)) continue;
    for (int bin_shift = -1; bin_shift <= 1; ++bin_shift) {
      const int other_bin = existing_bin(job, static_cast<int>(bin) + bin_shift);
      if (other_bin < 0) continue;
      const auto g = static_cast<unsigned>(other_gate);
      const auto b = static_cast<unsigned>(other_bin);
      if ((g == gate && b == bin) || !has_hit(job, g, b)) continue;
      const float other = power_at(job, g, b);
      const bool earlier = g < gate || (g == gate && b < bin);
      if (earlier ? !(own > other) : other > own) return false;
    }
  }
  return true;
}

/// Alarms and peaks of one word.
__device__ uint2 count_word(const CompactJob& job, std::size_t word, std::size_t word_count, unsigned& peak_bits) {
  peak_bits = 0;
  if (word >= word_count) return make_uint2(0, 0);
  const unsigned bits = job.cfar.hits[word];
  if (bits == 0) return make_uint2(0, 0);
  const unsigned words_per_gate = job.cfar.words_per_gate();
  const auto gate = static_cast<unsigned>(word / words_per_gate);
  const auto first_bin = static_cast<unsigned>(word % words_per_gate) * 32;
  if (job.every_alarm_is_peak) {
    peak_bits = bits;
  } else {
    for (unsigned rest = bits; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
      if (is_peak(job.cfar, gate, first_bin + bit)) peak_bits |= 1U << bit;
    }
  }
  return make_uint2(static_cast<unsigned>(__popc(bits)), static_cast<unsigned>(__popc(peak_bits)));
}

__global__ void __launch_bounds__(kThreads) count_alarms(CompactJob job, std::size_t word_count) {
  __shared__ unsigned scratch[2][33];
  unsigned peak_bits = 0;
  const uint2 own =
      count_word(job, blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x, word_count, peak_bits);
  const unsigned alarms = block_sum(own.x, scratch[0]);
  const unsigned peaks = block_sum(own.y, scratch[1]);
  if (threadIdx.x == 0) job.block_counts[blockIdx.x] = make_uint2(alarms, peaks);
}

/// Mean of the training cells of one alarm, by a whole warp.
__device__ double training_mean(const CfarJob& job, unsigned gate, unsigned bin) {
  const RangeSpan span = range_span(job, gate);
  const int reach = static_cast<int>(job.train_doppler + job.guard_doppler);
  const unsigned width = 2 * static_cast<unsigned>(reach) + 1;
  const unsigned cells = (span.far_end - span.far_begin) * width;
  double sum = 0.0;
  for (unsigned i = threadIdx.x % 32; i < cells; i += 32) {
    const unsigned line = span.far_begin + i / width;
    const int shift = static_cast<int>(i % width) - reach;
    const bool in_guard =
        line >= span.near_begin && line < span.near_end && abs(shift) <= static_cast<int>(job.guard_doppler);
    const int other = existing_bin(job, static_cast<int>(bin) + shift);
    if (!in_guard && other >= 0) sum += static_cast<double>(power_at(job, line, static_cast<unsigned>(other)));
  }
  return warp_sum(sum) / training_count(job, span, bin);
}

__device__ float neighbour_power(const CfarJob& job, int gate, int bin) {
  const int other_bin = existing_bin(job, bin);
  if (gate < 0 || gate >= static_cast<int>(job.gate_count) || other_bin < 0) return 0.0F;
  return power_at(job, static_cast<unsigned>(gate), static_cast<unsigned>(other_bin));
}

__device__ void write_alarm(const CfarJob& job, unsigned gate, unsigned bin, DeviceAlarm* out) {
  const double noise = training_mean(job, gate, bin);
  if (threadIdx.x % 32 != 0) return;
  const auto g = static_cast<int>(gate);
  const auto b = static_cast<int>(bin);
  // Two wide stores: `out` may lie behind the link.
  auto* wide = reinterpret_cast<float4*>(out);
  wide[0] = make_float4(__int_as_float(g), __int_as_float(b), power_at(job, gate, bin), static_cast<float>(noise));
  wide[1] = make_float4(neighbour_power(job, g - 1, b), neighbour_power(job, g + 1, b), neighbour_power(job, g, b - 1),
                        neighbour_power(job, g, b + 1));
}

__device__ unsigned inclusive_scan(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned before = __shfl_up_sync(0xFFFFFFFFU, value, offset);
    if (lane >= offset) value += before;
  }
  return value;
}

/// The neighbourhood of one cell, by `thread_count` threads together.
__device__ void copy_snapshots(const SnapshotJob& job, unsigned cell, int gate, int bin, unsigned thread,
                               unsigned thread_count) {
  const unsigned count = (2 * job.reach + 1) * job.channel_count;
  float2* out = job.out + static_cast<std::size_t>(cell) * count;
  for (unsigned i = thread; i < count; i += thread_count) {
    const int other = gate + static_cast<int>(i / job.channel_count) - static_cast<int>(job.reach);
    const unsigned channel = i % job.channel_count;
    float2 value = make_float2(0.0F, 0.0F);
    if (other >= 0 && other < static_cast<int>(job.gate_count))
      value = job.cube[(static_cast<std::size_t>(other) * job.channel_count + channel) * job.bin_count +
                       static_cast<std::size_t>(bin)];
    out[i] = value;
  }
}

template <bool kCountsBefore>
__global__ void __launch_bounds__(kThreads) write_alarms(CompactJob job, std::size_t word_count) {
  __shared__ unsigned scratch[2][33];
  __shared__ uint2 warp_totals[kWarps];
  unsigned alarms_before = 0;
  unsigned peaks_before = 0;
  unsigned peak_bits = 0;
  if constexpr (kCountsBefore) {
    for (std::size_t word = threadIdx.x; word < blockIdx.x * static_cast<std::size_t>(kThreads); word += kThreads) {
      const uint2 other = count_word(job, word, word_count, peak_bits);
      alarms_before += other.x;
      peaks_before += other.y;
    }
  } else {
    for (unsigned block = threadIdx.x; block < blockIdx.x; block += kThreads) {
      alarms_before += job.block_counts[block].x;
      peaks_before += job.block_counts[block].y;
    }
  }
  alarms_before = block_sum(alarms_before, scratch[0]);
  peaks_before = block_sum(peaks_before, scratch[1]);

  const std::size_t word = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const uint2 own = count_word(job, word, word_count, peak_bits);
  const uint2 upto = make_uint2(inclusive_scan(own.x), inclusive_scan(own.y));
  if (lane == 31) warp_totals[warp] = upto;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w) {
    alarms_before += warp_totals[w].x;
    peaks_before += warp_totals[w].y;
  }
  const unsigned own_first = alarms_before + upto.x - own.x;
  const unsigned own_peak = peaks_before + upto.y - own.y;

  // The warp writes the alarms of each of its words together.
  const unsigned words_per_gate = job.cfar.words_per_gate();
  const auto gate = static_cast<unsigned>(word / words_per_gate);
  const auto first_bin = static_cast<unsigned>(word % words_per_gate) * 32;
  const unsigned own_bits = own.x > 0 ? job.cfar.hits[word] : 0;
  unsigned busy = __ballot_sync(0xFFFFFFFFU, own_bits != 0);
  for (; busy != 0; busy &= busy - 1) {
    const int source = __ffs(static_cast<int>(busy)) - 1;
    const unsigned bits = __shfl_sync(0xFFFFFFFFU, own_bits, source);
    const unsigned peaks = __shfl_sync(0xFFFFFFFFU, peak_bits, source);
    const unsigned its_gate = __shfl_sync(0xFFFFFFFFU, gate, source);
    const unsigned its_bin = __shfl_sync(0xFFFFFFFFU, first_bin, source);
    unsigned place = __shfl_sync(0xFFFFFFFFU, own_first, source);
    unsigned peak = __shfl_sync(0xFFFFFFFFU, own_peak, source);
    for (unsigned rest = bits; rest != 0; rest &= rest - 1, ++place) {
      const auto bit = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
      if (place < job.alarm_capacity) write_alarm(job.cfar, its_gate, its_bin + bit, job.alarms + place);
      if ((peaks >> bit & 1U) == 0) continue;
      if (job.snapshots.cube != nullptr && peak < job.snapshots.capacity)
        copy_snapshots(job.snapshots, peak, static_cast<int>(its_gate), static_cast<int>(its_bin + bit), lane, 32);
      ++peak;
    }
  }

  // The very last thread knows the totals.
  if (blockIdx.x + 1 != gridDim.x || threadIdx.x + 1 != kThreads) return;
  job.counts->alarm_count = own_first + own.x;
  job.counts->peak_count = own_peak + own.y;
}

__global__ void __launch_bounds__(kThreads) gather_snapshots(SnapshotJob job, const int2* cells) {
  const int2 cell = cells[blockIdx.x];
  copy_snapshots(job, blockIdx.x, cell.x, cell.y, threadIdx.x, kThreads);
}

std::size_t word_count_of(const CfarJob& job) {
  return static_cast<std::size_t>(job.gate_count) * job.words_per_gate();
}

}  // namespace

std::size_t compact_block_count(const CfarJob& job) { return (word_count_of(job) + kThreads - 1) / kThreads; }

void launch_compact(const CompactJob& job, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(compact_block_count(job.cfar));
  const std::size_t word_count = word_count_of(job.cfar);
  if (word_count <= kWordsOfSmallMaps) {
    write_alarms<true><<<blocks, kThreads, 0, stream>>>(job, word_count);
  } else {
    count_alarms<<<blocks, kThreads, 0, stream>>>(job, word_count);
    check_launch("count_alarms");
    write_alarms<false><<<blocks, kThreads, 0, stream>>>(job, word_count);
  }
  check_launch("write_alarms");
}

void launch_gather_snapshots(const SnapshotJob& job, const int2* cells, std::uint32_t cell_count, cudaStream_t stream) {
  if (cell_count == 0) return;
  gather_snapshots<<<cell_count, kThreads, 0, stream>>>(job, cells);
  check_launch("gather_snapshots");
}

}  // namespace cornerturn::cuda
