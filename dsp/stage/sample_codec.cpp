#include "dsp/stage/sample_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>

namespace cornerturn {
namespace {

constexpr bool kHostIsBigEndian = std::endian::native == std::endian::big;

template <typename Scalar, bool kSwapBytes> struct ScalarCodec {
  static double read(const std::byte* segment, std::int64_t index) {
    std::byte bytes[sizeof(Scalar)];
    std::memcpy(bytes, segment + index * static_cast<std::int64_t>(sizeof(Scalar)), sizeof(Scalar));
    if constexpr (kSwapBytes) std::reverse(std::begin(bytes), std::end(bytes));
    Scalar value;
    std::memcpy(&value, bytes, sizeof(Scalar));
    return static_cast<double>(value);
  }
};

// Two scalars in three bytes: the even one in byte 0 and the low nibble of byte 1, the odd one in the rest.
struct Packed12Codec {
  static double read(const std::byte* segment, std::int64_t index) {
    const std::byte* triple = segment + index / 2 * 3;
    const auto byte = [&](int i) { return std::to_integer<unsigned>(triple[i]); };
    const unsigned code = index % 2 == 0 ? byte(0) | (byte(1) & 0xFU) << 8 : byte(1) >> 4 | byte(2) << 4;
    return static_cast<int>(code) - ((code & 0x800U) != 0 ? 4096 : 0);
  }
};

template <typename Codec> void convert_any(const RawLayout& layout, const RawLine& line, std::span<float> out) {
  const std::size_t parts = layout.complex_samples ? 2 : 1;
  const std::size_t sample_count = out.size() / parts;
  const std::int64_t part_offset[2] = {layout.i_offset, layout.q_offset};
  for (std::size_t sample = 0; sample < sample_count; ++sample) {
    const std::int64_t scalar = layout.scalar_index(line.pulse_in_segment, line.channel, sample);
    for (std::size_t part = 0; part < parts; ++part)
      out[sample * parts + part] =
          static_cast<float>(Codec::read(line.segment, scalar + part_offset[part]) - layout.zero_level);
  }
}

template <typename Scalar> LineConverter converter_of(bool swap_bytes) {
  return swap_bytes ? convert_any<ScalarCodec<Scalar, true>> : convert_any<ScalarCodec<Scalar, false>>;
}

template <typename Scalar> Scalar load(const std::byte* bytes, std::size_t index) {
  Scalar value;  // slots and file data need not be aligned to the scalar
  std::memcpy(&value, bytes + index * sizeof(Scalar), sizeof(Scalar));
  return value;
}

const std::byte* first_scalar(const RawLayout& layout, const RawLine& line, std::size_t scalar_bytes) {
  const std::int64_t index = layout.scalar_index(line.pulse_in_segment, line.channel, 0) + layout.i_offset;
  return line.segment + index * static_cast<std::int64_t>(scalar_bytes);
}

template <typename Scalar> void convert_iq(const RawLayout& layout, const RawLine& line, std::span<float> out) {
  const std::byte* in = first_scalar(layout, line, sizeof(Scalar));
  float* values = out.data();
  for (std::size_t i = 0; i < out.size(); ++i) values[i] = static_cast<float>(load<Scalar>(in, i));
}

void convert_int16_iiqq(const RawLayout& layout, const RawLine& line, std::span<float> out) {
  const std::byte* in = first_scalar(layout, line, sizeof(std::int16_t));
  float* values = out.data();
  for (std::size_t i = 0; i < out.size(); i += 4) {
    values[i] = load<std::int16_t>(in, i);
    values[i + 1] = load<std::int16_t>(in, i + 2);
    values[i + 2] = load<std::int16_t>(in, i + 1);
    values[i + 3] = load<std::int16_t>(in, i + 3);
  }
}

}  // namespace

LineConverter generic_converter(SampleFormat format, bool big_endian) {
  const bool swap = big_endian != kHostIsBigEndian;
  switch (format) {
    case SampleFormat::int8:
      return converter_of<std::int8_t>(false);
    case SampleFormat::int16:
      return converter_of<std::int16_t>(swap);
    case SampleFormat::int32:
      return converter_of<std::int32_t>(swap);
    case SampleFormat::int12_packed:
      return convert_any<Packed12Codec>;
    case SampleFormat::uint8:
      return converter_of<std::uint8_t>(false);
    case SampleFormat::uint16:
      return converter_of<std::uint16_t>(swap);
    case SampleFormat::uint32:
      return converter_of<std::uint32_t>(swap);
    case SampleFormat::float32:
      return converter_of<float>(swap);
    case SampleFormat::float64:
      return converter_of<double>(swap);
  }
  return nullptr;
}

LineConverter fast_converter(const RawLayout& layout, std::size_t sample_count) {
  if (!layout.complex_samples || layout.zero_level != 0.0 || layout.big_endian != kHostIsBigEndian) return nullptr;
  const bool iq = layout.samples_per_group == 1 && layout.group_stride == 2 && layout.q_offset == layout.i_offset + 1;
  if (iq && layout.format == SampleFormat::int16) return convert_iq<std::int16_t>;
  if (iq && layout.format == SampleFormat::float32) return convert_iq<float>;
  const bool iiqq = layout.samples_per_group == 2 && layout.group_stride == 4 && layout.sample_stride == 1 &&
                    layout.q_offset == layout.i_offset + 2 && sample_count % 2 == 0;
  if (iiqq && layout.format == SampleFormat::int16) return convert_int16_iiqq;
  return nullptr;
}

FormatEnds format_ends(const RawLayout& layout) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (layout.format == SampleFormat::float32 || layout.format == SampleFormat::float64) return {kNone, kNone};
  const double codes = std::exp2(bits_per_scalar(layout.format));
  const bool is_unsigned = mid_scale(layout.format) > 0.0;
  if (!is_unsigned)
    return {static_cast<float>(-codes / 2 - layout.zero_level), static_cast<float>(codes / 2 - 1 - layout.zero_level)};
  // Offset binary: a 12-bit converter in 16 bits ends at twice its zero level. Without a zero level code 0 is no end.
  if (layout.zero_level <= 0.0) return {kNone, static_cast<float>(codes - 1)};
  const double last_code = std::min(codes, std::ceil(2.0 * layout.zero_level)) - 1.0;
  return {static_cast<float>(-layout.zero_level), static_cast<float>(last_code - layout.zero_level)};
}

}  // namespace cornerturn
