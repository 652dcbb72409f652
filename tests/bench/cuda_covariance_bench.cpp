// Correlation matrices of one shape after the other, beside the device's bandwidth for the same mix of reads and writes
// and beside cuBLAS.
#include <cmath>
#include <complex>
#include <cstdio>

#include "kernels/stage/covariance.h"
#include "tests/bench/device_bench.h"

namespace cornerturn::bench {
namespace {

using namespace cornerturn::cuda;  // NOLINT: a benchmark of that module

double error_of(const float2* snapshots, const float2* packed, std::size_t gate, std::size_t channels,
                std::size_t count, std::size_t stride) {
  const std::size_t elements = channels * (channels + 1) / 2;
  const std::vector<float2> x = to_host(snapshots + gate * channels * stride, channels * stride);
  const std::vector<float2> found = to_host(packed + gate * elements, elements);
  const auto wide = [](float2 v) { return std::complex<double>(static_cast<double>(v.x), static_cast<double>(v.y)); };
  double error2 = 0.0;
  double norm2 = 0.0;
  for (std::size_t row = 0, i = 0; row < channels; ++row) {
    for (std::size_t column = 0; column <= row; ++column, ++i) {
      std::complex<double> sum;
      for (std::size_t k = 0; k < count; ++k)
        sum += wide(x[row * stride + k]) * std::conj(wide(x[column * stride + k]));
      sum /= static_cast<double>(count);
      error2 += std::norm(wide(found[i]) - sum);
      norm2 += std::norm(sum);
    }
  }
  return std::sqrt(error2 / norm2);
}

struct Shape {
  std::size_t channels, snapshots, stride, gates;
  bool reference;
};

}  // namespace

void bench_covariance() {
  std::printf("covariance: bytes are input once and packed output once\n");
  std::printf("  %-22s %9s %9s %9s %7s %9s %11s %10s\n", "channels x K, gates", "ms", "GB/s", "limit", "share", "error",
              "cuBLAS fp32", "TF32 (ms)");
  const std::vector<Shape> shapes = {
      {16, 128, 128, 32768, true}, {32, 128, 128, 32768, true},  {64, 128, 128, 32768, true},
      {4, 128, 128, 256, false},   {16, 126, 128, 3585, false},  {16, 126, 128, 8001, false},
      {64, 126, 128, 3585, false}, {24, 128, 128, 32768, false}, {48, 128, 128, 32768, false}};
  const auto loading = to_device(std::vector<double>{0.0});
  for (const Shape& shape : shapes) {
    const std::size_t elements = shape.channels * (shape.channels + 1) / 2;
    const std::size_t in_bytes = shape.gates * shape.channels * shape.snapshots * sizeof(float2);
    const std::size_t out_bytes = shape.gates * elements * sizeof(float2);
    const DeviceBuffer<float2> snapshots = random_device_samples(shape.gates * shape.channels * shape.stride, 9);
    const DeviceBuffer<float2> packed(shape.gates * elements);
    CovarianceJob job;
    job.snapshots = snapshots.data();
    job.packed = packed.data();
    job.gate_count = shape.gates;
    job.channel_count = shape.channels;
    job.snapshot_count = shape.snapshots;
    job.line_stride = shape.stride;
    job.loading = loading.data();
    const double seconds =
        device_seconds(nullptr, shape.gates > 10000 ? 5 : 50, [&](int) { launch_covariance(job, nullptr); });
    double error = 0.0;
    for (const std::size_t gate : {std::size_t{0}, shape.gates / 3, shape.gates - 1})
      error = std::max(error,
                       error_of(snapshots.data(), packed.data(), gate, shape.channels, shape.snapshots, shape.stride));
    const double rate = static_cast<double>(in_bytes + out_bytes) / seconds;
    double limit = 0.0;
    double cublas[2] = {};
    if (shape.reference) {
      const auto mix =
          static_cast<unsigned>(std::lround(static_cast<double>(in_bytes) / static_cast<double>(out_bytes)));
      limit = device_bandwidth(in_bytes + out_bytes, mix);
      const DeviceBuffer<float2> full(shape.gates * shape.channels * shape.channels);
      for (const bool tf32 : {false, true})
        cublas[tf32] =
            cublas_seconds(snapshots.data(), full.data(), shape.gates, shape.channels, shape.snapshots, tf32);
    }
    std::printf("  %3zu x %4zu, %6zu      %9.4f %9.0f %9.0f %7.3f %9.1e %11.3f %10.3f\n", shape.channels,
                shape.snapshots, shape.gates, seconds * 1e3, rate / 1e9, limit / 1e9, limit > 0.0 ? rate / limit : 0.0,
                error, cublas[0] * 1e3, cublas[1] * 1e3);
    std::fflush(stdout);
  }
}

}  // namespace cornerturn::bench
