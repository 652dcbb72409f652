#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "dsp/chain/chain_plan.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// One line: "8 channels x 128 pulses x 256 samples, int16 complex; 16 CPIs, one every 50 ms".
std::string describe_shape(const CaptureInfo& info);

/// What range and range rate can be told, from the axes of a plan.
std::string describe_limits(const ChainPlan& plan);

/// Radar, sizes, limits, how the capture was understood and what is doubtful, for machines.
nlohmann::json capture_json(const CaptureInfo& info, const ChainPlan* plan);

}  // namespace cornerturn
