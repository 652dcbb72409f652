#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// Samples known to be missing (a lost packet, a fill value): all channels of [first_sample, first_sample + count) of
/// one pulse. They are set to zero and counted as masked, never used as if measured.
struct GapInterval {
  std::uint32_t pulse = 0;
  std::uint32_t first_sample = 0;
  std::uint32_t sample_count = 0;
  bool operator==(const GapInterval&) const = default;
};

/// What travels with the samples and with the results of one CPI.
struct CpiHeader {
  std::uint64_t index = 0;                  ///< 0, 1, 2 ... in the source's order, dropped CPIs counted
  double start_time_s = 0.0;                ///< since the start of the capture, from PRI and CPI period or time stamps
  double sensor_time_s = 0.0;               ///< the sensor's own clock, NaN when it has none
  std::uint32_t configuration_version = 0;  ///< version of the pipeline that processes it
  std::vector<GapInterval> gaps;
};

/// A run of whole pulses that lies in one piece of memory.
struct RawSegment {
  std::span<const std::byte> bytes;
  std::size_t first_pulse = 0;
  std::size_t pulse_count = 0;
};

/// One coherent processing interval of raw samples, as the receiver or the file delivered them.
/// The layout's offset counts from the start of each segment, whose first pulse is pulse 0 there.
struct RawCpi {
  CpiHeader header;
  std::vector<RawSegment> segments;  ///< in ascending order of first_pulse; together all pulses
};

}  // namespace cornerturn
