#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

enum class DeviceCanceller : std::uint8_t { none, mean, two_pulse, three_pulse };

/// Canceller, Doppler window and zero padding of slow-time lines:
/// out(line, p) = window(p) y(line, p) for p < cancelled_pulse_count, 0 up to out_length.
/// Shape: in (line, pulse), out (line, out_length), window (cancelled pulse) or null for none.
struct SlowTimeJob {
  const float2* in = nullptr;
  float2* out = nullptr;
  /// Where y without the window goes as well, with the line stride of `in`, which it may be; null: nowhere.
  float2* cancelled = nullptr;
  DeviceCanceller canceller = DeviceCanceller::none;
  const float* window = nullptr;
  std::size_t line_count = 0;
  std::uint32_t pulse_count = 0;
  std::uint32_t cancelled_pulse_count = 0;
  std::uint32_t out_length = 0;
};
void launch_slow_time(const SlowTimeJob& job, cudaStream_t stream);

/// For odd transform lengths, whose shift no window can carry: out(line, b) = in(line, (b + L/2 + 1) mod L).
void launch_rotate_lines(const float2* in, float2* out, std::size_t line_count, std::uint32_t length,
                         cudaStream_t stream);

/// power(gate, bin) = (1 / M) sum over channels of |cube(gate, channel, bin)|^2.
void launch_integrate_power(const float2* cube, float* power, std::size_t gate_count, std::size_t channel_count,
                            std::size_t bin_count, cudaStream_t stream);

}  // namespace cornerturn::cuda
