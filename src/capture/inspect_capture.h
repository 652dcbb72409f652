#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// Figures of one channel over the CPIs that were read. Units: counts.
struct ChannelFigures {
  double rms = 0.0;  ///< around the mean
  double mean_i = 0.0;
  double mean_q = 0.0;
  double peak = 0.0;  ///< largest |I| or |Q|
};

/// What a look at the samples shows.
struct CaptureInspection {
  std::size_t cpis_read = 0;
  std::vector<ChannelFigures> channels;
  std::uint64_t samples = 0;
  std::uint64_t masked_samples = 0;  ///< NaN, Inf, gaps
  std::uint64_t full_scale_samples = 0;
  /// FMCW, complex: energy above the noise in the lower half of the range spectrum over that in the upper half. Targets
  /// lie in the lower half; strongly negative means that I and Q are swapped. NaN when it does not apply.
  double image_ratio_db = 0.0;
  std::vector<Doubt> doubts;  ///< in addition to those of CaptureInfo
};

/// Reads up to `max_cpis` CPIs spread over the capture and goes back to its start. Live sources: none, they are
/// consumed. Errors: those of the source.
Expected<CaptureInspection> inspect_capture(CaptureSource& source, std::size_t max_cpis = 3);

}  // namespace cornerturn
