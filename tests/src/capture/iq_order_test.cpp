#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "dsp/math/fft_plan.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "src/capture/inspect_capture.h"
#include "src/capture/open_capture.h"
#include "tests/src/capture/capture_files.h"

// BL-02: the reference signal R1 written with I and Q in both orders, opened with the matching and the wrong setting.
namespace cornerturn {
namespace {

constexpr std::size_t kSamples = 256;
constexpr std::size_t kLoops = 128;
constexpr std::size_t kTx = 2;
constexpr std::size_t kRx = 4;
constexpr std::size_t kFrames = 2;

/// R1: 77 GHz, 30 MHz/us, 10 MS/s; target in range bin 64, Doppler bin +24, azimuth 20 deg, 1000 counts, 30 dB SNR.
std::vector<std::int16_t> r1(bool q_first) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  const double range_cycles = 64.0 / kSamples;  // per sample
  const double doppler_cycles = 24.0 / kLoops;  // per loop of both transmitters
  const double element_rad = std::numbers::pi * std::sin(20.0 * std::numbers::pi / 180.0);
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0.0, 1000.0 / std::sqrt(1000.0) / std::sqrt(2.0));
  std::vector<std::int16_t> words;
  for (std::size_t m = 0; m < kFrames * kLoops; ++m)
    for (std::size_t t = 0; t < kTx; ++t)
      for (std::size_t r = 0; r < kRx; ++r)
        for (std::size_t n = 0; n < kSamples; n += 2) {
          std::array<double, 2> in_phase{};
          std::array<double, 2> quadrature{};
          for (std::size_t k = 0; k < 2; ++k) {
            const double phase =
                kTurn * (range_cycles * static_cast<double>(n + k) +
                         doppler_cycles * (static_cast<double>(m % kLoops) + 0.5 * static_cast<double>(t))) +
                element_rad * static_cast<double>(4 * t + r);
            in_phase[k] = 1000.0 * std::cos(phase) + noise(random);
            quadrature[k] = 1000.0 * std::sin(phase) + noise(random);
          }
          const auto& first = q_first ? quadrature : in_phase;
          const auto& second = q_first ? in_phase : quadrature;
          for (const double value : {first[0], first[1], second[0], second[1]})
            words.push_back(static_cast<std::int16_t>(std::lround(value)));
        }
  return words;
}

struct Peak {
  std::size_t range_bin = 0;
  int doppler_bin = 0;
};

/// The strongest cell of virtual channel 0: a transform over fast time, then over slow time.
Peak strongest_cell(CaptureSource& source) {
  const CpiShape shape = source.info().shape;
  const auto samples = next_samples(source);
  const FftPlan range = FftPlan::forward(shape.sample_count);
  const FftPlan doppler = FftPlan::forward(shape.pulse_count);
  std::vector<std::vector<std::complex<float>>> profiles;
  AlignedBuffer<std::complex<float>> in(shape.sample_count);
  AlignedBuffer<std::complex<float>> out(shape.sample_count);
  for (std::size_t pulse = 0; pulse < shape.pulse_count; ++pulse) {
    const auto line = std::span(samples).subspan(pulse * shape.channel_count * shape.sample_count, shape.sample_count);
    std::copy(line.begin(), line.end(), in.span().begin());
    range.execute(std::span<const std::complex<float>>(in.span()), out.span());
    profiles.emplace_back(out.span().begin(), out.span().end());
  }
  Peak peak;
  float most = 0.0F;
  AlignedBuffer<std::complex<float>> slow(shape.pulse_count);
  AlignedBuffer<std::complex<float>> spectrum(shape.pulse_count);
  for (std::size_t gate = 0; gate < shape.sample_count; ++gate) {
    for (std::size_t pulse = 0; pulse < shape.pulse_count; ++pulse) slow[pulse] = profiles[pulse][gate];
    doppler.execute(std::span<const std::complex<float>>(slow.span()), spectrum.span());
    for (std::size_t bin = 0; bin < shape.pulse_count; ++bin) {
      if (std::norm(spectrum[bin]) <= most) continue;
      most = std::norm(spectrum[bin]);
      peak = {gate, static_cast<int>(bin) - (bin >= shape.pulse_count / 2 ? static_cast<int>(shape.pulse_count) : 0)};
    }
  }
  return peak;
}

class Bl02 : public testing::Test {
 protected:
  void SetUp() override {
    write_values(folder_ / "iiqq.bin", r1(false));
    write_values(folder_ / "qqii.bin", r1(true));
    write_text(folder_ / "r1.toml", R"(format = "ti_2lane"
[ti]
samples = 256
rx_count = 4
tx_count = 2
chirps_per_frame = 128
start_hz = 76.616e9
slope_hz_per_s = 30e12
sample_rate_hz = 10e6
idle_s = 30e-6
ramp_end_s = 30e-6
frame_period_s = 0.05
[array]
spacing_wavelengths = 0.5
)");
  }

  std::unique_ptr<CaptureSource> open(const std::string& file, IqOrder order) {
    auto source = open_capture(folder_ / file, {folder_ / "r1.toml", order, 0});
    if (!source) ADD_FAILURE() << source.error().message();
    return std::move(*source);
  }

  CaptureFolder folder_;
};

TEST_F(Bl02, MatchingOrderPutsTheTargetInItsCell) {
  for (const auto& [file, order] : {std::pair{"iiqq.bin", IqOrder::iiqq}, std::pair{"qqii.bin", IqOrder::qqii}}) {
    const auto source = open(file, order);
    const CaptureInfo& info = source->info();
    EXPECT_EQ(info.shape, (CpiShape{8, 128, 256}));
    EXPECT_EQ(info.cpi_count, kFrames);
    EXPECT_DOUBLE_EQ(info.radar.waveform.pri_s, 120e-6);
    EXPECT_NEAR(info.radar.waveform.carrier_hz, 77e9, 1.0);  // 76.616 GHz + 30 MHz/us * 12.8 us
    const Peak peak = strongest_cell(*source);
    EXPECT_EQ(peak.range_bin, 64U);
    EXPECT_EQ(peak.doppler_bin, 24);
    const auto inspection = inspect_capture(*source);
    ASSERT_TRUE(inspection);
    EXPECT_TRUE(inspection->doubts.empty()) << inspection->doubts.front().what;
    EXPECT_GT(inspection->image_ratio_db, 20.0);
  }
}

TEST_F(Bl02, WrongOrderMirrorsBothAxesAndIsDoubted) {
  for (const auto& [file, order] : {std::pair{"iiqq.bin", IqOrder::qqii}, std::pair{"qqii.bin", IqOrder::iiqq}}) {
    const auto source = open(file, order);
    const Peak peak = strongest_cell(*source);
    EXPECT_EQ(peak.range_bin, 192U);
    EXPECT_EQ(peak.doppler_bin, -24);
    const auto inspection = inspect_capture(*source);
    ASSERT_TRUE(inspection);
    ASSERT_EQ(inspection->doubts.size(), 1U);
    EXPECT_NE(inspection->doubts[0].what.find("I and Q look swapped"), std::string::npos);
    EXPECT_LT(inspection->image_ratio_db, -20.0);
  }
}

TEST_F(Bl02, TheSummaryNamesTheOrder) {
  const auto source = open("qqii.bin", IqOrder::qqii);
  bool named = false;
  for (const std::string& line : source->info().understood) named = named || line.find("qqii") != std::string::npos;
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace cornerturn
