#pragma once

#include <cstddef>
#include <vector>

#include "dsp/chain/device_probe.h"

namespace cornerturn::cuda {

/// Measures the link of the current device with buffers of the question's sizes, four of them in turn. Throws
/// CudaError.
LinkRates probe_link(const LinkQuestion& question);

/// Measures reads in place: strided, and random granules in windows up to `largest_window_bytes`. Throws CudaError.
std::vector<AccessRate> probe_access(std::size_t largest_window_bytes);

}  // namespace cornerturn::cuda
