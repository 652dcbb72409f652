#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/matched_filter.h"
#include "kernels/stage/raw_line.cuh"
#include "kernels/stage/small_fft.cuh"

namespace cornerturn::cuda {
namespace {

// length = first second last, last always 16. The forward transform runs through the radices in this order, decimating
// in frequency, the inverse one backwards, decimating in time: the spectrum between them stays in the order in which it
// is made, every pass works in place, and the last pass forward and the first one back happen in the same registers.
constexpr int kLast = 16;
constexpr int kRowLength = kLast + 1;  // in shared memory: walks along rows and along columns both touch all banks
struct Radices {
  int first;
  int second;
  constexpr int length() const { return first * second * kLast; }
};
constexpr std::array<Radices, 5> kRadices = {{{8, 16}, {16, 16}, {24, 16}, {24, 24}, {32, 32}}};

constexpr int thread_count(int, int second) { return second * kLast; }  // one first-pass butterfly each
/// Blocks that a multiprocessor holds, as registers and shared memory allow.
constexpr int block_count(int first, int second) {
  const int length = first * second * kLast;
  return length > 9216 ? 1 : length > 6144 ? 2 : 3;
}
constexpr int threads_of(Radices radices) { return thread_count(radices.first, radices.second); }
constexpr std::size_t shared_bytes_of(Radices radices) {
  return sizeof(float2) * static_cast<std::size_t>(radices.first * radices.second * kRowLength);
}

/// Samples threadIdx.x + j threads - delay of a raw line, as floats; mean and quality as dsp/stage/unpack has them.
/// Returns the delay, with which the line starts as many places late in its circle as make a warp read whole runs of
/// 128 bytes: over the link, each run that is cut costs a request of its own.
template <int kCount, int kThreads>
__device__ unsigned load_raw(const UnpackJob& job, unsigned channel, unsigned pulse_in_segment, float2 (&v)[kCount]) {
  __shared__ int scratch[3][33];
  const unsigned pulse = job.segment_first_pulse + pulse_in_segment;
  const int* in = reinterpret_cast<const int*>(static_cast<const short*>(job.segment) +
                                               first_scalar(job, channel, pulse_in_segment) + job.layout.i_offset);
  auto delay = static_cast<unsigned>(reinterpret_cast<std::size_t>(in) / sizeof(int) % 32);
  if (job.sample_count + delay > kCount * kThreads) delay = 0;
  const unsigned first_sample = threadIdx.x - delay;  // wraps below the first
  int words[kCount];
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    const unsigned sample = first_sample + j * kThreads;
    words[j] = sample < job.sample_count ? in[sample] : 0;
  }
  unsigned gap_bits = 0;
  if (job.gaps.offsets != nullptr && job.gaps.offsets[pulse] != job.gaps.offsets[pulse + 1]) {
    for (int j = 0; j < kCount; ++j)
      if (first_sample + j * kThreads < job.sample_count && is_gap(job.gaps, pulse, first_sample + j * kThreads))
        gap_bits |= 1U << j;
  }
  unsigned saturated = 0;
  int any = 0;
  int sum_i = 0;  // at most 16384 samples of 16 bits in the block: no overflow
  int sum_q = 0;
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    if ((gap_bits >> j & 1U) != 0) words[j] = 0;
    const int i = low_half(words[j]);
    const int q = high_half(words[j]);
    saturated += i == -32768 || i == 32767 || q == -32768 || q == 32767 ? 1 : 0;
    any |= words[j];
    sum_i += i;
    sum_q += q;
  }
  const auto masked = static_cast<unsigned>(__popc(gap_bits));
  count_quality(job, channel, masked, saturated, any != 0);

  float2 mean = make_float2(0.0F, 0.0F);
  if (job.remove_dc) {
    const int total_i = block_sum<int>(sum_i, scratch[0]);
    const int total_q = block_sum<int>(sum_q, scratch[1]);
    const int valid = static_cast<int>(job.sample_count) - block_sum<int>(static_cast<int>(masked), scratch[2]);
    if (valid > 0)
      mean = make_float2(static_cast<float>(static_cast<double>(total_i) / valid),
                         static_cast<float>(static_cast<double>(total_q) / valid));
  }
  const float2 factor = job.calibration != nullptr ? job.calibration[channel] : make_float2(1.0F, 0.0F);
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    v[j] =
        make_float2(static_cast<float>(low_half(words[j])) - mean.x, static_cast<float>(high_half(words[j])) - mean.y);
    if ((gap_bits >> j & 1U) != 0 || first_sample + j * kThreads >= job.sample_count) v[j] = make_float2(0.0F, 0.0F);
    if (job.calibration != nullptr) v[j] = multiply(v[j], factor);
  }
  return delay;
}

