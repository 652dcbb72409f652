#pragma once

#include <memory>
#include <string>

#include "dsp/chain/chain_plan.h"
#include "kernels/chain/device_backend.h"

namespace cornerturn::cuda {

struct StrategyChoice {
  MemoryStrategy strategy = MemoryStrategy::hybrid;
  std::string reason;  ///< one line with the measured rates
};

/// Runs the chain for a moment with its samples brought in by the copy engine ("overlapped"), read in place ("hybrid")
/// and with its matrices written in place too ("zero-copy"), and takes the fastest. Throws CudaError.
StrategyChoice choose_strategy(const std::shared_ptr<const ChainPlan>& plan, const DeviceBackend::Options& options);

}  // namespace cornerturn::cuda
