#pragma once

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/chain/backend.h"
#include "dsp/chain/backend_module.h"
#include "kernels/chain/cuda_backend.h"

namespace cornerturn::test {

/// Skips with the reason where there is no usable GPU.
class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto devices = cuda::describe_devices(); !devices) GTEST_SKIP() << devices.error().message();
  }
};

inline std::unique_ptr<Backend> gpu_backend(const ChainPlan& plan, const std::string& memory = "hybrid",
                                            std::size_t result_slots = 4) {
  BackendOptions options;
  options.memory = memory;
  options.threads = 2;
  options.result_slots = result_slots;
  auto backend = cuda::make_cuda_backend(plan, options);
  if (!backend) ADD_FAILURE() << backend.error().message();
  return backend ? std::move(*backend) : nullptr;
}

/// A slot in a backend's own input memory.
class BackendSlot final : public SlotOwner<RawSlot> {
 public:
  BackendSlot(Backend& backend, const std::vector<std::byte>& bytes) : allocator_(backend.input_allocator()) {
    slot.memory = allocator_.allocate(bytes.size());
    slot.owner = this;
    std::memcpy(slot.memory.host.data(), bytes.data(), bytes.size());
  }
  ~BackendSlot() { allocator_.free(slot.memory); }

  ReadLease lease_whole(const CpiShape& shape) {
    slot.cpi.segments = {{slot.memory.host, 0, shape.pulse_count}};
    slot.write_state = 1;
    return lease();
  }
  ReadLease lease() {
    slot.holders = 1;
    recycled = false;
    return ReadLease::adopt(slot);
  }
  void recycle(RawSlot&) noexcept override { recycled = true; }

  RawSlot slot;
  std::atomic<bool> recycled{false};

 private:
  SlotAllocator& allocator_;
};

inline void write_scalar(std::vector<std::byte>& bytes, const RawLayout& layout, std::int64_t index, double value) {
  const auto put = [&](auto scalar) {
    std::byte raw[sizeof(scalar)];
    std::memcpy(raw, &scalar, sizeof(scalar));
    for (std::size_t b = 0; b < sizeof(scalar); ++b)
      bytes[static_cast<std::size_t>(index) * sizeof(scalar) + b] = raw[layout.big_endian ? sizeof(scalar) - 1 - b : b];
  };
  const double code = value + layout.zero_level;
  switch (layout.format) {
    case SampleFormat::int8:
      return put(static_cast<std::int8_t>(code));
    case SampleFormat::int16:
      return put(static_cast<std::int16_t>(code));
    case SampleFormat::int32:
      return put(static_cast<std::int32_t>(code));
    case SampleFormat::uint8:
      return put(static_cast<std::uint8_t>(code));
    case SampleFormat::uint16:
      return put(static_cast<std::uint16_t>(code));
    case SampleFormat::uint32:
      return put(static_cast<std::uint32_t>(code));
    case SampleFormat::float32:
      return put(static_cast<float>(code));
    case SampleFormat::float64:
      return put(code);
    case SampleFormat::int12_packed: {
      const unsigned bits = static_cast<unsigned>(static_cast<int>(code)) & 0xFFFU;
      const std::size_t base = static_cast<std::size_t>(index / 2 * 3);
      const auto merge = [&](std::size_t at, unsigned mask, unsigned set) {
        bytes[at] = static_cast<std::byte>((std::to_integer<unsigned>(bytes[at]) & ~mask) | set);
      };
      if (index % 2 == 0) {
        merge(base, 0xFFU, bits & 0xFFU);
        merge(base + 1, 0xFU, bits >> 8);
      } else {
        merge(base + 1, 0xF0U, (bits & 0xFU) << 4);
        merge(base + 2, 0xFFU, bits >> 4);
      }
    }
  }
}

/// Noise, an offset and a few point echoes (tones in both times, or delayed replicas), rounded to the format.
inline std::vector<std::byte> make_raw_cpi(const ChainPlan& plan, std::uint64_t seed, double amplitude = 60.0) {
  std::vector<std::byte> bytes(required_bytes(plan.layout, plan.shape).value());
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0.0, amplitude / 6.0);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  struct Echo {
    double delay;
    double range_cycles;
    double doppler_cycles;
    double channel_cycles;
    double amplitude;
  };
  std::vector<Echo> echoes;
  for (int i = 0; i < 4; ++i)
    echoes.push_back({uniform(random), 0.4 * uniform(random), uniform(random) - 0.5, 0.4 * (uniform(random) - 0.5),
                      amplitude / 4.0 * (1.0 + uniform(random))});
  const bool whole = plan.layout.format != SampleFormat::float32 && plan.layout.format != SampleFormat::float64;
  const std::size_t replica = plan.matched_replica.size();
  for (std::size_t pulse = 0; pulse < plan.shape.pulse_count; ++pulse)
    for (std::size_t channel = 0; channel < plan.shape.channel_count; ++channel)
      for (std::size_t sample = 0; sample < plan.shape.sample_count; ++sample) {
        std::complex<double> value(noise(random) + 3.0, noise(random) - 2.0);
        for (const Echo& echo : echoes) {
          const double slow =
              echo.doppler_cycles * static_cast<double>(pulse) + echo.channel_cycles * static_cast<double>(channel);
          if (replica == 0) {
            value += echo.amplitude *
                     std::polar(1.0, 6.283185307179586 * (slow + echo.range_cycles * static_cast<double>(sample)));
          } else {
            const auto start =
                static_cast<std::size_t>(echo.delay * static_cast<double>(plan.shape.sample_count - replica));
            if (sample < start || sample >= start + replica) continue;
            const std::complex<double> r(plan.matched_replica[sample - start]);
            value += echo.amplitude * r / std::abs(std::complex<double>(plan.matched_replica[replica / 2])) *
                     std::polar(1.0, 6.283185307179586 * slow);
          }
        }
        if (whole) value = {std::round(value.real()), std::round(value.imag())};
        const std::int64_t index = plan.layout.scalar_index(pulse, channel, sample);
        write_scalar(bytes, plan.layout, index + plan.layout.i_offset, value.real());
        if (plan.layout.complex_samples) write_scalar(bytes, plan.layout, index + plan.layout.q_offset, value.imag());
      }
  return bytes;
}

}  // namespace cornerturn::test
