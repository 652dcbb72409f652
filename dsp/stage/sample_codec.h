#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dsp/vocabulary/raw_cpi.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// One line of raw samples (a pulse of a channel), wherever its layout puts them.
struct RawLine {
  const std::byte* segment = nullptr;  ///< start of the segment that holds the pulse
  std::size_t pulse_in_segment = 0;
  std::size_t pulse = 0;  ///< in the CPI, for the gaps
  std::size_t channel = 0;
  std::span<const GapInterval> gaps = {};  ///< of the whole CPI
};

/// Converts one raw line to floats: code - zero_level, as I, Q, I, Q ... or as real samples.
/// Shape: out (2 * sample) for complex, (sample) for real sampling.
using LineConverter = void (*)(const RawLayout& layout, const RawLine& line, std::span<float> out);

/// Reads any layout of a format, one scalar at a time, through double.
LineConverter generic_converter(SampleFormat format, bool big_endian);

/// A quick converter for contiguous lines of a few common layouts; null for all others.
LineConverter fast_converter(const RawLayout& layout, std::size_t sample_count);

/// Values (after zero_level is subtracted) at the ends of an integer format: samples there are saturated. An end that
/// a format does not have is NaN, which no value reaches.
struct FormatEnds {
  float lowest;
  float highest;
};
FormatEnds format_ends(const RawLayout& layout);

}  // namespace cornerturn
