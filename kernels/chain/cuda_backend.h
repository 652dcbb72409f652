#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/backend_module.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn::cuda {

/// One line per usable GPU. Errors: runtime, why there is none.
Expected<std::vector<std::string>> describe_devices();

/// The CUDA backend on `options.devices` (empty: on the first GPU); several of them as one BackendGroup. "auto" is
/// chosen on the first of them.
/// Errors: usage for an unknown device or memory strategy; runtime without a usable GPU, or with less free memory than
/// the chain needs.
Expected<std::unique_ptr<Backend>> make_cuda_backend(ChainPlan plan, const BackendOptions& options);

/// What "auto" comes to on the first of `options.devices`. Errors: as make_cuda_backend.
Expected<MemoryChoice> choose_memory(const ChainPlan& plan, const BackendOptions& options);

}  // namespace cornerturn::cuda
