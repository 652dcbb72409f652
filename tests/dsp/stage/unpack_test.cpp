#include "dsp/stage/unpack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

using Complex = std::complex<float>;

CpiShape shape_of(std::size_t channels, std::size_t pulses, std::size_t samples) {
  CpiShape shape;
  shape.channel_count = channels;
  shape.pulse_count = pulses;
  shape.sample_count = samples;
  return shape;
}

// What scalar s of the test's data is worth: values of all signs that every integer format can hold.
int code_of(std::int64_t scalar) { return static_cast<int>(scalar * 37 % 251) - 125; }

template <typename Scalar>
void store(std::vector<std::byte>& bytes, std::int64_t scalar, double value, bool big_endian) {
  const auto stored = static_cast<Scalar>(value);
  std::byte raw[sizeof(Scalar)];
  std::memcpy(raw, &stored, sizeof(Scalar));
  if (big_endian) std::reverse(std::begin(raw), std::end(raw));
  std::memcpy(bytes.data() + static_cast<std::size_t>(scalar) * sizeof(Scalar), raw, sizeof(Scalar));
}

void store_packed12(std::vector<std::byte>& bytes, std::int64_t scalar, int value) {
  const auto code = static_cast<unsigned>(value) & 0xFFFU;
  for (int bit = 0; bit < 12; ++bit) {  // bit by bit: the layout's words "scalar s begins at bit 12 s"
    const auto place = static_cast<std::size_t>(12 * scalar + bit);
    if ((code >> bit & 1U) != 0) bytes[place / 8] |= std::byte(1U << place % 8);
  }
}

std::vector<std::byte> make_data(const RawLayout& layout, std::size_t scalar_count) {
  std::vector<std::byte> bytes((scalar_count * static_cast<std::size_t>(bits_per_scalar(layout.format)) + 7) / 8);
  for (std::int64_t s = 0; s < static_cast<std::int64_t>(scalar_count); ++s) {
    const double value = code_of(s) + layout.zero_level;
    switch (layout.format) {
      case SampleFormat::int8:
        store<std::int8_t>(bytes, s, value, false);
        break;
      case SampleFormat::uint8:
        store<std::uint8_t>(bytes, s, value, false);
        break;
      case SampleFormat::int16:
        store<std::int16_t>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::uint16:
        store<std::uint16_t>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::int32:
        store<std::int32_t>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::uint32:
        store<std::uint32_t>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::float32:
        store<float>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::float64:
        store<double>(bytes, s, value, layout.big_endian);
        break;
      case SampleFormat::int12_packed:
        store_packed12(bytes, s, code_of(s));
        break;
    }
  }
  return bytes;
}

void expect_reads_every_sample(const RawLayout& layout, const CpiShape& shape, const std::string& what) {
  SCOPED_TRACE(what);
  const auto bytes = required_bytes(layout, shape);
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::size_t scalars = *bytes * 8 / static_cast<std::size_t>(bits_per_scalar(layout.format));
  const std::vector<std::byte> data = make_data(layout, scalars);
  const Unpacker unpacker(layout, shape.sample_count, DcRemoval::none, {});
  std::vector<Complex> out(shape.sample_count);
  std::vector<Complex> generic(shape.sample_count);
  for (std::size_t pulse = 0; pulse < shape.pulse_count; ++pulse)
    for (std::size_t channel = 0; channel < shape.channel_count; ++channel) {
      const RawLine line{data.data(), pulse, pulse, channel, {}};
      LineQuality quality;
      unpacker.process(line, out, quality);
      unpacker.process_generic(line, generic, quality);
      EXPECT_EQ(quality.masked_samples, 0U);
      for (std::size_t sample = 0; sample < shape.sample_count; ++sample) {
        const std::int64_t scalar = layout.scalar_index(pulse, channel, sample);
        const Complex expected(static_cast<float>(code_of(scalar + layout.i_offset)),
                               layout.complex_samples ? static_cast<float>(code_of(scalar + layout.q_offset)) : 0.0F);
        ASSERT_EQ(out[sample], expected) << "pulse " << pulse << " channel " << channel << " sample " << sample;
        ASSERT_EQ(generic[sample], expected);
      }
    }
}

constexpr SampleFormat kFormats[] = {SampleFormat::int8,    SampleFormat::int16,   SampleFormat::int32,
                                     SampleFormat::uint8,   SampleFormat::uint16,  SampleFormat::uint32,
                                     SampleFormat::float32, SampleFormat::float64, SampleFormat::int12_packed};
