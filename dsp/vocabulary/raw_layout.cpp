#include "dsp/vocabulary/raw_layout.h"

#include <algorithm>
#include <array>

#include "dsp/vocabulary/word_table.h"

namespace cornerturn {
namespace {

constexpr std::array<Word<SampleFormat>, 9> kSampleFormats{{{SampleFormat::int8, "int8"},
                                                            {SampleFormat::int16, "int16"},
                                                            {SampleFormat::int32, "int32"},
                                                            {SampleFormat::int12_packed, "int12_packed"},
                                                            {SampleFormat::uint8, "uint8"},
                                                            {SampleFormat::uint16, "uint16"},
                                                            {SampleFormat::uint32, "uint32"},
                                                            {SampleFormat::float32, "float32"},
                                                            {SampleFormat::float64, "float64"}}};

constexpr std::array<Word<IqOrder>, 7> kIqOrders{{{IqOrder::iq, "iq"},
                                                  {IqOrder::qi, "qi"},
                                                  {IqOrder::iiqq, "iiqq"},
                                                  {IqOrder::qqii, "qqii"},
                                                  {IqOrder::planar_iq, "planar_iq"},
                                                  {IqOrder::planar_qi, "planar_qi"},
                                                  {IqOrder::real, "real"}}};

/// Smallest and largest scalar index that an affine map reaches, with overflow noticed.
struct Reach {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool overflow = false;

  void shift(std::int64_t offset) {
    overflow |= __builtin_add_overflow(low, offset, &low);
    overflow |= __builtin_add_overflow(high, offset, &high);
  }
  /// Adds the term stride * [0, count), count >= 1.
  void stretch(std::size_t count, std::int64_t stride) {
    std::int64_t span = 0;
    overflow |= __builtin_mul_overflow(static_cast<std::int64_t>(count - 1), stride, &span);
    std::int64_t& end = span < 0 ? low : high;
    overflow |= __builtin_add_overflow(end, span, &end);
  }
};

std::size_t groups(std::size_t count, std::size_t per_group) { return count / per_group + (count % per_group != 0); }

}  // namespace

std::string_view to_string(SampleFormat format) { return word_of(kSampleFormats, format); }
Expected<SampleFormat> parse_sample_format(std::string_view text) {
  return parse_word(kSampleFormats, text, "sample format");
}

int bits_per_scalar(SampleFormat format) {
  switch (format) {
    case SampleFormat::int8:
    case SampleFormat::uint8:
      return 8;
    case SampleFormat::int12_packed:
      return 12;
    case SampleFormat::int16:
    case SampleFormat::uint16:
      return 16;
    case SampleFormat::int32:
    case SampleFormat::uint32:
    case SampleFormat::float32:
      return 32;
    case SampleFormat::float64:
      return 64;
  }
  return 0;
}

double mid_scale(SampleFormat format) {
  switch (format) {
    case SampleFormat::uint8:
      return 128.0;
    case SampleFormat::uint16:
      return 32768.0;
    case SampleFormat::uint32:
      return 2147483648.0;
    default:
      return 0.0;
  }
}

std::string_view to_string(IqOrder order) { return word_of(kIqOrders, order); }
Expected<IqOrder> parse_iq_order(std::string_view text) { return parse_word(kIqOrders, text, "order of I and Q"); }

RawLayout make_contiguous_layout(const CpiShape& shape, SampleFormat format, IqOrder order) {
  RawLayout layout;
  layout.format = format;
  layout.zero_level = mid_scale(format);
  layout.complex_samples = order != IqOrder::real;
  const auto samples = static_cast<std::int64_t>(shape.sample_count);
  const std::int64_t line = layout.complex_samples ? 2 * samples : samples;
  layout.channel_stride = line;
  layout.pulse_stride = line * static_cast<std::int64_t>(shape.channel_count);
  switch (order) {
    case IqOrder::iq:
    case IqOrder::qi:
      layout.group_stride = 2;
      break;
    case IqOrder::iiqq:
    case IqOrder::qqii:
      layout.samples_per_group = 2;
      layout.group_stride = 4;
      layout.sample_stride = 1;
      break;
    case IqOrder::planar_iq:
    case IqOrder::planar_qi:
    case IqOrder::real:
      layout.group_stride = 1;
      break;
  }
  const std::int64_t apart = order == IqOrder::iiqq || order == IqOrder::qqii             ? 2
                             : order == IqOrder::planar_iq || order == IqOrder::planar_qi ? samples
                                                                                          : 1;
  const bool q_first = order == IqOrder::qi || order == IqOrder::qqii || order == IqOrder::planar_qi;
  layout.i_offset = q_first ? apart : 0;
  layout.q_offset = q_first || order == IqOrder::real ? 0 : apart;
  return layout;
}

Expected<std::size_t> required_bytes(const RawLayout& layout, const CpiShape& shape) {
  if (layout.samples_per_group == 0 || layout.channels_per_group == 0)
    return usage_error("", "a group of zero samples or channels", "give at least 1");
  if (shape.channel_count == 0 || shape.pulse_count == 0 || shape.sample_count == 0)
    return usage_error("", "a CPI without samples", "channels, pulses and samples must be at least 1");

  Reach in_phase;
  in_phase.shift(layout.offset);
  in_phase.stretch(shape.pulse_count, layout.pulse_stride);
  in_phase.stretch(groups(shape.channel_count, layout.channels_per_group), layout.channel_group_stride);
  in_phase.stretch(std::min(shape.channel_count, layout.channels_per_group), layout.channel_stride);
  in_phase.stretch(groups(shape.sample_count, layout.samples_per_group), layout.group_stride);
  in_phase.stretch(std::min(shape.sample_count, layout.samples_per_group), layout.sample_stride);
  Reach quadrature = in_phase;
  in_phase.shift(layout.i_offset);
  quadrature.shift(layout.complex_samples ? layout.q_offset : layout.i_offset);
  const std::int64_t low = std::min(in_phase.low, quadrature.low);
  const std::int64_t high = std::max(in_phase.high, quadrature.high);

  const int bits = bits_per_scalar(layout.format);
  std::int64_t end_bits = 0;
  if (in_phase.overflow || quadrature.overflow || __builtin_mul_overflow(high, std::int64_t{bits}, &end_bits) ||
      __builtin_add_overflow(end_bits, std::int64_t{bits} + 7, &end_bits))
    return usage_error("", "the strides address more than 2^63 bits", "check shape and strides");
  if (low < 0)
    return usage_error("", "the strides reach " + std::to_string(-low) + " scalars before the start of the segment",
                       "raise the offset or check the signs of the strides");
  return static_cast<std::size_t>(end_bits / 8);
}

}  // namespace cornerturn
