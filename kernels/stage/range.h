#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// lines(line, k) *= spectrum(k): the replica's conjugate spectrum over the length, between the two transforms.
/// Shape: lines (line, length), spectrum (length).
void launch_multiply_spectrum(float2* lines, const float2* spectrum, std::size_t line_count, std::size_t length,
                              cudaStream_t stream);

/// lines(channel, pulse, k) *= factors(channel): calibration behind a real-to-complex transform.
void launch_scale_channels(float2* lines, const float2* factors, std::size_t channel_count,
                           std::size_t elements_per_channel, cudaStream_t stream);

/// Turns (channel, pulse, fast time) into (gate, channel, pulse), cut to the kept gates.
struct CornerTurnJob {
  const float2* lines = nullptr;  ///< (channel, pulse, line_length)
  float2* cube = nullptr;         ///< (gate, channel, pulse)
  std::size_t channel_count = 0;
  std::size_t pulse_count = 0;
  std::size_t line_length = 0;
  std::size_t first_gate = 0;
  std::size_t gate_count = 0;
};
void launch_corner_turn(const CornerTurnJob& job, cudaStream_t stream);

}  // namespace cornerturn::cuda
