#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/raw_layout.h"
#include "src/capture/array_file.h"

namespace cornerturn {

/// What an axis of an array means.
/// frame: blocks of pulses, one CPI each by default. pulse: slow time. tx: transmitters that take turns (TDM-MIMO):
/// virtual channel = tx * channels + channel. group, sample: fast time = group * samples + sample. iq: I and Q (length
/// 2). one: an axis of length 1 without meaning.
enum class AxisRole { frame, pulse, tx, channel, group, sample, iq, one };
std::string_view to_string(AxisRole role);
Expected<AxisRole> parse_axis_role(std::string_view text);

/// How to read an array of one container as CPIs.
struct ArrayMeaning {
  std::vector<AxisRole> axes;  ///< one per axis of the array, as it is shown (outermost first)
  std::optional<IqOrder>
      iq_order;  ///< of scalar elements along the sample or iq axis; absent: real, or iq with an iq axis
  std::optional<double> zero_level;  ///< absent: mid-scale of unsigned formats
  std::size_t pulses_per_cpi = 0;    ///< 0: one frame; without frames all pulses up to kMaxDefaultPulses
  std::size_t first_sample = 0;      ///< along the sample axis, in elements ...
  std::size_t sample_length = 0;     ///< ... and how many; 0: all from there on
  bool second_array_is_q = false;    ///< I and Q are two arrays of the same shape: the slot holds I, then Q
};

inline constexpr std::size_t kMaxDefaultPulses = 4096;
/// A CPI must fit into memory several times; larger ones are refused with the advice to cut them.
inline constexpr std::uint64_t kMaxCpiBytes = std::uint64_t{2} << 30;

/// How an array is cut into CPIs: which box of the array goes into which segment of the slot, and the affine layout
/// that the samples then have there. The bytes of a box are packed in storage order, so no sample is reordered on the
/// host.
struct CpiCut {
  RawLayout layout;  ///< in each segment
  CpiShape shape;
  std::size_t cpi_count = 0;
  std::size_t segment_count = 1;  ///< more than one when a CPI spans frames that do not join in memory
  std::size_t pulses_per_segment = 0;
  std::size_t box_bytes = 0;         ///< of one segment and array
  std::size_t array_count = 1;       ///< 2: an array of I and an array of Q
  std::size_t left_over_pulses = 0;  ///< at the end, too few for a CPI

  std::size_t frame_count = 1;
  std::size_t pulses_per_frame = 1;
  std::uint64_t first_sample = 0;  ///< along the sample axis, in elements
  std::uint64_t sample_length = 0;
  std::size_t frames_per_cpi = 1;  ///< 1 also where a frame is cut into several CPIs

  std::size_t segment_bytes() const { return box_bytes * array_count; }
  std::size_t slot_bytes() const { return segment_bytes() * segment_count; }
  ArrayBox box(std::size_t cpi, std::size_t segment) const;
  /// First frame of a CPI, and its first pulse there.
  std::size_t first_frame(std::size_t cpi) const;
  std::size_t first_pulse(std::size_t cpi) const;

  std::vector<AxisRole> axes;
  std::vector<std::uint64_t> array_shape;
};

/// Errors: input; Error::where is the key at fault ("samples.axes", "samples.iq", "cpi.pulses"), so that the caller can
/// point into a sidecar.
Expected<CpiCut> make_cpi_cut(const ArrayElement& element, std::span<const std::uint64_t> shape,
                              std::span<const std::size_t> storage_order, const ArrayMeaning& meaning);

}  // namespace cornerturn
