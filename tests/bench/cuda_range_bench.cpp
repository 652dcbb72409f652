// Raw samples read in place, matched filter and corner turn as one stage, beside the rate of reads in place.
#include <complex>
#include <cstdio>
#include <cstring>

#include "kernels/stage/matched_filter.h"
#include "kernels/stage/range.h"
#include "tests/bench/device_bench.h"
#include "tests/bench/link_probe.h"

namespace cornerturn::bench {
namespace {

using namespace cornerturn::cuda;  // NOLINT: a benchmark of that module

struct Shape {
  const char* name;
  std::uint32_t channels, pulses, samples, replica;
};

}  // namespace

void bench_range() {
  std::printf("range: unpack in place, matched filter, corner turn, one stream\n");
  std::printf("  %-4s %-7s %9s %9s %9s %7s | %s\n", "", "blocks", "ms", "GB/s", "in place", "share",
              "from device memory: filter raw, filter floats, corner turn (ms)");
  for (const Shape& shape :
       {Shape{"W1", 16, 128, 4096, 512}, Shape{"W2", 16, 128, 9000, 1000}, Shape{"W4", 64, 128, 4096, 512}}) {
    const std::size_t lines = std::size_t{shape.channels} * shape.pulses;
    const std::size_t bytes = lines * shape.samples * sizeof(short2);
    const std::size_t length = matched_filter_length(shape.samples);
    std::vector<std::complex<double>> response(length);
    for (std::size_t k = 0; k < length; ++k)
      response[k] = std::polar(1.0 / static_cast<double>(length), 1e-4 * static_cast<double>(k * k % 62831));
    const auto spectrum = to_device(matched_filter_spectrum(response));
    const auto twiddles = to_device(matched_filter_twiddles(length));
    const std::uint32_t gates = shape.samples - shape.replica + 1;
    const std::size_t stride = (gates + 15) / 16 * 16;
    const DeviceBuffer<float2> profiles(lines * shape.samples);
    const DeviceBuffer<float2> cube(lines * gates);
    const DeviceBuffer<unsigned long long> counters(2);
    const DeviceBuffer<std::uint32_t> signal(shape.channels);
    check(cudaMemset(signal.data(), 0, signal.bytes()), "cudaMemset");
    check(cudaMemset(counters.data(), 0, counters.bytes()), "cudaMemset");

    constexpr std::size_t kSlots = 4;
    std::vector<PinnedBuffer<short2>> slots;
    for (std::size_t s = 0; s < kSlots; ++s) {
      slots.emplace_back(lines * shape.samples);
      const std::vector<short2> samples = random_samples(lines * shape.samples, static_cast<unsigned>(s));
      std::memcpy(slots.back().host(), samples.data(), bytes);
    }
    MatchedFilterJob job;
    job.sample_count = shape.samples;
    job.length = static_cast<std::uint32_t>(length);
    job.spectrum = spectrum.data();
    job.twiddles = twiddles.data();
    job.out = profiles.data();
    job.out_stride = stride;
    job.output_count = gates;
    UnpackJob raw;
    raw.layout.pulse_stride = 2 * std::int64_t{shape.channels} * shape.samples;
    raw.layout.channel_stride = 2 * std::int64_t{shape.samples};
    raw.layout.channels_per_group = shape.channels;
    raw.layout.group_stride = 2;
    raw.channel_count = shape.channels;
    raw.sample_count = shape.samples;
    raw.pulse_count = shape.pulses;
    raw.segment_pulse_count = shape.pulses;
    raw.quality = {counters.data(), counters.data() + 1, signal.data()};
    CornerTurnJob turn{profiles.data(), cube.data(), shape.channels, shape.pulses, stride, 0, gates};
    const double limit = measure_link(bytes, 0).read_in_place;
    const Stream stream(Priority::normal);
    const int repeats = static_cast<int>(std::max<std::size_t>(8, (std::size_t{1} << 29) / bytes));

    const DeviceBuffer<short2> copy = to_device(random_samples(lines * shape.samples, 7));
    raw.segment = copy.data();
    const double filter =
        device_seconds(stream.get(), 20, [&](int) { launch_raw_matched_filter(job, raw, stream.get()); });
    MatchedFilterJob floats = job;
    const DeviceBuffer<float2> wide = random_device_samples(lines * shape.samples, 8);
    floats.lines = wide.data();
    floats.in_stride = shape.samples;
    floats.line_count = lines;
    const double floats_seconds =
        device_seconds(stream.get(), 20, [&](int) { launch_matched_filter(floats, stream.get()); });
    const double turn_seconds = device_seconds(stream.get(), 20, [&](int) { launch_corner_turn(turn, stream.get()); });

    for (const unsigned blocks : {0U, 32U, 48U, 64U, 96U, 128U}) {
      raw.block_limit = blocks;
      const double seconds = device_seconds(stream.get(), repeats, [&](int i) {
        raw.segment = slots[static_cast<std::size_t>(i) % kSlots].device();
        launch_raw_matched_filter(job, raw, stream.get());
        launch_corner_turn(turn, stream.get());
      });
      const double rate = static_cast<double>(bytes) / seconds;
      std::printf("  %-4s %-7u %9.4f %9.2f %9.2f %7.3f", shape.name, blocks, seconds * 1e3, rate / 1e9, limit / 1e9,
                  rate / limit);
      if (blocks == 0) std::printf(" | %.4f %.4f %.4f", filter * 1e3, floats_seconds * 1e3, turn_seconds * 1e3);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

}  // namespace cornerturn::bench