template <int kFirst, int kSecond, bool kRaw>
__global__ void __launch_bounds__(thread_count(kFirst, kSecond), block_count(kFirst, kSecond))
    matched_filter(MatchedFilterJob job, UnpackJob raw) {
  extern __shared__ float2 line_values[];
  constexpr int kThreads = thread_count(kFirst, kSecond);
  constexpr unsigned kRows = kFirst * kSecond;
  constexpr unsigned kMiddle = kFirst * kLast;  // butterflies of the second pass
  const unsigned thread = threadIdx.x;
  float2* const own_column = line_values + thread / kLast * kRowLength + thread % kLast;
  constexpr unsigned kColumnStep = kSecond * kRowLength;  // from one first-pass output to the next
  const float2* const first_twiddles = job.twiddles + thread;
  const float2* const second_twiddles = job.twiddles + twiddle_count(kFirst) * kThreads;

#pragma unroll 1
  for (std::size_t line = blockIdx.x; line < job.line_count; line += gridDim.x) {
    std::size_t out_line = line;
    unsigned delay = 0;
    {
      float2 v[kFirst];
      if constexpr (kRaw) {
        const auto channel = static_cast<unsigned>(line / raw.segment_pulse_count);
        const auto pulse = static_cast<unsigned>(line % raw.segment_pulse_count);
        out_line = static_cast<std::size_t>(channel) * raw.pulse_count + raw.segment_first_pulse + pulse;
        delay = load_raw<kFirst, kThreads>(raw, channel, pulse, v);
      } else {
        const float2* in = job.lines + line * job.in_stride + thread;
#pragma unroll
        for (int j = 0; j < kFirst; ++j)
          v[j] = thread + j * kThreads < job.sample_count ? in[j * kThreads] : make_float2(0.0F, 0.0F);
      }
      small_fft<kFirst, kForward>(v);
      apply_twiddles<kForward>(v, first_twiddles, kThreads);
#pragma unroll
      for (int k = 0; k < kFirst; ++k) own_column[k * kColumnStep] = v[k];
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned butterfly = thread; butterfly < kMiddle; butterfly += kThreads) {
      float2* const column = line_values + butterfly / kLast * kColumnStep + butterfly % kLast;
      float2 v[kSecond];
#pragma unroll
      for (int j = 0; j < kSecond; ++j) v[j] = column[j * kRowLength];
      small_fft<kSecond, kForward>(v);
      apply_twiddles<kForward>(v, second_twiddles + butterfly % kLast, kLast);
#pragma unroll
      for (int k = 0; k < kSecond; ++k) column[k * kRowLength] = v[k];
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned row = thread; row < kRows; row += kThreads) {
      float2* const values = line_values + row * kRowLength;
      float2 v[kLast];
#pragma unroll
      for (int j = 0; j < kLast; ++j) v[j] = values[j];
      small_fft<kLast, kForward>(v);
#pragma unroll
      for (int k = 0; k < kLast; ++k) v[k] = multiply(v[k], job.spectrum[k * kRows + row]);
      small_fft<kLast, kInverse>(v);
#pragma unroll
      for (int j = 0; j < kLast; ++j) values[j] = v[j];
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned butterfly = thread; butterfly < kMiddle; butterfly += kThreads) {
      float2* const column = line_values + butterfly / kLast * kColumnStep + butterfly % kLast;
      float2 v[kSecond];
#pragma unroll
      for (int k = 0; k < kSecond; ++k) v[k] = column[k * kRowLength];
      apply_twiddles<kInverse>(v, second_twiddles + butterfly % kLast, kLast);
      small_fft<kSecond, kInverse>(v);
#pragma unroll
      for (int j = 0; j < kSecond; ++j) column[j * kRowLength] = v[j];
    }
    __syncthreads();
    {
      float2 v[kFirst];
#pragma unroll
      for (int k = 0; k < kFirst; ++k) v[k] = own_column[k * kColumnStep];
      __syncthreads();  // the next line may come
      apply_twiddles<kInverse>(v, first_twiddles, kThreads);
      small_fft<kFirst, kInverse>(v);
      const unsigned output = thread - delay - job.first_output;  // wraps below the first
      float2* const out = job.out + out_line * job.out_stride;
#pragma unroll
      for (int j = 0; j < kFirst; ++j)
        if (output + j * kThreads < job.output_count) out[output + j * kThreads] = v[j];
    }
  }
}

