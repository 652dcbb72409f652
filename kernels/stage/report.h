#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/stage/unpack.h"

namespace cornerturn::cuda {

/// Sample quality of one CPI, written into mapped host memory.
struct QualityReport {
  unsigned long long masked_samples;
  unsigned long long saturated_samples;
  std::uint32_t zero_channels;
};

/// Writes the counters to `report` and zeroes them for the next CPI.
void launch_quality_report(const QualityCounters& counters, std::uint32_t channel_count, QualityReport* report,
                           cudaStream_t stream);

}  // namespace cornerturn::cuda