constexpr IqOrder kOrders[] = {IqOrder::iq,   IqOrder::qi,        IqOrder::iiqq,     IqOrder::qqii,
                               IqOrder::real, IqOrder::planar_iq, IqOrder::planar_qi};

TEST(Unpack, ReadsEveryFormatInEveryOrder) {
  const CpiShape shape = shape_of(3, 2, 18);
  for (const SampleFormat format : kFormats)
    for (const IqOrder order : kOrders)
      for (const bool big_endian : {false, true}) {
        RawLayout layout = make_contiguous_layout(shape, format, order);
        layout.big_endian = big_endian && format != SampleFormat::int12_packed;
        expect_reads_every_sample(layout, shape, std::string(to_string(format)) + " " + std::string(to_string(order)));
      }
}

TEST(Unpack, ReadsOddLinesAndOddAddresses) {
  const CpiShape shape = shape_of(2, 3, 17);  // an odd line of IIQQ ends within a group
  for (const SampleFormat format : kFormats)
    for (const IqOrder order : kOrders) {
      RawLayout layout = make_contiguous_layout(shape, format, order);
      layout.offset = 3;
      layout.channel_stride += 1;
      layout.pulse_stride += 5;
      if (order == IqOrder::iiqq || order == IqOrder::qqii) layout.channel_stride += 2;
      layout.pulse_stride = 2 * layout.channel_stride;
      expect_reads_every_sample(layout, shape, std::string(to_string(format)) + " " + std::string(to_string(order)));
    }
}

TEST(Unpack, ReadsInterleavedColumnMajorGroupedAndBackwardLayouts) {
  const CpiShape shape = shape_of(6, 4, 10);
  RawLayout interleaved;  // (pulse, sample, channel, iq)
  interleaved.channel_stride = 2;
  interleaved.group_stride = 12;
  interleaved.pulse_stride = 120;
  expect_reads_every_sample(interleaved, shape, "channel-interleaved");

  RawLayout column_major;  // (iq, sample, channel, pulse)
  column_major.pulse_stride = 1;
  column_major.channel_stride = 4;
  column_major.group_stride = 24;
  column_major.q_offset = 240;
  expect_reads_every_sample(column_major, shape, "column-major");

  RawLayout tdm;  // (pulse, transmitter, receiver, sample): 2 x 3 virtual channels
  tdm.channels_per_group = 3;
  tdm.channel_stride = 20;
  tdm.channel_group_stride = 70;
  tdm.group_stride = 2;
  tdm.pulse_stride = 140;
  expect_reads_every_sample(tdm, shape, "virtual channels");

  RawLayout backward = make_contiguous_layout(shape, SampleFormat::int16, IqOrder::iq);
  backward.offset = 18;
  backward.group_stride = -2;
  expect_reads_every_sample(backward, shape, "falling range");
}

// Values that only double holds: 2^31 - 1 less a zero level of 2^31 - 8 is 7 exactly.
TEST(Unpack, ConvertsLongIntegersThroughDouble) {
  RawLayout layout;
  layout.format = SampleFormat::int32;
  layout.complex_samples = false;
  layout.zero_level = 2147483640.0;
  std::vector<std::byte> data(4);
  store<std::int32_t>(data, 0, 2147483647.0, false);
  LineQuality quality;
  Complex out;
  Unpacker(layout, 1, DcRemoval::none, {}).process({data.data(), 0, 0, 0, {}}, {&out, 1}, quality);
  EXPECT_EQ(out, Complex(7.0F));
}

struct FloatLine {
  explicit FloatLine(std::vector<Complex> values)
      : samples(std::move(values)),
        layout(make_contiguous_layout(shape_of(1, 1, samples.size()), SampleFormat::float32, IqOrder::iq)) {}
  std::vector<Complex> unpack(DcRemoval dc, std::span<const GapInterval> gaps = {},
                              std::vector<Complex> calibration = {}) {
    std::vector<Complex> out(samples.size());
    quality = {};
    Unpacker(layout, samples.size(), dc, std::move(calibration))
        .process({reinterpret_cast<const std::byte*>(samples.data()), 0, 0, 0, gaps}, out, quality);
    return out;
  }
  std::vector<Complex> samples;
  RawLayout layout;
  LineQuality quality;
};