/// Calls body.operator()<index>() for the radices of a length.
template <typename Body> void with_radices(std::size_t length, Body&& body) {
  [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    ((static_cast<std::size_t>(kRadices[kIndices].length()) == length
          ? body(std::integral_constant<std::size_t, kIndices>{})
          : void()),
     ...);
  }
  (std::make_index_sequence<kRadices.size()>{});
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

template <bool kRaw>
void launch(const MatchedFilterJob& job, const UnpackJob& raw, unsigned block_limit, cudaStream_t stream) {
  if (job.line_count == 0) return;
  with_radices(job.length, [&](auto index) {
    constexpr Radices kRadix = kRadices[index];
    constexpr std::size_t kBytes = shared_bytes_of(kRadix);
    const auto kernel = matched_filter<kRadix.first, kRadix.second, kRaw>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kBytes)),
          "cudaFuncSetAttribute");
    const auto fitting = static_cast<std::size_t>(block_count(kRadix.first, kRadix.second) *
                                                  device_attribute(cudaDevAttrMultiProcessorCount));
    const std::size_t blocks =
        std::min({job.line_count, fitting, block_limit == 0 ? fitting : std::size_t{block_limit}});
    kernel<<<static_cast<unsigned>(blocks), threads_of(kRadix), kBytes, stream>>>(job, raw);
    check_launch("matched_filter");
  });
}

}  // namespace

std::size_t matched_filter_length(std::size_t sample_count) {
  const auto most_bytes = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  for (const Radices radices : kRadices)
    if (static_cast<std::size_t>(radices.length()) >= sample_count)
      return shared_bytes_of(radices) + 1024 <= most_bytes ? static_cast<std::size_t>(radices.length()) : 0;
  return 0;
}

std::vector<float2> matched_filter_spectrum(std::span<const std::complex<double>> spectrum) {
  std::vector<float2> table(spectrum.size());
  with_radices(spectrum.size(), [&](auto index) {
    constexpr Radices kRadix = kRadices[index];
    constexpr std::size_t kRows = kRadix.first * kRadix.second;
    // Row first-index * second + second-index of column k holds frequency first + kFirst second + kRows k.
    for (std::size_t k = 0; k < kLast; ++k) {
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::complex<double> value =
            spectrum[row / kRadix.second + kRadix.first * (row % kRadix.second) + kRows * k];
        table[k * kRows + row] = make_float2(static_cast<float>(value.real()), static_cast<float>(value.imag()));
      }
    }
  });
  return table;
}

std::vector<float2> matched_filter_twiddles(std::size_t length) {
  std::vector<float2> table;
  const auto add = [&](int radix, std::size_t count, std::size_t of) {
    for (int entry = 0; entry < twiddle_count(radix); ++entry) {
      for (std::size_t n = 0; n < count; ++n) {
        const double turns =
            static_cast<double>(n * static_cast<std::size_t>(twiddle_power(entry))) / static_cast<double>(of);
        const double angle = -2.0 * std::numbers::pi * turns;
        table.push_back(make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))));
      }
    }
  };
  with_radices(length, [&](auto index) {
    constexpr Radices kRadix = kRadices[index];
    add(kRadix.first, static_cast<std::size_t>(threads_of(kRadix)), length);
    add(kRadix.second, kLast, static_cast<std::size_t>(kRadix.second * kLast));
  });
  return table;
}

void launch_matched_filter(const MatchedFilterJob& job, cudaStream_t stream) { launch<false>(job, {}, 0, stream); }

bool matched_filter_reads_raw(const UnpackJob& raw) {
  const DeviceLayout& layout = raw.layout;
  const auto even = [](std::int64_t scalars) { return scalars % 2 == 0; };
  return layout.format == DeviceLayout::Format::int16 && !layout.swap_bytes && layout.complex_samples &&
         layout.zero_level == 0.0 && !raw.real_output && raw.window == nullptr && layout.samples_per_group == 1 &&
         layout.group_stride == 2 && layout.q_offset == layout.i_offset + 1 && even(layout.offset + layout.i_offset) &&
         even(layout.pulse_stride) && even(layout.channel_stride) && even(layout.channel_group_stride);
}

void launch_raw_matched_filter(const MatchedFilterJob& job, const UnpackJob& raw, cudaStream_t stream) {
  MatchedFilterJob lines = job;
  lines.line_count = static_cast<std::size_t>(raw.channel_count) * raw.segment_pulse_count;
  launch<true>(lines, raw, raw.block_limit, stream);
}

}  // namespace cornerturn::cuda
