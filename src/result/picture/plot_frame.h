#pragma once

#include <string>

#include "src/result/picture/canvas.h"

namespace cornerturn {

/// The box of a plot with linear axes: where a pair of coordinates lies on the canvas.
struct PlotFrame {
  Box box;
  Interval horizontal;  ///< coordinates from left to right
  Interval vertical;    ///< coordinates from bottom to top

  double x(double coordinate) const { return box.x + horizontal.part(coordinate) * box.width; }
  double y(double coordinate) const { return box.bottom() - vertical.part(coordinate) * box.height; }
};

/// Draws the box, ticks outside of it, their labels and the two axis labels. `grid`: thin lines across the box.
void draw_axes(Canvas& canvas, const PlotFrame& frame, const std::string& horizontal_label,
               const std::string& vertical_label, bool grid);

/// Draws the colours of `limits` from bottom to top, with ticks and a label on the right.
void draw_colour_bar(Canvas& canvas, const Box& box, const Interval& limits, const std::string& label);

inline constexpr Colour kInk{0.13, 0.13, 0.15};
inline constexpr Colour kFaintInk{0.42, 0.42, 0.46};
inline constexpr Colour kGridInk{0.87, 0.87, 0.89};

}  // namespace cornerturn
