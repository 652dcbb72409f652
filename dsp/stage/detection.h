#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dsp/vocabulary/product.h"

namespace cornerturn {

/// Bits of Detection::flags.
inline constexpr std::uint8_t kRangeEdge = 1;    ///< peak in the first or last gate: range not interpolated
inline constexpr std::uint8_t kDopplerEdge = 2;  ///< peak in the first or last bin of a spectrum that does not wrap
inline constexpr std::uint8_t kNoAngle = 4;      ///< array unknown, or no data in the cell's channels
/// Training matrix near singular or absent, a channel without data, or the peak at the end of the azimuth grid.
inline constexpr std::uint8_t kAngleDoubtful = 8;

/// One detection as host code sees it; in a result each member is a column product named "detection_<member>".
struct Detection {
  double range_m = 0.0;
  double range_rate_mps = 0.0;  ///< positive = opening
  double power_db = 0.0;        ///< 10 log10 of the interpolated peak, re 1 count^2
  double snr_db = 0.0;          ///< peak over the mean of the training cells
  double azimuth_deg = 0.0;     ///< Capon (adaptive); NaN when flagged kNoAngle
  double azimuth_bartlett_deg = 0.0;
  double gate_position = 0.0;     ///< fractional gate
  double doppler_position = 0.0;  ///< fractional bin
  std::int32_t gate = 0;
  std::int32_t doppler_bin = 0;
  std::int32_t cell_count = 0;  ///< alarms in the group
  std::uint8_t flags = 0;
};

/// Power of all detections of a result together, in count2; 0 without. Decides which CPI stands for a run in tables and
/// pictures.
double detected_power(const CpiResult& result);

/// Reads the detection columns of a result (absent columns stay at their defaults).
std::vector<Detection> read_detections(const CpiResult& result);

/// Bytes that the columns of `capacity` detections take.
std::size_t detection_column_bytes(std::size_t capacity);
/// The column products of a result, still without detections, with room for `capacity` of them.
/// Shape of each: (detection). Requires storage of detection_column_bytes(capacity), aligned to 64 bytes, that outlives
/// them.
std::vector<Product> make_detection_columns(std::span<std::byte> storage, std::size_t capacity);
/// Writes detections into the columns made above and sets the length of their axis; Product::bytes keeps the whole
/// room. Allocates nothing (the axis' strings are short). Requires as many detections as there is room, or fewer.
void write_detection_columns(std::span<Product> columns, std::span<const Detection> detections);

}  // namespace cornerturn
