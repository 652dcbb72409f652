#include "dsp/simulate/scene.h"

#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

struct Fault {
  std::string key;
  std::function<void(Scene&)> make;
};

void expect_faults(const Scene& good, const std::vector<Fault>& faults) {
  ASSERT_TRUE(validate(good));
  for (const Fault& fault : faults) {
    Scene scene = good;
    fault.make(scene);
    const Expected<void> valid = validate(scene);
    ASSERT_FALSE(valid) << fault.key;
    EXPECT_EQ(valid.error().where, fault.key) << valid.error().message();
    EXPECT_EQ(valid.error().kind, ErrorKind::usage);
    EXPECT_FALSE(valid.error().what.empty());
  }
}

TEST(Scene, FaultsNameTheirKey) {
  Scene good = test::fmcw_scene();
  good.targets = {{10.0, 0.0, 0.0, 0.0, Fluctuation::swerling0}, {20.0, 0.0, 0.0, 0.0, Fluctuation::swerling0}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_faults(good, {
                          {"shape.channel_count", [](Scene& s) { s.shape.channel_count = 0; }},
                          {"shape.sample_count", [](Scene& s) { s.shape.sample_count = std::size_t{1} << 50; }},
                          {"cpi_count", [](Scene& s) { s.cpi_count = 0; }},
                          {"cpi_period_s", [](Scene& s) { s.cpi_period_s = 1e-4; }},
                          {"waveform.kind", [](Scene& s) { s.radar.waveform.kind = WaveformKind::profiled; }},
                          {"waveform.carrier_hz", [](Scene& s) { s.radar.waveform.carrier_hz = 0.0; }},
                          {"waveform.sample_rate_hz", [&](Scene& s) { s.radar.waveform.sample_rate_hz = nan; }},
                          {"waveform.pri_s", [](Scene& s) { s.radar.waveform.pri_s = 12e-6; }},
                          {"waveform.slope_hz_per_s", [](Scene& s) { s.radar.waveform.slope_hz_per_s = 0.0; }},
                          {"radar.doppler_sign", [](Scene& s) { s.radar.doppler_sign = -1.0; }},
                          {"radar.doppler_sign", [](Scene& s) { s.radar.doppler_sign = 0.5; }},
                          {"array.steering_sign", [](Scene& s) { s.radar.array.steering_sign = 0.0; }},
                          {"array.x_m", [](Scene& s) { s.radar.array.elements.pop_back(); }},
                          {"radar.channel_calibration", [](Scene& s) { s.radar.channel_calibration.resize(4); }},
                          {"receiver.noise_counts", [](Scene& s) { s.receiver.noise_counts = 0.0; }},
                          {"receiver.adc_bits", [](Scene& s) { s.receiver.adc_bits = 24; }},
                          {"clutter.max_range_m",
                           [](Scene& s) {
                             s.clutter = {20.0, 30.0, 20.0, 0.0, 10};
                           }},
                          {"clutter.max_range_m",
                           [](Scene& s) {
                             s.clutter = {20.0, 30.0, 60.0, 0.0, 10};
                           }},
                          {"clutter.scatterer_count",
                           [](Scene& s) {
                             s.clutter = {20.0, 30.0, 40.0, 0.0, 0};
                           }},
                          {"target[1].range_m", [](Scene& s) { s.targets[1].range_m = 50.0; }},
                          {"target[0].range_m", [&](Scene& s) { s.targets[0].range_m = nan; }},
                          {"target[1].range_rate_mps", [](Scene& s) { s.targets[1].range_rate_mps = 4e5; }},
                          {"target[1].azimuth_deg", [](Scene& s) { s.targets[1].azimuth_deg = 91.0; }},
                          {"target[1].snr_db", [&](Scene& s) { s.targets[1].snr_db = nan; }},
                      });
}

TEST(Scene, PulseFaultsNameTheirKey) {
  Scene good = test::pulse_scene();
  good.targets = {{8000.0, 0.0, 0.0, 0.0, Fluctuation::swerling0}};
  expect_faults(good, {
                          {"complex_samples", [](Scene& s) { s.complex_samples = false; }},
                          {"waveform.bandwidth_hz", [](Scene& s) { s.radar.waveform.bandwidth_hz = 3e6; }},
                          {"waveform.pulse_width_s", [](Scene& s) { s.radar.waveform.pulse_width_s = 0.0; }},
                          {"waveform.receive_start_s", [](Scene& s) { s.radar.waveform.receive_start_s = -1e-6; }},
                          {"waveform.pri_s", [](Scene& s) { s.radar.waveform.receive_start_s = 200e-6; }},
                          {"shape.sample_count", [](Scene& s) { s.shape.sample_count = 50; }},
                          {"target[0].range_m", [](Scene& s) { s.targets[0].range_m = 2900.0; }},
                      });
}

TEST(Scene, ViewIsThatOfTheWorkedCase) {
  // 49.965 m for complex samples: c fs / (2 S).
  Scene scene = test::fmcw_scene();
  EXPECT_NEAR(range_view(scene).max_m, 49.9654, 1e-4);
  scene.complex_samples = false;
  EXPECT_NEAR(range_view(scene).max_m, 24.9827, 1e-4);
  scene.radar.range_offset_m = -1.0;
  EXPECT_NEAR(range_view(scene).max_m, 23.9827, 1e-4);
  const RangeView pulse = range_view(test::pulse_scene());
  EXPECT_NEAR(pulse.min_m, 2997.92, 0.01);   // 20 us
  EXPECT_NEAR(pulse.max_m, 15349.37, 0.01);  // 20 us + (256 - 50) / 2.5 MHz
}

TEST(Scene, AmplitudeHasTheSnrAsked) {
  SceneReceiver receiver;
  receiver.noise_counts = 22.360679775;
  EXPECT_NEAR(echo_amplitude_counts(30.0, receiver), 1000.0, 1e-6);
}

}  // namespace
}  // namespace cornerturn
