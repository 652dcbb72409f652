#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// How one scalar of a raw sample is stored. Unsigned formats are offset binary: RawLayout::zero_level says which code
/// is zero. int12_packed: two 12-bit two's complement scalars in three bytes, the first in the low bits (byte 0 and the
/// low nibble of byte 1), as in most little-endian 12-bit streams.
enum class SampleFormat { int8, int16, int32, int12_packed, uint8, uint16, uint32, float32, float64 };

std::string_view to_string(SampleFormat format);
Expected<SampleFormat> parse_sample_format(std::string_view text);
/// Mid-scale of an unsigned format (32768 for uint16), 0 for the others.
double mid_scale(SampleFormat format);
/// Bits of one scalar: 8, 12, 16, 32 or 64.
int bits_per_scalar(SampleFormat format);

/// Sizes of a CPI's raw samples.
struct CpiShape {
  std::size_t channel_count = 0;
  std::size_t pulse_count = 0;
  std::size_t sample_count = 0;  ///< fast-time samples of one pulse and channel

  std::size_t samples() const { return channel_count * pulse_count * sample_count; }
  bool operator==(const CpiShape&) const = default;
};

/// Where each sample of a CPI lies: an affine map from (pulse, channel, sample, I or Q) to a scalar.
///
///   scalar = offset + pulse * pulse_stride
///          + (channel / channels_per_group) * channel_group_stride + (channel % channels_per_group) * channel_stride
///          + (sample / samples_per_group) * group_stride + (sample % samples_per_group) * sample_stride
///          + (i_offset or q_offset)
///
/// All strides and offsets count scalars of `format` (not bytes); with int12_packed scalar s begins at bit 12 s.
/// `offset` counts from the start of the segment that holds the pulse, and pulse 0 is that segment's first pulse.
/// IQIQ, IIQQ, QQII, four lanes, channel-interleaved, planar, column-major and TDM-MIMO virtual channels are values of
/// this struct, not code.
struct RawLayout {
  SampleFormat format = SampleFormat::int16;
  bool big_endian = false;
  bool complex_samples = true;  ///< false: real sampling, only i_offset is read
  double zero_level = 0.0;  ///< code that means zero: 32768 for 16-bit offset binary, 2048 for a 12-bit ADC in uint16

  std::int64_t offset = 0;
  std::int64_t pulse_stride = 0;
  std::int64_t channel_stride = 0;
  std::size_t channels_per_group = SIZE_MAX;  ///< SIZE_MAX: channels are one group
  std::int64_t channel_group_stride = 0;
  std::size_t samples_per_group = 1;
  std::int64_t group_stride = 0;   ///< from one sample group to the next
  std::int64_t sample_stride = 0;  ///< inside a group
  std::int64_t i_offset = 0;
  std::int64_t q_offset = 1;

  std::int64_t scalar_index(std::size_t pulse, std::size_t channel, std::size_t sample) const {
    const auto p = static_cast<std::int64_t>(pulse);
    const auto group = static_cast<std::int64_t>(sample / samples_per_group);
    const auto within = static_cast<std::int64_t>(sample % samples_per_group);
    const auto channel_group = static_cast<std::int64_t>(channel / channels_per_group);
    const auto channel_within = static_cast<std::int64_t>(channel % channels_per_group);
    return offset + p * pulse_stride + channel_group * channel_group_stride + channel_within * channel_stride +
           group * group_stride + within * sample_stride;
  }

  bool operator==(const RawLayout&) const = default;
};

/// Order of the scalars of complex samples inside one pulse and channel.
enum class IqOrder { iq, qi, iiqq, qqii, planar_iq, planar_qi, real };
std::string_view to_string(IqOrder order);
Expected<IqOrder> parse_iq_order(std::string_view text);

/// C-order layout (pulse, channel, sample) with the given order of I and Q; the usual start of a reader's layout.
/// planar: all I of a (pulse, channel) line, then all Q. iiqq and qqii: groups of two samples (2-lane TI order).
/// Unsigned formats get mid-scale as zero level.
RawLayout make_contiguous_layout(const CpiShape& shape, SampleFormat format, IqOrder order);

/// Bytes that a segment must hold so that each sample of `shape` lies inside it; checks against overflow and against
/// indices before the segment's start. Errors: usage, naming the stride that leaves the segment.
Expected<std::size_t> required_bytes(const RawLayout& layout, const CpiShape& shape);

}  // namespace cornerturn
