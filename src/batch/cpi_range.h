#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dsp/vocabulary/error.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// CPIs [first, end) of a capture.
struct CpiRange {
  std::size_t first = 0;
  std::size_t end = SIZE_MAX;
  bool operator==(const CpiRange&) const = default;
};

/// "10:20" (CPIs 10 to 19), "10:", ":20", "10" (that one). Errors: usage.
Expected<CpiRange> parse_cpi_range(std::string_view text);

/// The CPIs of the range that the capture has; end stays SIZE_MAX when their number is not known.
/// Errors: usage when there are none.
Expected<CpiRange> clip_cpi_range(const CpiRange& range, const CaptureInfo& info);

}  // namespace cornerturn
