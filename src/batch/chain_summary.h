#pragma once

#include <string>

#include "dsp/chain/chain_plan.h"

namespace cornerturn {

/// The chain in one line: "range FFT 256 (hann) -> 3-pulse canceller -> Doppler 128 (hann) -> CA-CFAR ...".
std::string summarise_chain(const ChainPlan& plan);

}  // namespace cornerturn
