#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/block_reduce.cuh"
#include "kernels/stage/raw_line.cuh"
#include "kernels/stage/small_fft.cuh"
#include "kernels/stage/unpack.h"

namespace cornerturn::cuda {
namespace {

using Format = DeviceLayout::Format;

constexpr float kLargestSample = 1e15F;  // as dsp/stage/unpack.h
constexpr unsigned kMostThreads = 512;
constexpr unsigned kGenericThreads = 256;
constexpr unsigned kMostVectors = 8;       // 16-byte loads that one thread keeps in flight
constexpr unsigned kSamplesPerVector = 4;  // 16 bytes of int16 pairs

/// The part of a line that one thread reads, 16 bytes at a time.
template <unsigned kVectors> __device__ void load_line(const UnpackJob& job, unsigned line, int4 (&words)[kVectors]) {
  const std::int64_t first = first_scalar(job, line / job.segment_pulse_count, line % job.segment_pulse_count);
  const int4* in = reinterpret_cast<const int4*>(static_cast<const short*>(job.segment) + first + job.layout.i_offset);
#pragma unroll
  for (unsigned v = 0; v < kVectors; ++v) {
    const unsigned index = threadIdx.x + v * blockDim.x;
    words[v] = index < job.sample_count / kSamplesPerVector ? in[index] : make_int4(0, 0, 0, 0);
  }
}

/// Contiguous int16 lines on 16-byte boundaries: a line is read once, whole, into registers, so that its mean is known
/// before anything is written; the next line is on its way meanwhile, because the link is far.
template <bool kIiqq, unsigned kVectors>
__global__ void __launch_bounds__(kMostThreads) unpack_int16_lines(UnpackJob job) {
  __shared__ long long scratch[3][33];
  const unsigned vector_count = job.sample_count / kSamplesPerVector;
  const unsigned line_count = job.channel_count * job.segment_pulse_count;
  int4 next_words[kVectors];
  if (blockIdx.x < line_count) load_line(job, blockIdx.x, next_words);
  for (unsigned line = blockIdx.x; line < line_count; line += gridDim.x) {
    const unsigned channel = line / job.segment_pulse_count;
    const unsigned pulse = job.segment_first_pulse + line % job.segment_pulse_count;
    int4 words[kVectors];
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) words[v] = next_words[v];
    if (line + gridDim.x < line_count) load_line(job, line + gridDim.x, next_words);

    unsigned masked = 0;
    unsigned saturated = 0;
    bool signal = false;
    int sum_i = 0;  // 4 * kVectors samples of 16 bits a thread: no overflow
    int sum_q = 0;
    unsigned gap_bits = 0;  // one bit a sample: 4 * kVectors <= 32
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) {
      const unsigned index = threadIdx.x + v * blockDim.x;
      if (index >= vector_count) continue;
      // In IIQQ order a 16-byte vector is I0 I1 Q0 Q1 I2 I3 Q2 Q3.
      if (kIiqq) {
        const int4 w = words[v];
        words[v] =
            make_int4((w.x & 0xFFFF) | (w.y << 16), ((w.x >> 16) & 0xFFFF) | (w.y & static_cast<int>(0xFFFF0000)),
                      (w.z & 0xFFFF) | (w.w << 16), ((w.z >> 16) & 0xFFFF) | (w.w & static_cast<int>(0xFFFF0000)));
      }
      const int samples[kSamplesPerVector] = {words[v].x, words[v].y, words[v].z, words[v].w};
#pragma unroll
      for (unsigned s = 0; s < kSamplesPerVector; ++s) {
        if (is_gap(job.gaps, pulse, index * kSamplesPerVector + s)) {
          ++masked;
          gap_bits |= 1U << (v * kSamplesPerVector + s);
          continue;
        }
        const int i = low_half(samples[s]);
        const int q = high_half(samples[s]);
        saturated += i == -32768 || i == 32767 || q == -32768 || q == 32767 ? 1 : 0;
        signal = signal || samples[s] != 0;
        sum_i += i;
        sum_q += q;
      }
    }
    count_quality(job, channel, masked, saturated, signal);

