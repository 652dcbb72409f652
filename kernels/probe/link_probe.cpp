#include "kernels/probe/link_probe.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/stream.h"
#include "kernels/probe/probe_kernels.h"

namespace cornerturn::cuda {
namespace {

constexpr std::size_t kRounds = 5;
constexpr std::size_t kBuffers = 4;
constexpr std::size_t kBytesPerRound = std::size_t{1} << 28;
constexpr std::size_t kMostRepeats = 256;
constexpr std::size_t kFewestRepeats = 4;

double median_seconds(const std::function<void()>& body) {
  std::vector<double> seconds;
  for (std::size_t round = 0; round <= kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (round > 0) seconds.push_back(elapsed.count());  // the first one warms up
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

/// Zeros may cross a link faster than samples do.
void fill_with_noise(std::byte* memory, std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    const std::uint64_t value = random();
    std::memcpy(memory + i, &value, 8);
  }
}

class LinkProbe {
 public:
  explicit LinkProbe(const LinkQuestion& question)
      : bytes_(std::max<std::size_t>(question.in_bytes / 16 * 16, 16)),
        results_bytes_(question.results_bytes),
        repeats_(std::clamp(kBytesPerRound / bytes_, kFewestRepeats, kMostRepeats)),
        in_(Priority::normal),
        out_(Priority::normal),
        results_(std::max<std::size_t>(results_bytes_, 16)),
        results_host_(std::max<std::size_t>(results_bytes_, 16)),
        sink_(1) {
    for (std::size_t b = 0; b < kBuffers; ++b) {
      hosts_.emplace_back(bytes_);
      devices_.emplace_back(bytes_);
      if (b == 0) {
        fill_with_noise(hosts_[0].host(), bytes_, 1);
      } else {
        std::memcpy(hosts_[b].host(), hosts_[0].host(), bytes_);
      }
      check(cudaMemcpy(devices_[b].data(), hosts_[b].host(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    check(cudaMemset(results_.data(), 1, results_.bytes()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  LinkRates measure() {
    LinkRates rates;
    const auto copy_in = [this](std::size_t i) { copy(device(i), host(i), bytes_, cudaMemcpyHostToDevice, in_); };
    const auto read = [this](std::size_t i) { launch_read_all(mapped(i), bytes_, sink_.data(), in_.get()); };
    const auto results = [this](std::size_t) {
      copy(results_host_.host(), results_.data(), results_bytes_, cudaMemcpyDeviceToHost, out_);
    };
    rates.copy_in = rate(copy_in);
    rates.copy_out = rate([this](std::size_t i) { copy(host(i), device(i), bytes_, cudaMemcpyDeviceToHost, out_); });
    rates.copy_both = rate([&](std::size_t i) {
      copy_in(i);
      copy(host(i + 2), device(i + 2), bytes_, cudaMemcpyDeviceToHost, out_);
    });
    rates.read_in_place = rate(read);
    rates.write_in_place = rate([this](std::size_t i) { launch_write_all(mapped(i), bytes_, out_.get()); });
    if (results_bytes_ > 0) {
      rates.copy_in_beside = rate([&](std::size_t i) {
        copy_in(i);
        results(i);
      });
      rates.read_in_place_beside = rate([&](std::size_t i) {
        read(i);
        results(i);
      });
    }
    std::vector<std::byte> pageable(bytes_);
    std::memcpy(pageable.data(), hosts_[0].host(), bytes_);
    rates.pageable_in = rate(
        [&](std::size_t i) { copy(device(i), pageable.data(), bytes_, cudaMemcpyHostToDevice, in_); }, kFewestRepeats);
    return rates;
  }

 private:
  std::byte* host(std::size_t i) const { return hosts_[i % kBuffers].host(); }
  std::byte* mapped(std::size_t i) const { return hosts_[i % kBuffers].device(); }
  std::byte* device(std::size_t i) const { return devices_[i % kBuffers].data(); }

  static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "cudaMemcpyAsync");
  }

  /// Bytes per second of `body` called once for each buffer.
  double rate(const std::function<void(std::size_t)>& body, std::size_t most_repeats = kMostRepeats) {
    const std::size_t repeats = std::min(repeats_, most_repeats);
    const double seconds = median_seconds([&] {
      for (std::size_t i = 0; i < repeats; ++i) body(i);
      in_.synchronize();
      out_.synchronize();
    });
    return static_cast<double>(repeats * bytes_) / seconds;
  }

  std::size_t bytes_;
  std::size_t results_bytes_;
  std::size_t repeats_;
  Stream in_;
  Stream out_;
  DeviceBuffer<std::byte> results_;
  PinnedBuffer<std::byte> results_host_;
  DeviceBuffer<std::uint32_t> sink_;
  std::vector<PinnedBuffer<std::byte>> hosts_;
  std::vector<DeviceBuffer<std::byte>> devices_;
};

}  // namespace

LinkRates probe_link(const LinkQuestion& question) { return LinkProbe(question).measure(); }

std::vector<AccessRate> probe_access(std::size_t largest_window_bytes) {
  constexpr std::size_t kSmallWindow = std::size_t{16} << 20;
  constexpr std::size_t kMostGranules = std::size_t{1} << 21;
  constexpr std::size_t kMostBytes = std::size_t{1} << 27;
  std::size_t window = kSmallWindow;
  while (2 * window <= largest_window_bytes) window *= 2;
  const PinnedBuffer<std::byte> memory(window);
  const DeviceBuffer<std::uint32_t> sink(1);
  const Stream stream(Priority::normal);
  std::vector<AccessRate> rates;
  const auto measure = [&](AccessRate rate, std::size_t granule_count) {
    GranuleReads reads;
    reads.memory = memory.device();
    reads.granule_bytes = rate.granule_bytes;
    reads.granule_count = granule_count;
    reads.stride_bytes = rate.stride_bytes;
    reads.window_bytes = rate.window_bytes;
    reads.sink = sink.data();
    const double seconds = median_seconds([&] {
      launch_read_granules(reads, stream.get());
      stream.synchronize();
    });
    rate.bytes_per_s = static_cast<double>(granule_count * rate.granule_bytes) / seconds;
    rates.push_back(rate);
  };
  using Pattern = AccessRate::Pattern;
  for (const std::size_t stride : {4U, 8U, 16U, 32U, 64U, 128U})  // words of 4 bytes: one of 1, 2, 4 ...
    measure({Pattern::strided, 4, stride, std::min(window, kMostBytes), 0.0}, std::min(window, kMostBytes) / stride);
  for (const std::size_t granule : {4U, 32U, 128U, 512U, 4096U}) {
    for (std::size_t size = kSmallWindow; size <= window; size *= 4) {
      const std::size_t count = std::min(kMostGranules, kMostBytes / granule);
      measure({Pattern::random, granule, 0, size, 0.0}, count);
    }
  }
  return rates;
}

}  // namespace cornerturn::cuda
