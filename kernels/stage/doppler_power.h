#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// Corner turn, canceller, window, Doppler transform and power in one pass over memory, for a map of each channel:
/// y(p) = weights(p) sum_t taps(t) x(p + first_tap + t), x zero outside its pulses;
/// power(channel, gate, b) = |sum_p y(p) exp(-j 2 pi p b / bin_count)|^2.
/// Shape: lines (channel, pulse, line_stride) of which gate_count are read, power (channel, gate, bin), weights
/// (pulse).
struct DopplerPowerJob {
  const float2* lines = nullptr;
  std::size_t line_stride = 0;
  std::uint32_t channel_count = 0;
  std::uint32_t gate_count = 0;
  std::uint32_t pulse_count = 0;  ///< at most bin_count
  std::uint32_t bin_count = 0;    ///< one that doppler_power_supports
  float taps[3] = {1.0F, 0.0F, 0.0F};
  int first_tap = 0;
  const float* weights = nullptr;
  const float2* twiddles = nullptr;  ///< from doppler_power_twiddles
  float* power = nullptr;
};
bool doppler_power_supports(std::size_t bin_count);
std::vector<float2> doppler_power_twiddles(std::size_t bin_count);
void launch_doppler_power(const DopplerPowerJob& job, cudaStream_t stream);

}  // namespace cornerturn::cuda