    float2 mean = make_float2(0.0F, 0.0F);
    if (job.remove_dc) {
      const long long total_i = block_sum<long long>(sum_i, scratch[0]);
      const long long total_q = block_sum<long long>(sum_q, scratch[1]);
      const long long valid = job.sample_count - block_sum<long long>(masked, scratch[2]);
      if (valid > 0)
        mean = make_float2(static_cast<float>(static_cast<double>(total_i) / static_cast<double>(valid)),
                           static_cast<float>(static_cast<double>(total_q) / static_cast<double>(valid)));
    }

    float2* out =
        static_cast<float2*>(job.out) + (static_cast<std::size_t>(channel) * job.pulse_count + pulse) * job.line_length;
    const float2 factor = job.calibration != nullptr ? job.calibration[channel] : make_float2(1.0F, 0.0F);
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) {
      const unsigned index = threadIdx.x + v * blockDim.x;
      if (index >= vector_count) continue;
      const int samples[kSamplesPerVector] = {words[v].x, words[v].y, words[v].z, words[v].w};
      float2 values[kSamplesPerVector];
#pragma unroll
      for (unsigned s = 0; s < kSamplesPerVector; ++s) {
        float2 value = make_float2(static_cast<float>(low_half(samples[s])) - mean.x,
                                   static_cast<float>(high_half(samples[s])) - mean.y);
        if ((gap_bits >> (v * kSamplesPerVector + s) & 1U) != 0) value = make_float2(0.0F, 0.0F);
        if (job.calibration != nullptr) value = multiply(value, factor);
        if (job.window != nullptr) {
          const float weight = job.window[index * kSamplesPerVector + s];
          value = make_float2(value.x * weight, value.y * weight);
        }
        values[s] = value;
      }
      float4* wide = reinterpret_cast<float4*>(out) + 2 * static_cast<std::size_t>(index);
      wide[0] = make_float4(values[0].x, values[0].y, values[1].x, values[1].y);
      wide[1] = make_float4(values[2].x, values[2].y, values[3].x, values[3].y);
    }
    for (std::size_t k = job.sample_count + threadIdx.x; k < job.line_length; k += blockDim.x)
      out[k] = make_float2(0.0F, 0.0F);
  }
}

template <typename T> __device__ T load_scalar(const std::uint8_t* address, bool swap_bytes) {
  constexpr unsigned kBytes = sizeof(T);
  if (!swap_bytes && reinterpret_cast<std::size_t>(address) % kBytes == 0) return *reinterpret_cast<const T*>(address);
  union {
    T value;
    std::uint8_t bytes[kBytes];
  } scalar;
  for (unsigned b = 0; b < kBytes; ++b) scalar.bytes[b] = address[swap_bytes ? kBytes - 1 - b : b];
  return scalar.value;
}

__device__ double read_scalar(const DeviceLayout& layout, const void* segment, std::int64_t index) {
  const auto* bytes = static_cast<const std::uint8_t*>(segment);
  const bool swap = layout.swap_bytes;
  switch (layout.format) {
    case Format::int8:
      return static_cast<std::int8_t>(bytes[index]);
    case Format::uint8:
      return bytes[index];
    case Format::int16:
      return load_scalar<std::int16_t>(bytes + 2 * index, swap);
    case Format::uint16:
      return load_scalar<std::uint16_t>(bytes + 2 * index, swap);
    case Format::int32:
      return load_scalar<std::int32_t>(bytes + 4 * index, swap);
    case Format::uint32:
      return load_scalar<std::uint32_t>(bytes + 4 * index, swap);
    case Format::float32:
      return static_cast<double>(load_scalar<float>(bytes + 4 * index, swap));
    case Format::float64:
      return load_scalar<double>(bytes + 8 * index, swap);
    case Format::int12_packed: {
      const std::uint8_t* triple = bytes + index / 2 * 3;
      const int code = index % 2 == 0 ? triple[0] | (triple[1] & 0xF) << 8 : triple[1] >> 4 | triple[2] << 4;
      return code - ((code & 0x800) != 0 ? 4096 : 0);
    }
  }
  return 0.0;
}

