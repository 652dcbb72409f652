#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// RawLayout as a kernel reads it; see dsp/vocabulary/raw_layout.h for the affine map.
struct DeviceLayout {
  enum class Format : std::uint8_t { int8, int16, int32, int12_packed, uint8, uint16, uint32, float32, float64 };
  Format format = Format::int16;
  bool swap_bytes = false;
  bool complex_samples = true;
  double zero_level = 0.0;
  std::int64_t offset = 0;
  std::int64_t pulse_stride = 0;
  std::int64_t channel_stride = 0;
  std::uint32_t channels_per_group = 1;
  std::int64_t channel_group_stride = 0;
  std::uint32_t samples_per_group = 1;
  std::int64_t group_stride = 0;
  std::int64_t sample_stride = 0;
  std::int64_t i_offset = 0;
  std::int64_t q_offset = 1;
  /// Values (zero level subtracted) at and beyond which a sample is saturated; NaN: the format has no such end.
  float lowest = 0.0F;
  float highest = 0.0F;
};

/// Missing samples, sorted by pulse: those of pulse p are spans[offsets[p] .. offsets[p + 1]).
struct GapTable {
  struct Span {
    std::uint32_t first_sample;
    std::uint32_t sample_count;
  };
  const std::uint32_t* offsets = nullptr;  ///< (pulse + 1); null: no gaps
  const Span* spans = nullptr;
};

/// What the unpack kernel counts; zeroed before the first segment of a CPI.
struct QualityCounters {
  unsigned long long* masked_samples = nullptr;
  unsigned long long* saturated_samples = nullptr;
  std::uint32_t* channel_has_signal = nullptr;  ///< (channel): not zero once a sample is not zero
};

/// One segment of raw samples to lines of floats, wherever its layout puts them, read from the slot itself (mapped host
/// memory) or from a copy in device memory: x = window (calibration_channel ((code - zero_level) - line mean)).
/// NaN, Inf, huge and gap samples become zero and take no part in the mean.
/// Shape: out (channel, pulse, line_length), zero beyond the samples; complex, or real when `real_output`.
struct UnpackJob {
  const void* segment = nullptr;  ///< address that the device can read
  DeviceLayout layout;
  std::uint32_t channel_count = 0;
  std::uint32_t sample_count = 0;
  std::uint32_t pulse_count = 0;  ///< of the CPI
  std::uint32_t segment_first_pulse = 0;
  std::uint32_t segment_pulse_count = 0;
  bool remove_dc = false;
  GapTable gaps;
  const float2* calibration = nullptr;  ///< (channel); null: none; not with real_output
  const float* window = nullptr;        ///< (sample); null: none
  QualityCounters quality;
  bool real_output = false;
  void* out = nullptr;
  std::size_t line_length = 0;  ///< elements of a line
  /// Blocks to use; a read over the link is saturated by few. 0: as many as fill the device.
  unsigned block_limit = 0;
};

/// Enqueues the kernel; contiguous little-endian int16 IQ and IIQQ lines on 16-byte boundaries take a fast path.
/// Throws CudaError.
void launch_unpack(const UnpackJob& job, cudaStream_t stream);

/// True when launch_unpack takes the fast path.
bool unpack_is_fast(const UnpackJob& job);

}  // namespace cornerturn::cuda
