#pragma once

#include "dsp/chain/chain_plan.h"
#include "dsp/stage/grouping.h"

namespace cornerturn {

/// What the grouper has to know about a plan's map.
GroupingGeometry grouping_geometry(const ChainPlan& plan);

}  // namespace cornerturn