/// Any layout: one block a line. The line is written unscaled first where its mean is needed, then read back.
template <bool kComplex> __global__ void __launch_bounds__(kGenericThreads) unpack_any_lines(UnpackJob job) {
  __shared__ double scratch[33];
  const DeviceLayout& layout = job.layout;
  const unsigned line_count = job.channel_count * job.segment_pulse_count;
  for (unsigned line = blockIdx.x; line < line_count; line += gridDim.x) {
    const unsigned channel = line / job.segment_pulse_count;
    const unsigned pulse_in_segment = line % job.segment_pulse_count;
    const unsigned pulse = job.segment_first_pulse + pulse_in_segment;
    const std::int64_t first = first_scalar(job, channel, pulse_in_segment);
    const std::size_t out_line = (static_cast<std::size_t>(channel) * job.pulse_count + pulse) * job.line_length;
    float2* const complex_out = static_cast<float2*>(job.out) + out_line;
    float* const real_out = static_cast<float*>(job.out) + out_line;
    const float2 factor = job.calibration != nullptr ? job.calibration[channel] : make_float2(1.0F, 0.0F);

    const auto write = [&](unsigned sample, float2 value) {
      if (job.calibration != nullptr) value = multiply(value, factor);
      const float weight = job.window != nullptr ? job.window[sample] : 1.0F;
      if (job.real_output) {
        real_out[sample] = value.x * weight;
      } else {
        complex_out[sample] = make_float2(value.x * weight, value.y * weight);
      }
    };

    unsigned masked = 0;
    unsigned saturated = 0;
    bool signal = false;
    double sum_i = 0.0;
    double sum_q = 0.0;
    for (unsigned sample = threadIdx.x; sample < job.sample_count; sample += blockDim.x) {
      const std::int64_t scalar = first + sample / layout.samples_per_group * layout.group_stride +
                                  sample % layout.samples_per_group * layout.sample_stride;
      float2 value = make_float2(0.0F, 0.0F);
      bool valid = !is_gap(job.gaps, pulse, sample);
      if (valid) {
        value.x = static_cast<float>(read_scalar(layout, job.segment, scalar + layout.i_offset) - layout.zero_level);
        if (kComplex)
          value.y = static_cast<float>(read_scalar(layout, job.segment, scalar + layout.q_offset) - layout.zero_level);
        // Comparisons with NaN are false: neither valid nor saturated.
        const float last = kComplex ? value.y : value.x;
        valid = fabsf(value.x) <= kLargestSample && fabsf(last) <= kLargestSample;
        saturated +=
            value.x <= layout.lowest || value.x >= layout.highest || last <= layout.lowest || last >= layout.highest
                ? 1
                : 0;
      }
      if (!valid) {
        ++masked;
        value = make_float2(0.0F, 0.0F);
      }
      signal = signal || value.x != 0.0F || value.y != 0.0F;
      sum_i += static_cast<double>(value.x);
      sum_q += static_cast<double>(value.y);
      if (!job.remove_dc) {
        write(sample, value);
      } else if (job.real_output) {
        real_out[sample] = valid ? value.x : __int_as_float(0x7FC00000);
      } else {
        complex_out[sample] = make_float2(valid ? value.x : __int_as_float(0x7FC00000), value.y);
      }
    }
    count_quality(job, channel, masked, saturated, signal);

    if (job.remove_dc) {
      const double valid_count = job.sample_count - block_sum(static_cast<double>(masked), scratch);
      const double total_i = block_sum(sum_i, scratch);
      const double total_q = block_sum(sum_q, scratch);
      float2 mean = make_float2(0.0F, 0.0F);
      if (valid_count > 0.0)
        mean = make_float2(static_cast<float>(total_i / valid_count), static_cast<float>(total_q / valid_count));
      // Each thread reads only what it wrote itself.
      for (unsigned sample = threadIdx.x; sample < job.sample_count; sample += blockDim.x) {
        float2 value = job.real_output ? make_float2(real_out[sample], 0.0F) : complex_out[sample];
        const bool valid = !isnan(value.x);
        value = valid ? make_float2(value.x - mean.x, kComplex ? value.y - mean.y : 0.0F) : make_float2(0.0F, 0.0F);
        write(sample, value);
      }
    }
    for (std::size_t k = job.sample_count + threadIdx.x; k < job.line_length; k += blockDim.x) {
      if (job.real_output) {
        real_out[k] = 0.0F;
      } else {
        complex_out[k] = make_float2(0.0F, 0.0F);
      }
    }
  }
}

