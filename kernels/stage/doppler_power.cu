#include <cmath>
#include <numbers>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/doppler_power.h"
#include "kernels/stage/small_fft.cuh"

namespace cornerturn::cuda {
namespace {

constexpr int kGates = 16;  // of a block: runs of 128 bytes of each pulse
constexpr int kRadix = 16;  // of the second pass
constexpr int kThreads = kGates * kRadix;

/// bin_count = kFirst 16. One tile of gates of one channel a block; a thread reads the pulses of its butterfly and
/// their neighbours from memory, of which two thirds come out of the first-level cache.
template <int kFirst> __global__ void __launch_bounds__(kThreads, 4) doppler_power(DopplerPowerJob job) {
  constexpr unsigned kBins = kFirst * kRadix;
  extern __shared__ float2 spectra[];  // (gate, kFirst, 16), columns exchanged so that no two threads meet in a bank
  const unsigned first_gate = blockIdx.x * kGates;
  const std::size_t channel = blockIdx.y;
  {
    const unsigned gate = threadIdx.x % kGates;
    const unsigned column = threadIdx.x / kGates;
    const bool exists = first_gate + gate < job.gate_count;
    const float2* in = job.lines + channel * job.pulse_count * job.line_stride + first_gate + gate;
    float2 v[kFirst];
#pragma unroll
    for (int j = 0; j < kFirst; ++j) {
      const unsigned pulse = column + j * kRadix;
      v[j] = make_float2(0.0F, 0.0F);
      if (!exists || pulse >= job.pulse_count) continue;
#pragma unroll
      for (int t = 0; t < 3; ++t) {
        const unsigned tap = pulse + static_cast<unsigned>(job.first_tap + t);  // wraps below the first
        const float2 x = tap < job.pulse_count ? in[tap * job.line_stride] : make_float2(0.0F, 0.0F);
        v[j].x += x.x * job.taps[t];
        v[j].y += x.y * job.taps[t];
      }
      const float weight = job.weights[pulse];
      v[j] = make_float2(v[j].x * weight, v[j].y * weight);
    }
    small_fft<kFirst, kForward>(v);
    apply_twiddles<kForward>(v, job.twiddles + column, kRadix);
#pragma unroll
    for (unsigned k = 0; k < kFirst; ++k) spectra[gate * kBins + k * kRadix + (column ^ gate ^ (k % kRadix))] = v[k];
  }
  __syncthreads();
  for (unsigned butterfly = threadIdx.x; butterfly < kGates * kFirst; butterfly += kThreads) {
    const unsigned gate = butterfly / kFirst;
    const unsigned row = butterfly % kFirst;
    float2 v[kRadix];
#pragma unroll
    for (unsigned j = 0; j < kRadix; ++j) v[j] = spectra[gate * kBins + row * kRadix + (j ^ gate ^ row)];
    small_fft<kRadix, kForward>(v);
    if (first_gate + gate >= job.gate_count) continue;
    float* out = job.power + (channel * job.gate_count + first_gate + gate) * kBins + row;
#pragma unroll
    for (unsigned k = 0; k < kRadix; ++k) out[k * kFirst] = v[k].x * v[k].x + v[k].y * v[k].y;
  }
}

template <int kFirst> void launch(const DopplerPowerJob& job, cudaStream_t stream) {
  constexpr std::size_t kBytes = sizeof(float2) * kGates * kFirst * kRadix;
  const dim3 grid((job.gate_count + kGates - 1) / kGates, job.channel_count);
  doppler_power<kFirst><<<grid, kThreads, kBytes, stream>>>(job);
  check_launch("doppler_power");
}

}  // namespace

bool doppler_power_supports(std::size_t bin_count) { return bin_count == 128 || bin_count == 256; }

std::vector<float2> doppler_power_twiddles(std::size_t bin_count) {
  std::vector<float2> table;
  for (int entry = 0; entry < twiddle_count(static_cast<int>(bin_count) / kRadix); ++entry) {
    for (int n = 0; n < kRadix; ++n) {
      const double angle = -2.0 * std::numbers::pi * n * twiddle_power(entry) / static_cast<double>(bin_count);
      table.push_back(make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))));
    }
  }
  return table;
}

void launch_doppler_power(const DopplerPowerJob& job, cudaStream_t stream) {
  if (job.bin_count == 128) {
    launch<8>(job, stream);
  } else {
    launch<16>(job, stream);
  }
}

}  // namespace cornerturn::cuda
