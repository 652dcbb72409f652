#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/stage/unpack.h"

namespace cornerturn::cuda {

/// Circular length that the fused matched filter takes for lines of `sample_count`: the smallest of a few of which one
/// line fits into the shared memory of a multiprocessor of the current device; 0: there is none. Throws CudaError.
std::size_t matched_filter_length(std::size_t sample_count);

/// The filter's tables in the order in which its kernel reads them.
/// `spectrum`: what lines are multiplied by, (length), scaled by 1 / length.
std::vector<float2> matched_filter_spectrum(std::span<const std::complex<double>> spectrum);
/// Twiddle factors for a length, computed in double precision.
std::vector<float2> matched_filter_twiddles(std::size_t length);

/// Transform, product with a spectrum and inverse transform of each line in one pass over memory: the line stays in
/// shared memory. out(line, k) = y(line, first_output + k), k < output_count, y the circular product of `length`.
/// Shape: lines (line, in_stride) of which sample_count are read, out (line, out_stride). `out` may be `lines`.
struct MatchedFilterJob {
  const float2* lines = nullptr;
  std::size_t in_stride = 0;
  std::size_t line_count = 0;
  std::uint32_t sample_count = 0;
  std::uint32_t length = 0;  ///< from matched_filter_length
  const float2* spectrum = nullptr;
  const float2* twiddles = nullptr;
  float2* out = nullptr;
  std::size_t out_stride = 0;
  std::uint32_t first_output = 0;
  std::uint32_t output_count = 0;
};
void launch_matched_filter(const MatchedFilterJob& job, cudaStream_t stream);

/// True when raw lines of this layout can be unpacked by the same kernel: little-endian int16 IQ pairs, without a
/// window.
bool matched_filter_reads_raw(const UnpackJob& raw);
/// Unpacks (as launch_unpack does; its out and line_length are not used) and filters in one kernel, from the slot
/// itself or a copy of it. Output line: channel * pulse_count + pulse. lines, in_stride and line_count are not used.
void launch_raw_matched_filter(const MatchedFilterJob& job, const UnpackJob& raw, cudaStream_t stream);

}  // namespace cornerturn::cuda