bool is_multiple(std::int64_t scalars, std::int64_t of) { return scalars % of == 0; }

template <bool kIiqq>
void launch_int16(const UnpackJob& job, unsigned threads, unsigned vectors, unsigned blocks, cudaStream_t stream) {
  if (vectors <= 1) {
    unpack_int16_lines<kIiqq, 1><<<blocks, threads, 0, stream>>>(job);
  } else if (vectors <= 2) {
    unpack_int16_lines<kIiqq, 2><<<blocks, threads, 0, stream>>>(job);
  } else if (vectors <= 4) {
    unpack_int16_lines<kIiqq, 4><<<blocks, threads, 0, stream>>>(job);
  } else {
    unpack_int16_lines<kIiqq, kMostVectors><<<blocks, threads, 0, stream>>>(job);
  }
}

}  // namespace

bool unpack_is_fast(const UnpackJob& job) {
  const DeviceLayout& layout = job.layout;
  constexpr std::int64_t kAligned = 8;  // int16 scalars of 16 bytes
  if (layout.format != Format::int16 || layout.swap_bytes || !layout.complex_samples || layout.zero_level != 0.0 ||
      job.real_output)
    return false;
  const bool iq = layout.samples_per_group == 1 && layout.group_stride == 2 && layout.q_offset == layout.i_offset + 1;
  const bool iiqq = layout.samples_per_group == 2 && layout.group_stride == 4 && layout.sample_stride == 1 &&
                    layout.q_offset == layout.i_offset + 2;
  return (iq || iiqq) && job.sample_count % kSamplesPerVector == 0 && job.line_length % 2 == 0 &&
         job.sample_count <= kMostThreads * kMostVectors * kSamplesPerVector &&
         reinterpret_cast<std::size_t>(job.segment) % 16 == 0 &&
         is_multiple(layout.offset + layout.i_offset, kAligned) && is_multiple(layout.pulse_stride, kAligned) &&
         is_multiple(layout.channel_stride, kAligned) && is_multiple(layout.channel_group_stride, kAligned);
}

void launch_unpack(const UnpackJob& job, cudaStream_t stream) {
  const unsigned line_count = job.channel_count * job.segment_pulse_count;
  if (line_count == 0) return;
  const bool fast = unpack_is_fast(job);
  unsigned threads = kGenericThreads;
  unsigned vectors = 0;
  if (fast) {
    const unsigned vector_count = job.sample_count / kSamplesPerVector;
    // A few loads a thread for long lines, one for short ones.
    threads = std::min(kMostThreads, (vector_count + 31) / 32 * 32);
    vectors = (vector_count + threads - 1) / threads;
  }
  // The limit is meant in blocks of the largest size.
  const unsigned limit = job.block_limit == 0 ? 4096U : job.block_limit * (kMostThreads / threads);
  const unsigned blocks = std::min(line_count, std::max(1U, limit));
  if (fast) {
    if (job.layout.samples_per_group == 2) {
      launch_int16<true>(job, threads, vectors, blocks, stream);
    } else {
      launch_int16<false>(job, threads, vectors, blocks, stream);
    }
  } else if (job.layout.complex_samples) {
    unpack_any_lines<true><<<blocks, threads, 0, stream>>>(job);
  } else {
    unpack_any_lines<false><<<blocks, threads, 0, stream>>>(job);
  }
  check_launch("unpack");
}

}  // namespace cornerturn::cuda
