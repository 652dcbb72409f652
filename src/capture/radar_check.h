#pragma once

#include <string>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// Checks a description that was read from a file: finite numbers, positive rates, one position per channel, ranges
/// that rise. Errors: input, naming the member.
Expected<void> check_radar(const std::string& where, const RadarDescription& radar, const CpiShape& shape);

}  // namespace cornerturn
