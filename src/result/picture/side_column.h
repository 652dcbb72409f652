#pragma once

#include "src/result/picture/result_picture.h"

namespace cornerturn {

/// Detections that get a number in the map and a row in the table.
inline constexpr std::size_t kNumberedDetections = 12;

/// Draws the table of the strongest detections. Returns the height that it took.
double draw_detection_table(Canvas& canvas, const Box& box, const PictureContent& content);

/// Draws magnitude and phase of the correlation matrix side by side at the top of `box`.
void draw_correlation(Canvas& canvas, const Box& box, const CorrelationView& view);

}  // namespace cornerturn
