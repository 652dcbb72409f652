#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cornerturn {

/// Which CPI a picture shows.
enum class PictureChoice {
  strongest,  ///< the CPI whose detections have the most power, the first of equals; the first CPI when none has any
  first,
  last,
};

/// What a run leaves on disk and how. An empty path leaves that output out.
struct ResultWriterOptions {
  std::string hdf5_path;
  std::string csv_path;
  std::vector<std::string> picture_paths;  ///< their endings decide: .png, .svg, .pdf
  PictureChoice picture = PictureChoice::strongest;

  /// A closed segment is safe from a kill; the results of at most this long or this much can be lost.
  std::size_t segment_bytes = std::size_t{64} << 20;
  double segment_s = 1.0;
  /// 0: no compression. Maps and matrices are mostly noise and shrink by about a sixth at a tenth of the speed.
  int deflate_level = 0;
};

}  // namespace cornerturn
