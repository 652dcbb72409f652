#include "dsp/stage/unpack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

bool is_valid(float value) { return std::abs(value) <= kLargestSample; }  // false for NaN

std::span<float> as_floats(std::span<std::complex<float>> values) {
  return {reinterpret_cast<float*>(values.data()), 2 * values.size()};
}

// From here to the end of clean() a gap is NaN, so that one rule treats it like any other sample that is not valid.
template <std::size_t kParts> void mark_gaps(const RawLine& line, std::span<float> values) {
  const std::size_t sample_count = values.size() / kParts;
  for (const GapInterval& gap : line.gaps) {
    if (gap.pulse != line.pulse || gap.first_sample >= sample_count) continue;
    const std::size_t count = std::min<std::size_t>(gap.sample_count, sample_count - gap.first_sample);
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(gap.first_sample * kParts), count * kParts,
                std::numeric_limits<float>::quiet_NaN());
  }
}

template <std::size_t kParts> bool is_valid_sample(const float* sample) {
  return is_valid(sample[0]) && is_valid(sample[kParts - 1]);
}

struct LineLook {
  bool all_ordinary;
  bool any_not_zero;
};

// Nearly all lines are without fault, which this sees in one pass that vectorises. NaN lies between no two numbers.
LineLook look_at(std::span<const float> values, const FormatEnds& ordinary) {
  unsigned faults = 0;
  unsigned not_zero = 0;
  for (const float value : values) {
    faults |= static_cast<unsigned>(!(value > ordinary.lowest)) | static_cast<unsigned>(!(value < ordinary.highest));
    not_zero |= static_cast<unsigned>(value != 0.0F);
  }
  return {faults == 0, not_zero != 0};
}

// Counts a line's faults sample by sample; returns the number of samples to be masked.
template <std::size_t kParts>
std::size_t count_faults(std::span<const float> values, const FormatEnds& ends, LineQuality& quality) {
  std::size_t masked = 0;
  for (std::size_t i = 0; i < values.size(); i += kParts) {
    const float first = values[i];
    const float last = values[i + kParts - 1];
    if (!is_valid_sample<kParts>(&values[i])) {
      ++masked;
      continue;
    }
    const auto at_end = [&](float value) { return value <= ends.lowest || value >= ends.highest; };  // NaN: no end
    if (at_end(first) || at_end(last)) ++quality.saturated_samples;
    quality.has_signal |= first != 0.0F || last != 0.0F;
  }
  quality.masked_samples += masked;
  return masked;
}

// Mean of the valid samples, summed in double: an ADC offset is often far larger than the echoes on it.
template <std::size_t kParts> void subtract_mean(std::span<float> values, std::size_t valid_count, bool all_valid) {
  if (valid_count == 0) return;
  double sum[kParts] = {};
  for (std::size_t i = 0; i < values.size(); i += kParts)
    if (all_valid || is_valid_sample<kParts>(&values[i]))
      for (std::size_t part = 0; part < kParts; ++part) sum[part] += values[i + part];
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto mean = static_cast<float>(sum[part] / static_cast<double>(valid_count));
    for (std::size_t i = part; i < values.size(); i += kParts) values[i] -= mean;
  }
}

}  // namespace

Unpacker::Unpacker(const RawLayout& layout, std::size_t sample_count, DcRemoval dc_removal,
                   std::vector<std::complex<float>> calibration)
    : layout_(layout),
      sample_count_(sample_count),
      dc_removal_(dc_removal),
      calibration_(std::move(calibration)),
      generic_(generic_converter(layout.format, layout.big_endian)),
      fast_(fast_converter(layout, sample_count)),
      ends_(format_ends(layout)),
      ordinary_{std::isnan(ends_.lowest) ? -kLargestSample : ends_.lowest,
                std::isnan(ends_.highest) ? kLargestSample : ends_.highest} {
  if (fast_ == nullptr) fast_ = generic_;
}

template <std::size_t kParts>
void Unpacker::clean(const RawLine& line, std::span<float> values, LineQuality& quality) const {
  mark_gaps<kParts>(line, values);
  const LineLook look = look_at(values, ordinary_);
  std::size_t masked = 0;
  if (look.all_ordinary) {
    quality.has_signal |= look.any_not_zero;
  } else {
    masked = count_faults<kParts>(values, ends_, quality);
  }
  const std::size_t valid = values.size() / kParts - masked;
  if (dc_removal_ == DcRemoval::per_pulse) subtract_mean<kParts>(values, valid, masked == 0);
  if (masked == 0) return;
  for (std::size_t i = 0; i < values.size(); i += kParts)
    if (!is_valid_sample<kParts>(&values[i])) std::fill_n(&values[i], kParts, 0.0F);
}

void Unpacker::process_with(LineConverter convert, const RawLine& line, std::span<std::complex<float>> out,
                            LineQuality& quality) const {
  CORNERTURN_REQUIRE(out.size() == sample_count_);
  const std::span<float> values = as_floats(out);
  if (layout_.complex_samples) {
    convert(layout_, line, values);
    clean<2>(line, values, quality);
  } else {
    const std::span<float> reals = values.first(sample_count_);
    convert(layout_, line, reals);
    clean<1>(line, reals, quality);
    for (std::size_t sample = sample_count_; sample-- > 0;) {  // spreads in place, from the end
      values[2 * sample] = values[sample];
      values[2 * sample + 1] = 0.0F;
    }
  }
  if (calibration_.empty()) return;
  const std::complex<float> factor = calibration_[line.channel];
  for (std::complex<float>& value : out)
    value = {value.real() * factor.real() - value.imag() * factor.imag(),
             value.real() * factor.imag() + value.imag() * factor.real()};
}

void Unpacker::process(const RawLine& line, std::span<std::complex<float>> out, LineQuality& quality) const {
  process_with(fast_, line, out, quality);
}

void Unpacker::process_generic(const RawLine& line, std::span<std::complex<float>> out, LineQuality& quality) const {
  process_with(generic_, line, out, quality);
}

void Unpacker::process_real(const RawLine& line, std::span<float> out, LineQuality& quality) const {
  CORNERTURN_REQUIRE(!layout_.complex_samples && out.size() == sample_count_);
  fast_(layout_, line, out);
  clean<1>(line, out, quality);
}

}  // namespace cornerturn
