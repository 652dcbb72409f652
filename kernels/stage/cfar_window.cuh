#pragma once

#include "kernels/stage/cfar.h"

namespace cornerturn::cuda {

/// Lines of the window around a gate: training [far_begin, near_begin) and [near_end, far_end), guard and the gate
/// itself between them.
struct RangeSpan {
  unsigned far_begin;
  unsigned near_begin;
  unsigned near_end;
  unsigned far_end;
  __device__ unsigned near_count() const { return near_end - near_begin; }
  __device__ unsigned far_count() const { return far_end - far_begin - near_count(); }
};

__device__ inline RangeSpan range_span(const CfarJob& job, unsigned gate) {
  const unsigned reach = job.guard_range + job.train_range;
  return {gate - min(gate, reach), gate - min(gate, job.guard_range), min(gate + job.guard_range + 1, job.gate_count),
          min(gate + reach + 1, job.gate_count)};
}

/// Doppler cells within `reach` of a bin that exist.
__device__ inline unsigned clipped_width(const CfarJob& job, unsigned bin, unsigned reach) {
  if (job.doppler_wraps) return 2 * reach + 1;
  return min(bin + reach, job.bin_count - 1) - (bin - min(bin, reach)) + 1;
}

__device__ inline unsigned training_count(const CfarJob& job, const RangeSpan& span, unsigned bin) {
  const unsigned window = clipped_width(job, bin, job.train_doppler + job.guard_doppler);
  const unsigned guard = clipped_width(job, bin, job.guard_doppler);
  return span.far_count() * window + span.near_count() * (window - guard);
}

/// The bin that stands at `bin` of a line continued beyond its ends; negative: there is none.
__device__ inline int existing_bin(const CfarJob& job, int bin) {
  const auto bins = static_cast<int>(job.bin_count);
  if (job.doppler_wraps) return bin < 0 ? bin + bins : bin >= bins ? bin - bins : bin;
  return bin < bins ? bin : -1;
}

}  // namespace cornerturn::cuda
