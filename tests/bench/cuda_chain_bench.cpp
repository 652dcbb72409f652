// The chain of MatX's radar example on its default shape, complex floats in device memory in, map and alarms of each
// channel out, over our own stages.
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <string>

#include "kernels/stage/cfar.h"
#include "kernels/stage/doppler_power.h"
#include "kernels/stage/matched_filter.h"
#include "tests/bench/device_bench.h"

namespace cornerturn::bench {
namespace {

using namespace cornerturn::cuda;  // NOLINT: a benchmark of that module
using std::numbers::pi;

constexpr std::uint32_t kChannels = 16;
constexpr std::uint32_t kPulses = 128;
constexpr std::uint32_t kSamples = 9000;
constexpr std::uint32_t kReplica = 1000;
constexpr std::uint32_t kGates = kSamples - kReplica + 1;
constexpr std::uint32_t kBins = 256;
constexpr std::uint32_t kWindow = 126;  // pulses under the window; the last two are not weighted
constexpr double kPfa = 1e-5;
constexpr std::uint32_t kDumpedChannel = 5;

double hamming(std::size_t n, std::size_t count) {
  return 0.54 - 0.46 * std::cos(2.0 * pi * static_cast<double>(n) / static_cast<double>(count - 1));
}

std::vector<std::complex<double>> make_replica() {
  std::vector<std::complex<double>> replica(kReplica);
  double energy = 0.0;
  for (std::size_t n = 0; n < kReplica; ++n) {
    const double t = static_cast<double>(n) / kReplica - 0.5;
    replica[n] = std::polar(hamming(n, kReplica), pi * 800.0 * t * t);
    energy += std::norm(replica[n]);
  }
  for (std::complex<double>& value : replica) value /= std::sqrt(energy);
  return replica;
}

std::vector<std::complex<double>> spectrum_of(const std::vector<std::complex<double>>& replica, std::size_t length) {
  std::vector<std::complex<double>> roots(length);
  for (std::size_t k = 0; k < length; ++k)
    roots[k] = std::polar(1.0, 2.0 * pi * static_cast<double>(k) / static_cast<double>(length));
  std::vector<std::complex<double>> spectrum(length);
  for (std::size_t k = 0; k < length; ++k) {
    for (std::size_t n = 0; n < replica.size(); ++n) spectrum[k] += std::conj(replica[n]) * roots[n * k % length];
    spectrum[k] /= static_cast<double>(length);
  }
  return spectrum;
}

/// Noise and, in each channel, a few echoes that move.
std::vector<float2> make_input(const std::vector<std::complex<double>>& replica) {
  const std::vector<short2> samples = random_samples(std::size_t{kChannels} * kPulses * kSamples, 1);
  std::vector<float2> input(samples.size());
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = make_float2(samples[i].x, samples[i].y);
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (const std::size_t echo : {0, 1, 2, 3, 4, 5}) {
      const std::size_t gate = (700 + 1201 * echo + 37 * channel) % kGates;
      const double doppler = 0.07 + 0.13 * static_cast<double>(echo);
      for (std::size_t pulse = 0; pulse < kPulses; ++pulse) {
        const std::complex<double> turn =
            std::polar(40.0 * static_cast<double>(1 + 3 * echo), 2.0 * pi * doppler * static_cast<double>(pulse));
        float2* line = input.data() + (channel * kPulses + pulse) * kSamples + gate;
        for (std::size_t n = 0; n < kReplica; ++n) {
          const std::complex<double> value = turn * replica[n] * 30.0;
          line[n].x += static_cast<float>(std::round(value.real()));
          line[n].y += static_cast<float>(std::round(value.imag()));
        }
      }
    }
  }
  return input;
}

template <typename T> void dump(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

}  // namespace

void bench_chain(const char* dump_folder) {
  const std::vector<std::complex<double>> replica = make_replica();
  const std::size_t length = matched_filter_length(kSamples);
  const auto spectrum = to_device(matched_filter_spectrum(spectrum_of(replica, length)));
  const auto filter_twiddles = to_device(matched_filter_twiddles(length));
  const auto doppler_twiddles = to_device(doppler_power_twiddles(kBins));
  std::vector<float> window(kPulses, 1.0F);
  for (std::size_t p = 0; p < kWindow; ++p) window[p] = static_cast<float>(hamming(p, kWindow));
  const auto weights = to_device(window);
  constexpr std::uint32_t kMostCells = 5 * 13 + 1;
  std::vector<float> factors(kMostCells, 0.0F);
  for (std::uint32_t n = 1; n < kMostCells; ++n) factors[n] = static_cast<float>(std::pow(kPfa, -1.0 / n) - 1.0);
  const auto scales = to_device(factors);

  const std::vector<float2> host_input = make_input(replica);
  // Two inputs in turn: together with what is between, many times the cache.
  const DeviceBuffer<float2> inputs[2] = {to_device(host_input), to_device(host_input)};
  const std::size_t stride = (kGates + 15) / 16 * 16;
  const DeviceBuffer<float2> profiles(std::size_t{kChannels} * kPulses * stride);
  const DeviceBuffer<float> power(std::size_t{kChannels} * kGates * kBins);
  const DeviceBuffer<std::uint32_t> hits(std::size_t{kChannels} * kGates * kBins / 32);

  MatchedFilterJob filter;
  filter.in_stride = kSamples;
  filter.line_count = std::size_t{kChannels} * kPulses;
  filter.sample_count = kSamples;
  filter.length = static_cast<std::uint32_t>(length);
  filter.spectrum = spectrum.data();
  filter.twiddles = filter_twiddles.data();
  filter.out = profiles.data();
  filter.out_stride = stride;
  filter.output_count = kGates;
  DopplerPowerJob doppler;
  doppler.lines = profiles.data();
  doppler.line_stride = stride;
  doppler.channel_count = kChannels;
  doppler.gate_count = kGates;
  doppler.pulse_count = kPulses;
  doppler.bin_count = kBins;
  doppler.taps[0] = 1.0F;
  doppler.taps[1] = -2.0F;
  doppler.taps[2] = 1.0F;
  doppler.first_tap = -1;  // the middle of the full convolution
  doppler.weights = weights.data();
  doppler.twiddles = doppler_twiddles.data();
  doppler.power = power.data();
  CfarJob cfar;
  cfar.power = power.data();
  cfar.map_count = kChannels;
  cfar.gate_count = kGates;
  cfar.bin_count = kBins;
  cfar.train_range = 5;
  cfar.guard_range = 1;
  cfar.train_doppler = 1;
  cfar.guard_doppler = 1;
  cfar.doppler_wraps = false;
  cfar.scale_of_count = scales.data();
  cfar.hits = hits.data();

  const Stream stream(Priority::normal);
  const auto run_filter = [&](int i) {
    filter.lines = inputs[i % 2].data();
    launch_matched_filter(filter, stream.get());
  };
  const auto run_doppler = [&](int) { launch_doppler_power(doppler, stream.get()); };
  const auto run_cfar = [&](int) { launch_cfar(cfar, stream.get()); };
  const double chain = device_seconds(stream.get(), 50, [&](int i) {
    run_filter(i);
    run_doppler(i);
    run_cfar(i);
  });
  const double stages[3] = {device_seconds(stream.get(), 50, run_filter), device_seconds(stream.get(), 50, run_doppler),
                            device_seconds(stream.get(), 50, run_cfar)};
  std::printf("chain: W2 as MatX's example defines it, complex floats on the device, length %zu, ms per CPI\n", length);
  std::printf(
      "  chain %.4f = filter %.4f + turn, canceller, Doppler, power %.4f + CFAR %.4f; MatX on an H200 2.883: %.2f x\n",
      chain * 1e3, stages[0] * 1e3, stages[1] * 1e3, stages[2] * 1e3, 2.883e-3 / chain);
  if (dump_folder == nullptr) return;
  const std::string folder = dump_folder;
  const std::size_t line = kDumpedChannel * std::size_t{kPulses} * kSamples;
  dump(folder + "/input.c64",
       std::vector<float2>(host_input.begin() + static_cast<std::ptrdiff_t>(line),
                           host_input.begin() + static_cast<std::ptrdiff_t>(line + std::size_t{kPulses} * kSamples)));
  dump(folder + "/replica.c128", replica);
  dump(folder + "/map.f32",
       to_host(power.data() + std::size_t{kDumpedChannel} * kGates * kBins, std::size_t{kGates} * kBins));
  dump(folder + "/hits.u32",
       to_host(hits.data() + std::size_t{kDumpedChannel} * kGates * kBins / 32, std::size_t{kGates} * kBins / 32));
}

}  // namespace cornerturn::bench