TEST(Unpack, MasksWhatIsNotANumberAndKeepsTheRest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  FloatLine line({{1, 2}, {nan, 0}, {3, -inf}, {inf, nan}, {1e30F, 0}, {5, 6}});
  const auto out = line.unpack(DcRemoval::none);
  EXPECT_EQ(out, (std::vector<Complex>{{1, 2}, 0, 0, 0, 0, {5, 6}}));
  EXPECT_EQ(line.quality.masked_samples, 4U);
  EXPECT_TRUE(line.quality.has_signal);
}

TEST(Unpack, MaskedSamplesTakeNoPartInTheMean) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  FloatLine line({{10, -4}, {nan, nan}, {14, -8}, {99, 99}});
  const GapInterval gap{0, 3, 100};  // reaches beyond the line
  const auto out = line.unpack(DcRemoval::per_pulse, {&gap, 1});
  EXPECT_EQ(out, (std::vector<Complex>{{-2, 2}, 0, {2, -2}, 0}));
  EXPECT_EQ(line.quality.masked_samples, 2U);
}

TEST(Unpack, AllMaskedIsAnEmptyLineWithoutSignal) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  FloatLine line({{nan, 1}, {2, nan}});
  EXPECT_EQ(line.unpack(DcRemoval::per_pulse), (std::vector<Complex>{0, 0}));
  EXPECT_FALSE(line.quality.has_signal);
}

TEST(Unpack, GapsOfOtherPulsesDoNotMatter) {
  FloatLine line({{1, 1}, {2, 2}});
  const GapInterval gap{1, 0, 2};
  EXPECT_EQ(line.unpack(DcRemoval::none, {&gap, 1}), line.samples);
}

TEST(Unpack, CalibrationMultipliesAfterTheMeanIsGone) {
  FloatLine line({{3, 0}, {1, 0}});
  EXPECT_EQ(line.unpack(DcRemoval::per_pulse, {}, {{0, 2}}), (std::vector<Complex>{{0, 2}, {0, -2}}));
}

TEST(Unpack, CountsSaturatedSamplesOfEachFormatOnce) {
  const auto count = [](RawLayout layout, std::initializer_list<double> codes) {
    layout.complex_samples = true;
    layout.group_stride = 2;
    std::vector<std::byte> data(codes.size() * static_cast<std::size_t>(bits_per_scalar(layout.format)) / 8);
    std::int64_t scalar = 0;
    for (const double code : codes) {
      if (layout.format == SampleFormat::int16) store<std::int16_t>(data, scalar++, code, false);
      if (layout.format == SampleFormat::uint16) store<std::uint16_t>(data, scalar++, code, false);
      if (layout.format == SampleFormat::int8) store<std::int8_t>(data, scalar++, code, false);
      if (layout.format == SampleFormat::float32) store<float>(data, scalar++, code, false);
    }
    std::vector<Complex> out(codes.size() / 2);
    LineQuality quality;
    Unpacker(layout, out.size(), DcRemoval::none, {}).process({data.data(), 0, 0, 0, {}}, out, quality);
    return quality.saturated_samples;
  };
  RawLayout layout;
  EXPECT_EQ(count(layout, {32767, 0, 32767, -32768, 0, -32768, 32766, -32767}), 3U);
  layout.format = SampleFormat::int8;
  EXPECT_EQ(count(layout, {127, 0, -127, 126}), 1U);
  layout.format = SampleFormat::uint16;
  layout.zero_level = 2048;  // a 12-bit converter
  EXPECT_EQ(count(layout, {0, 2048, 4095, 4095, 1, 4094}), 2U);
  layout.format = SampleFormat::float32;
  EXPECT_EQ(count(layout, {32767, 1e10, 2, 3}), 0U);
}

TEST(Unpack, RealLinesKeepTheirSamplesAndLoseTheirMean) {
  RawLayout layout = make_contiguous_layout(shape_of(1, 1, 4), SampleFormat::uint16, IqOrder::real);
  layout.zero_level = 2048;
  std::vector<std::byte> data(8);
  for (int i = 0; i < 4; ++i) store<std::uint16_t>(data, i, 2048 + 10 + (i % 2 == 0 ? 5 : -5), false);
  std::vector<float> out(4);
  LineQuality quality;
  Unpacker(layout, 4, DcRemoval::per_pulse, {}).process_real({data.data(), 0, 0, 0, {}}, out, quality);
  EXPECT_EQ(out, (std::vector<float>{5, -5, 5, -5}));
}

}  // namespace
}  // namespace cornerturn
