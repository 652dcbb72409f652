#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/vocabulary/axis.h"

namespace cornerturn {

/// Interval of coordinates or levels, low < high.
struct Interval {
  double low = 0.0;
  double high = 1.0;
  double width() const { return high - low; }
  double part(double value) const { return (value - low) / width(); }
};

/// The coordinates that the cells of an axis cover, half a cell beyond the outermost ones; low < high also where the
/// axis falls.
Interval covered(const Axis& axis);

/// Levels in dB of powers; cells without power (0, NaN) are -infinity.
std::vector<float> levels_db(std::span<const float> power);

/// Levels worth colours: from 5 dB under the noise floor (the median) to the maximum, at least 20 dB; [-20, 0] when no
/// cell has power.
Interval level_limits(std::span<const float> level_db);

/// 24-bit picture, rows from the top.
struct PixelImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint32_t> pixels;  ///< 0x00RRGGBB
};

/// Draws a map (vertical, horizontal) with each axis running upwards and to the right in its coordinate. A pixel that
/// covers several cells shows the highest of them, so that no peak is lost however large the map is; a cell that covers
/// several pixels has sharp edges. Axes need not be uniform.
/// Contract: level_db has a value for each cell.
PixelImage draw_heat_map(std::span<const float> level_db, const Axis& vertical, const Axis& horizontal,
                         const Interval& limits, std::size_t width, std::size_t height);

}  // namespace cornerturn
