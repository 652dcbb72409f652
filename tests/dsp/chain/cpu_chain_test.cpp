#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "dsp/stage/detection.h"
#include "dsp/vocabulary/units.h"
#include "tests/dsp/chain/chain_helpers.h"

namespace cornerturn {
namespace {

using test::bare_config;
using test::float_layout;
using test::make_float_slot;
using test::shape_of;
using test::turn;
using test::worked_fmcw_radar;

std::unique_ptr<Backend> backend_of(const RadarDescription& radar, const RawLayout& layout, const CpiShape& shape,
                                    const ChainConfig& config) {
  auto plan = make_chain_plan(radar, layout, shape, config);
  if (!plan) ADD_FAILURE() << plan.error().message();
  auto backend = make_cpu_backend(std::move(plan.value()), {.threads = 2});
  if (!backend) ADD_FAILURE() << backend.error().message();
  return std::move(backend.value());
}

ResultLease run(Backend& backend, test::TestSlot& slot, const CpiRequest& request) {
  const Ticket ticket = backend.enqueue(slot.lease_whole(backend.plan().shape), request);
  auto result = backend.wait(ticket);
  if (!result) ADD_FAILURE() << result.error().message();
  return std::move(result.value());
}

float map_at(const CpiResult& result, std::size_t gate, std::size_t bin) {
  const Product& map = *result.find("range_doppler_power");
  return map.values<float>()[gate * map.axes[1].count() + bin];
}

// BL-07: a tone of 1000 counts reads 60 dB on its bin under every window; half a bin off it loses the scalloping.
TEST(CpuChain, BL07_OnBinToneReadsItsLevelUnderEveryWindow) {
  const CpiShape shape = shape_of(1, 4, 256);
  const struct {
    WindowKind kind;
    double half_bin_loss_db;
  } cases[] = {{WindowKind::rectangular, 3.922},
               {WindowKind::hann, 1.424},
               {WindowKind::hamming, 1.751},
               {WindowKind::blackman_harris, 0.826}};
  for (const auto& [kind, half_bin_loss_db] : cases) {
    ChainConfig config = bare_config();
    config.range.window.kind = kind;
    const auto backend = backend_of(worked_fmcw_radar(), float_layout(shape), shape, config);
    for (const double bin : {64.0, 64.5}) {
      const auto slot = make_float_slot(
          shape, [&](auto, auto, std::size_t n) { return 1000.0 * turn(bin * static_cast<double>(n) / 256); });
      const ResultLease result = run(*backend, *slot, {});
      const double expected_db = bin == 64.0 ? 60.0 : 60.0 - half_bin_loss_db;
      // Table of three digits, transform of 256 points in single precision: below 0.002 dB.
      EXPECT_NEAR(power_to_db(map_at(result->result, 64, 2)), expected_db, 2e-3) << to_string(kind);
    }
  }
}

// BL-07: noise of unit variance lies ENBW / 256 per bin: -24.08 dB rectangular, -22.32 dB Hann.
TEST(CpuChain, BL07_NoiseFloorFollowsTheNoiseBandwidth) {
  const CpiShape shape = shape_of(1, 1, 256);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
  constexpr int kCpis = 400;
  for (const auto& [kind, floor_db] : {std::pair{WindowKind::rectangular, -24.08}, {WindowKind::hann, -22.32}}) {
    ChainConfig config = bare_config();
    config.range.window.kind = kind;
    const auto backend = backend_of(worked_fmcw_radar(), float_layout(shape), shape, config);
    double sum = 0.0;
    for (int cpi = 0; cpi < kCpis; ++cpi) {
      const auto slot =
          make_float_slot(shape, [&](auto...) { return std::complex<double>(normal(random), normal(random)); });
      const ResultLease result = run(*backend, *slot, {});
      for (const float power : result->result.find("range_doppler_power")->values<float>()) sum += power;
    }
    // Mean of 102400 exponential powers, of which 1 in 1.5 is independent with Hann: 3 sigma = 0.05 dB.
    EXPECT_NEAR(power_to_db(sum / (kCpis * 256)), floor_db, 0.05) << to_string(kind);
  }
}

TEST(CpuChain, RealSamplingReadsTheCosinesAmplitude) {
  const CpiShape shape = shape_of(1, 4, 256);
  const RawLayout layout = make_contiguous_layout(shape, SampleFormat::int16, IqOrder::real);
  const auto backend = backend_of(worked_fmcw_radar(), layout, shape, bare_config());
  test::TestSlot slot(shape.samples() * 2);
  for (std::size_t i = 0; i < slot.values<std::int16_t>().size(); ++i)
    slot.values<std::int16_t>()[i] =
        static_cast<std::int16_t>(std::lround(10000.0 * turn(0.25 * static_cast<double>(i)).real()));
  const ResultLease result = run(*backend, slot, {});
  EXPECT_NEAR(power_to_db(map_at(result->result, 64, 2)), 80.0, 1e-4);  // a quarter of fs needs no rounding
}

TEST(CpuChain, OpeningTargetHasPositiveRangeRateForBothSigns) {
  const CpiShape shape = shape_of(1, 32, 64);
  for (const double sign : {1.0, -1.0}) {
    RadarDescription radar = worked_fmcw_radar();
    radar.doppler_sign = sign;
    const auto backend = backend_of(radar, float_layout(shape), shape, bare_config());
    // +1: the phase of an opening target grows.
    const auto slot = make_float_slot(shape, [&](auto, std::size_t p, std::size_t n) {
      return turn(10.0 * static_cast<double>(n) / 64 + sign * 5.0 * static_cast<double>(p) / 32);
    });
    const ResultLease result = run(*backend, *slot, {});
    const auto bin = static_cast<std::size_t>(std::lround(backend->plan().doppler_axis.index_of(
        5.0 * backend->plan().doppler_step_hz * radar.waveform.wavelength_m() / 2)));
    EXPECT_NEAR(map_at(result->result, 10, bin), 1.0F, 1e-5F) << sign;
  }
}

TEST(CpuChain, MatchedFilterReadsTheEchosAmplitudeAtItsGate) {
  RadarDescription radar;
  radar.waveform.kind = WaveformKind::pulse;
  radar.waveform.carrier_hz = 10e9;
  radar.waveform.sample_rate_hz = 10e6;
  radar.waveform.pri_s = 1e-3;
  radar.waveform.bandwidth_hz = 5e6;
  radar.waveform.pulse_width_s = 10e-6;
  const CpiShape shape = shape_of(1, 2, 500);
  for (const WindowKind window : {WindowKind::rectangular, WindowKind::hamming}) {
    ChainConfig config = bare_config();
    config.range.window.kind = window;
    const auto backend = backend_of(radar, float_layout(shape), shape, config);
    for (const std::size_t delay : {std::size_t{0}, std::size_t{123}, std::size_t{400}}) {  // first, some, last gate
      const auto slot = make_float_slot(shape, [&](auto, auto, std::size_t n) -> std::complex<double> {
        if (n < delay || n >= delay + 100) return 0.0;
        const double t = static_cast<double>(n - delay) / 10e6 - 5e-6;
        return 30.0 * turn(0.5 * 5e6 / 10e-6 * t * t);
      });
      const ResultLease result = run(*backend, *slot, {});
      EXPECT_NEAR(map_at(result->result, delay, 1), 900.0F, 0.01F) << delay;
      const auto powers = result->result.find("range_doppler_power")->values<float>();
      EXPECT_EQ(std::max_element(powers.begin(), powers.end()) - powers.begin(), static_cast<long>(delay * 2 + 1));
    }
  }
}

// The map holds the gate where the beat falls; the detection is moved back by the Doppler frequency.
TEST(CpuChain, DetectionCorrectsRangeDopplerCoupling) {
  RadarDescription radar;
  radar.waveform.kind = WaveformKind::fmcw;
  radar.waveform.carrier_hz = 10e9;
  radar.waveform.sample_rate_hz = 64e3;
  radar.waveform.slope_hz_per_s = 30e6 / 2e-3;
  radar.waveform.pri_s = 2e-3;
  const CpiShape shape = shape_of(1, 40, 128);
  ChainConfig config;
  config.cfar.pfa = 1e-3;
  const auto backend = backend_of(radar, float_layout(shape), shape, config);
  // fb 1 kHz and fd 100 Hz: 8.9938 m (the worked figure of the coupling).
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.0, 1e-3);
  const auto slot = make_float_slot(shape, [&](auto, std::size_t p, std::size_t n) {
    return turn(1000.0 * static_cast<double>(n) / 64e3 + 100.0 * 2e-3 * static_cast<double>(p)) +
           std::complex<double>(noise(random), noise(random));
  });
  const ResultLease result = run(*backend, *slot, {});
  const std::vector<Detection> detections = read_detections(result->result);
  const auto strongest =
      std::max_element(detections.begin(), detections.end(), [](auto& a, auto& b) { return a.power_db < b.power_db; });
  ASSERT_NE(strongest, detections.end());
  EXPECT_NEAR(strongest->range_m, 8.9938, 0.5e-3);
  EXPECT_NEAR(strongest->range_rate_mps, 100.0 * radar.waveform.wavelength_m() / 2, 1e-4);
}

TEST(CpuChain, MasksAndCountsBadSamplesWithoutSpreadingThem) {
  const CpiShape shape = shape_of(3, 8, 64);
  const auto sample = [](std::size_t channel, std::size_t pulse, std::size_t n) -> std::complex<double> {
    if (channel == 2) return 0.0;
    return 10.0 * turn(7.0 * static_cast<double>(n) / 64 + 0.25 * static_cast<double>(pulse));
  };
  const auto backend = backend_of(worked_fmcw_radar(), float_layout(shape), shape, bare_config());
  const auto bad = make_float_slot(shape, [&](std::size_t c, std::size_t p, std::size_t n) -> std::complex<double> {
    if (c == 0 && p == 3 && n == 5) return {std::nan(""), 1.0};
    if (c == 1 && p == 7 && n >= 60) return {1.0, -HUGE_VAL};
    if (p == 2 && n < 10) return 12345.0;  // garbage in a gap
    return sample(c, p, n);
  });
  bad->slot.cpi.header.gaps = {{2, 0, 10}};
  const auto masked = make_float_slot(shape, [&](std::size_t c, std::size_t p, std::size_t n) -> std::complex<double> {
    const bool is_bad = (c == 0 && p == 3 && n == 5) || (c == 1 && p == 7 && n >= 60) || (p == 2 && n < 10);
    return is_bad ? 0.0 : sample(c, p, n);
  });
  const ResultLease from_bad = run(*backend, *bad, {});
  const ResultLease from_masked = run(*backend, *masked, {});
  EXPECT_EQ(from_bad->result.quality.masked_samples, 1U + 4U + 3U * 10U);
  EXPECT_EQ(from_bad->result.quality.zero_channels, 1U);
  EXPECT_EQ(from_masked->result.quality.masked_samples, 0U);
  const auto a = from_bad->result.find("range_doppler_power")->values<float>();
  const auto b = from_masked->result.find("range_doppler_power")->values<float>();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

TEST(CpuChain, CovarianceIsTheMeanOuterProductOfTheChannels) {
  const CpiShape shape = shape_of(3, 16, 32);
  ChainConfig config = bare_config();
  const auto backend = backend_of(worked_fmcw_radar(), float_layout(shape), shape, config);
  const auto slot = make_float_slot(shape, [](std::size_t c, std::size_t p, std::size_t n) {
    return (1.0 + static_cast<double>(c)) *
           turn(4.0 * static_cast<double>(n) / 32 + 0.1 * static_cast<double>(p) + 0.125 * static_cast<double>(c));
  });
  CpiRequest request;
  request.products = {.map = false, .detections = false, .covariance = true};
  const ResultLease result = run(*backend, *slot, request);
  EXPECT_EQ(result->result.products.size(), 1U);
  const auto matrices = expand_hermitian(*result->result.find("covariance"));
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      const auto expected = (1.0 + static_cast<double>(row)) * (1.0 + static_cast<double>(column)) *
                            turn(0.125 * (static_cast<double>(row) - static_cast<double>(column)));
      EXPECT_LT(std::abs(std::complex<double>(matrices[(4 * 3 + row) * 3 + column]) - expected), 2e-5);
    }
}

TEST(CpuChain, ProductsAreAlikeForOneAndTwoThreads) {
  const CpiShape shape = shape_of(4, 32, 96);
  RadarDescription radar = worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(4, radar.waveform.wavelength_m() / 2);
  ChainConfig config;
  config.cfar.pfa = 1e-2;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0.0, 10.0);
  const auto slot =
      make_float_slot(shape, [&](auto...) { return std::complex<double>(normal(random), normal(random)); });
  CpiRequest request;
  request.products = {true, true, true, true, true};
  request.light = light_parameters(config);
  std::vector<ResultLease> results;
  std::vector<std::unique_ptr<Backend>> backends;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    auto plan = make_chain_plan(radar, float_layout(shape), shape, config);
    backends.push_back(std::move(make_cpu_backend(std::move(plan.value()), {.threads = threads}).value()));
    results.push_back(run(*backends.back(), *slot, request));
  }
  ASSERT_EQ(results[0]->result.products.size(), results[1]->result.products.size());
  EXPECT_GT(read_detections(results[0]->result).size(), 5U);
  for (std::size_t i = 0; i < results[0]->result.products.size(); ++i) {
    const Product& a = results[0]->result.products[i];
    const Product& b = results[1]->result.products[i];
    ASSERT_EQ(a.name, b.name);
    EXPECT_EQ(std::memcmp(a.bytes.data(), b.bytes.data(), a.element_count() * size_of(a.type)), 0) << a.name;
  }
}

}  // namespace
}  // namespace cornerturn
