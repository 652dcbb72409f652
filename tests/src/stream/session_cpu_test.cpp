#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "src/stream/session.h"

namespace cornerturn {
namespace {

constexpr std::size_t kCpis = 24;
constexpr CpiShape kShape{2, 16, 64};
constexpr std::size_t kPeakGate = 11;

// A beat tone at gate kPeakGate, standing still, with the CPI's index in its amplitude; noise from a fixed seed.
std::vector<std::int16_t> samples_of(std::uint64_t index) {
  std::vector<std::int16_t> samples(2 * kShape.samples());
  std::minstd_rand random(static_cast<std::uint32_t>(index + 1));
  for (std::size_t i = 0; i < kShape.samples(); ++i) {
    const double phase = 2.0 * M_PI * kPeakGate * static_cast<double>(i % kShape.sample_count) /
                         static_cast<double>(kShape.sample_count);
    const double amplitude = 1000.0 + 100.0 * static_cast<double>(index);
    const auto noise = [&] { return static_cast<double>(random() % 21) - 10.0; };
    samples[2 * i] = static_cast<std::int16_t>(std::lround(amplitude * std::cos(phase) + noise()));
    samples[2 * i + 1] = static_cast<std::int16_t>(std::lround(amplitude * std::sin(phase) + noise()));
  }
  return samples;
}

/// Delivers each CPI as two segments of half the pulses.
class ToneSource final : public CaptureSource {
 public:
  ToneSource() {
    info_.path = "tone";
    info_.shape = kShape;
    info_.layout = make_contiguous_layout(kShape, SampleFormat::int16, IqOrder::iq);
    info_.slot_bytes = kShape.samples() * 4;
    info_.cpi_count = kCpis;
    info_.cpi_period_s = 0.1;
    info_.radar.waveform = {.kind = WaveformKind::fmcw,
                            .carrier_hz = 77e9,
                            .sample_rate_hz = 5e6,
                            .pri_s = 50e-6,
                            .slope_hz_per_s = 20e12,
                            .replica = {},
                            .gate_axis = {}};
    info_.radar.array = ArrayGeometry::uniform_line(kShape.channel_count, 1.9e-3);
  }
  const CaptureInfo& info() const override { return info_; }
  Expected<Fill> fill(WriteLease& slot) override {
    if (next_ == kCpis) return Fill::end;
    const std::vector<std::int16_t> samples = samples_of(next_);
    slot.header().index = next_++;
    slot.set_segment_count(2);
    const std::size_t half = info_.slot_bytes / 2;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto part = slot.memory().subspan(i * half, half);
      std::memcpy(part.data(), reinterpret_cast<const std::byte*>(samples.data()) + i * half, half);
      slot.publish_segment({part, i * kShape.pulse_count / 2, kShape.pulse_count / 2});
    }
    return Fill::filled;
  }
  Expected<void> seek(std::size_t cpi_index) override {
    next_ = cpi_index;
    return {};
  }

 private:
  CaptureInfo info_;
  std::uint64_t next_ = 0;
};

struct Maps {
  std::vector<std::vector<float>> of_cpi;
  std::vector<std::uint32_t> versions;
};

class MapSink final : public ResultSink {
 public:
  explicit MapSink(Maps& maps) : maps_(maps) {}
  std::string name() const override { return "maps"; }
  Expected<void> begin(const RunDescription& run) override {
    EXPECT_NE(run.plan, nullptr);
    EXPECT_EQ(run.backend.name, "cpu");
    return {};
  }
  Expected<void> accept(const CpiResult& result) override {
    const Product* map = result.find("range_doppler_power");
    if (map == nullptr) return runtime_error("maps", "no map");
    const auto values = map->values<float>();
    maps_.of_cpi.emplace_back(values.begin(), values.end());
    maps_.versions.push_back(result.header.configuration_version);
    return {};
  }
  Expected<void> finish(bool) override { return {}; }

 private:
  Maps& maps_;
};

Maps run_on_cpu(std::size_t change_at) {
  Maps maps;
  StreamConfiguration configuration;
  configuration.make_backend = chain_backend_factory("cpu", {.threads = 2, .devices = {}});
  std::vector<SinkSetup> sinks;
  sinks.push_back({std::make_unique<MapSink>(maps)});
  Session* running = nullptr;
  SessionOptions options;
  options.raw_tap = [&](const ReadLease& lease) {
    if (lease->cpi.header.index != change_at) return;
    StreamConfiguration changed = configuration;
    changed.chain.cfar.pfa = 1e-3;
    EXPECT_TRUE(running->reconfigure(changed));
  };
  Session session(std::make_unique<ToneSource>(), configuration, std::move(sinks), options);
  running = &session;
  const SessionReport report = session.run();
  EXPECT_TRUE(report.complete()) << (report.error ? report.error->message() : "");
  EXPECT_EQ(report.statistics.processed, kCpis);
  EXPECT_EQ(report.backend.name, "cpu");
  EXPECT_FALSE(report.stage_times.empty());
  return maps;
}

TEST(SessionOnCpu, MapsShowTheToneOfTheirOwnCpi) {
  const Maps maps = run_on_cpu(SIZE_MAX);
  ASSERT_EQ(maps.of_cpi.size(), kCpis);
  for (std::size_t cpi = 0; cpi < kCpis; ++cpi) {
    const std::vector<float>& map = maps.of_cpi[cpi];
    const auto peak = std::max_element(map.begin(), map.end());
    const std::size_t bins = map.size() / kShape.sample_count;
    EXPECT_EQ(static_cast<std::size_t>(peak - map.begin()) / bins, kPeakGate);
    // An on-bin tone reads its own level. Noise of +-10 counts and rounding over 1024 samples: well below 0.1 %.
    const double amplitude = 1000.0 + 100.0 * static_cast<double>(cpi);
    EXPECT_NEAR(10.0 * std::log10(*peak), 20.0 * std::log10(amplitude), 0.02);
  }
}

TEST(SessionOnCpu, ReconfigurationInMidStreamChangesNoMap) {
  const Maps plain = run_on_cpu(SIZE_MAX);
  const Maps changed = run_on_cpu(5);
  EXPECT_EQ(plain.of_cpi, changed.of_cpi);  // bit for bit: same input, same output
  EXPECT_EQ(changed.versions.front(), 1u);
}

}  // namespace
}  // namespace cornerturn
