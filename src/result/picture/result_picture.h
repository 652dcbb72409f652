#pragma once

#include <string>
#include <vector>

#include "dsp/stage/detection.h"
#include "dsp/vocabulary/product.h"
#include "src/result/picture/canvas.h"
#include "src/result/result_sink.h"

namespace cornerturn {

/// The correlation coefficients R_mn / sqrt(R_mm R_nn) between the channels of one gate; (channel, channel).
struct CorrelationView {
  std::size_t channel_count = 0;
  std::vector<float> magnitude;  ///< 0 to 1
  std::vector<float> phase_deg;  ///< -180 to 180: channel of the row ahead of that of the column
  std::string title;
};

/// What a picture of one CPI shows, copied out of the result.
struct PictureContent {
  std::vector<Axis> axes;             ///< vertical (range), horizontal (range rate)
  std::vector<float> power;           ///< (range, range rate)
  std::vector<Detection> detections;  ///< strongest first
  CorrelationView correlation;        ///< of the gate of the strongest detection, else of the most power; may be empty
  double full_scale_counts = 0.0;     ///< 0: levels relative to 1 count squared
  std::string title;
  std::string subtitle;
  std::string chain;
};

/// Copies the picture's content out of a result. Empty axes: the result has no map.
PictureContent make_picture_content(const CpiResult& result, const RunDescription& run);

/// Draws the range-Doppler map (a level curve where one of the axes has a single cell) with axes, units, colour bar,
/// numbered detections, their table and the correlation matrix. The ending of `path` says what is written.
/// Errors: usage (unknown ending), runtime (disk full, not writable).
Expected<void> draw_result_picture(const PictureContent& content, const std::string& path);

}  // namespace cornerturn
