#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dsp/chain/chain_plan.h"
#include "dsp/simulate/scene.h"

namespace cornerturn {

/// A size of CPI that benchmarks agree on; complex int16 samples.
struct BenchWorkload {
  std::string_view name;
  std::string_view kind;  ///< for people
  CpiShape shape;
  std::size_t replica_samples = 0;  ///< of an LFM pulse; 0: FMCW
};

/// W1 (pulse radar, 16 channels), W2 (the same, longer lines), W3 (small FMCW frame), W4 (64 channels).
std::span<const BenchWorkload> bench_workloads();

/// A few targets in noise, for such a radar. Validated.
Scene bench_scene(const BenchWorkload& workload);
/// Pulse: three-pulse canceller; all: detections with angles, correlation matrices.
ChainConfig bench_chain(const BenchWorkload& workload);
/// Both of them planned. Errors: none for bench_workloads().
Expected<ChainPlan> bench_plan(const BenchWorkload& workload);

}  // namespace cornerturn
