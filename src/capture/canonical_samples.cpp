#include "src/capture/canonical_samples.h"

#include <cstdint>
#include <cstring>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

/// Scalar `index` of packed 12-bit two's complement: bit 12 * index on, low bits first.
std::int16_t unpack_12_bit(const std::byte* segment, std::size_t index) {
  const std::byte* at = segment + index / 2 * 3;
  const unsigned low = index % 2 == 0 ? std::to_integer<unsigned>(at[0]) : std::to_integer<unsigned>(at[1]) >> 4;
  const unsigned high =
      index % 2 == 0 ? (std::to_integer<unsigned>(at[1]) & 0xFU) << 8 : std::to_integer<unsigned>(at[2]) << 4;
  const unsigned code = low | high;
  return static_cast<std::int16_t>(code >= 0x800U ? static_cast<int>(code) - 0x1000 : static_cast<int>(code));
}

struct CopyPacked12 {
  static constexpr std::size_t kBytes = 2;
  static void copy(const std::byte* segment, std::int64_t index, std::byte* out) {
    const std::int16_t value = unpack_12_bit(segment, static_cast<std::size_t>(index));
    std::memcpy(out, &value, sizeof value);
  }
};

template <std::size_t Bytes> struct CopyBytes {
  static constexpr std::size_t kBytes = Bytes;
  static void copy(const std::byte* segment, std::int64_t index, std::byte* out) {
    std::memcpy(out, segment + static_cast<std::size_t>(index) * Bytes, Bytes);
  }
};

template <typename Copy>
void copy_all(const RawCpi& cpi, const RawLayout& layout, const CpiShape& shape, std::byte* out) {
  for (const RawSegment& segment : cpi.segments) {
    for (std::size_t pulse = 0; pulse < segment.pulse_count; ++pulse) {
      for (std::size_t channel = 0; channel < shape.channel_count; ++channel) {
        for (std::size_t sample = 0; sample < shape.sample_count; ++sample) {
          const std::int64_t at = layout.scalar_index(pulse, channel, sample);
          Copy::copy(segment.bytes.data(), at + layout.i_offset, out);
          out += Copy::kBytes;
          if (!layout.complex_samples) continue;
          Copy::copy(segment.bytes.data(), at + layout.q_offset, out);
          out += Copy::kBytes;
        }
      }
    }
  }
}

}  // namespace

SampleFormat canonical_format(SampleFormat format) {
  return format == SampleFormat::int12_packed ? SampleFormat::int16 : format;
}

std::size_t canonical_bytes(const RawLayout& layout, const CpiShape& shape) {
  const auto scalar_bytes = static_cast<std::size_t>(bits_per_scalar(canonical_format(layout.format))) / 8;
  return shape.samples() * scalar_bytes * (layout.complex_samples ? 2 : 1);
}

void copy_canonical(const RawCpi& cpi, const RawLayout& layout, const CpiShape& shape, std::span<std::byte> out) {
  std::size_t pulse_count = 0;
  for (const RawSegment& segment : cpi.segments) pulse_count += segment.pulse_count;
  CORNERTURN_REQUIRE(pulse_count == shape.pulse_count && out.size() == canonical_bytes(layout, shape));
  switch (bits_per_scalar(layout.format)) {
    case 8:
      return copy_all<CopyBytes<1>>(cpi, layout, shape, out.data());
    case 12:
      return copy_all<CopyPacked12>(cpi, layout, shape, out.data());
    case 16:
      return copy_all<CopyBytes<2>>(cpi, layout, shape, out.data());
    case 32:
      return copy_all<CopyBytes<4>>(cpi, layout, shape, out.data());
    default:
      return copy_all<CopyBytes<8>>(cpi, layout, shape, out.data());
  }
}

}  // namespace cornerturn
