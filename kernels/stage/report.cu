#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/report.h"

namespace cornerturn::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void quality_report(QualityCounters counters, unsigned channel_count, QualityReport* report) {
  __shared__ unsigned scratch[33];
  unsigned zero = 0;
  for (unsigned channel = threadIdx.x; channel < channel_count; channel += kThreads) {
    zero += counters.channel_has_signal[channel] == 0 ? 1 : 0;
    counters.channel_has_signal[channel] = 0;
  }
  zero = block_sum(zero, scratch);
  if (threadIdx.x != 0) return;
  report->masked_samples = *counters.masked_samples;
  report->saturated_samples = *counters.saturated_samples;
  report->zero_channels = zero;
  *counters.masked_samples = 0;
  *counters.saturated_samples = 0;
}

}  // namespace

void launch_quality_report(const QualityCounters& counters, std::uint32_t channel_count, QualityReport* report,
                           cudaStream_t stream) {
  quality_report<<<1, kThreads, 0, stream>>>(counters, channel_count, report);
  check_launch("quality_report");
}

}  // namespace cornerturn::cuda
