#pragma once

#include <atomic>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/chain_plan.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn::test {

/// An input slot in a test's own memory, whole from the start.
class TestSlot final : public SlotOwner<RawSlot> {
 public:
  explicit TestSlot(std::size_t bytes) : memory(bytes) { slot.owner = this; }

  /// All pulses in one segment, published.
  ReadLease lease_whole(const CpiShape& shape) {
    slot.cpi.segments = {{memory, 0, shape.pulse_count}};
    slot.write_state = 1;
    return lease();
  }
  /// Counts a holder; segments and write_state are the test's business.
  ReadLease lease() {
    slot.holders = 1;
    recycled = false;
    return ReadLease::adopt(slot);
  }
  void recycle(RawSlot&) noexcept override { recycled = true; }

  template <typename T> std::span<T> values() {
    return {reinterpret_cast<T*>(memory.data()), memory.size() / sizeof(T)};
  }

  std::vector<std::byte> memory;
  RawSlot slot;
  std::atomic<bool> recycled{false};
};

/// The worked FMCW case: 77 GHz, 60.012 MHz/us, 2.5 Msps, 128 samples, 3 transmitters in turn, 128 pulses.
inline RadarDescription worked_fmcw_radar() {
  RadarDescription radar;
  Waveform& waveform = radar.waveform;
  waveform.kind = WaveformKind::fmcw;
  waveform.sample_rate_hz = 2.5e6;
  waveform.slope_hz_per_s = 60.012e12;
  // At the middle of the sampled part: start + S (t_adc + Ns / (2 fs)).
  waveform.carrier_hz = 77e9 + 60.012e12 * (6e-6 + 128.0 / (2.0 * 2.5e6));
  waveform.pri_s = 3 * 162e-6;
  return radar;
}

inline CpiShape shape_of(std::size_t channels, std::size_t pulses, std::size_t samples) {
  CpiShape shape;
  shape.channel_count = channels;
  shape.pulse_count = pulses;
  shape.sample_count = samples;
  return shape;
}

/// Windows off, detector off: the bare transforms.
inline ChainConfig bare_config() {
  ChainConfig config;
  config.range.window.kind = WindowKind::rectangular;
  config.doppler.window.kind = WindowKind::rectangular;
  config.cfar.enabled = false;
  config.angle.enabled = false;
  return config;
}

inline RawLayout float_layout(const CpiShape& shape) {
  return make_contiguous_layout(shape, SampleFormat::float32, IqOrder::iq);
}

using SampleFunction = std::function<std::complex<double>(std::size_t channel, std::size_t pulse, std::size_t sample)>;

/// Fills a slot of float_layout().
inline std::unique_ptr<TestSlot> make_float_slot(const CpiShape& shape, const SampleFunction& sample_at) {
  auto slot = std::make_unique<TestSlot>(shape.samples() * sizeof(std::complex<float>));
  auto out = slot->values<std::complex<float>>().begin();
  for (std::size_t pulse = 0; pulse < shape.pulse_count; ++pulse)
    for (std::size_t channel = 0; channel < shape.channel_count; ++channel)
      for (std::size_t sample = 0; sample < shape.sample_count; ++sample)
        *out++ = std::complex<float>(sample_at(channel, pulse, sample));
  return slot;
}

inline std::complex<double> turn(double cycles) { return std::polar(1.0, 2.0 * std::numbers::pi * cycles); }

}  // namespace cornerturn::test
