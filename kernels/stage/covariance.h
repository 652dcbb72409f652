#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// R = (1/K) sum_k x_k x_k^H per gate, forward-backward and relative loading as dsp/stage/covariance.h defines them.
/// Shape: snapshots (gate, channel, line_stride) of which the first snapshot_count hold data; packed (gate,
/// M (M + 1) / 2), lower half. `packed` may be mapped host memory: each element is written once and never read.
struct CovarianceJob {
  const float2* snapshots = nullptr;
  float2* packed = nullptr;
  /// When not null, the address is read from here as the kernel starts, so that a captured graph follows its changes.
  float2* const* packed_address = nullptr;
  std::size_t gate_count = 0;
  std::size_t channel_count = 0;
  std::size_t snapshot_count = 0;
  std::size_t line_stride = 0;
  bool forward_backward = false;
  const double* loading = nullptr;  ///< in device memory, so that a captured graph follows its changes
};
/// Up to 64 channels on even lines, from compute capability 8.0 on, tensor cores form the products, each factor split
/// into two parts of 11 bits, so that what is lost is below the rounding of single precision; else fused multiply-adds
/// do.
void launch_covariance(const CovarianceJob& job, cudaStream_t stream);

namespace covariance_detail {
/// False when the job is not for tensor cores.
bool launch_on_tensor_cores(const CovarianceJob& job, cudaStream_t stream);
void launch_on_cores(const CovarianceJob& job, cudaStream_t stream);
}  // namespace covariance_detail

}  // namespace cornerturn::cuda
