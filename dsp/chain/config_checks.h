#pragma once

#include <cstddef>
#include <string>

#include "dsp/config/chain_config.h"
#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// A figure as it stands in an error message: six significant digits.
std::string figure(double value);

/// What the range stage and the Doppler axis need of the radar. Errors: usage, where = "radar.<key>".
Expected<void> check_radar(const RadarDescription& radar, const CpiShape& shape);

/// Contradictions inside the configuration and with the CPI's shape. Errors: usage, where = the chain key.
Expected<void> check_config(const ChainConfig& config, const RadarDescription& radar, const CpiShape& shape);

/// The CFAR window must leave training cells in a map of this size. Errors: usage, where = "cfar.<key>".
Expected<void> check_cfar_window(const ChainConfig::Cfar& cfar, std::size_t gate_count, std::size_t doppler_bin_count);

}  // namespace cornerturn
