#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

using test::SimulatedCpi;

/// The closed form of one FMCW sample of unit amplitude, without the target's own phase.
std::complex<double> closed_form(const Scene& scene, double time_s, std::size_t channel, std::size_t sample,
                                 const SceneTarget& target) {
  const Waveform& waveform = scene.radar.waveform;
  const double u =
      (static_cast<double>(sample) - 0.5 * static_cast<double>(scene.shape.sample_count)) / waveform.sample_rate_hz;
  const double delay_s = 2.0 * (target.range_m + target.range_rate_mps * (time_s + u)) / kSpeedOfLight_mps;
  const double cycles =
      delay_s * (scene.radar.doppler_sign * waveform.carrier_hz + std::abs(waveform.slope_hz_per_s) * u);
  const double steering = scene.radar.array.steering_sign * scene.radar.array.elements[channel].x_m *
                          std::sin(deg_to_rad(target.azimuth_deg)) / waveform.wavelength_m();
  return std::polar(1.0, 2.0 * std::numbers::pi * (std::fmod(cycles, 1.0) + steering));
}

void expect_closed_form(const Scene& scene, std::uint64_t cpi_index) {
  const SimulatedCpi cpi(scene, cpi_index);
  const double start_s = static_cast<double>(cpi_index) * cpi_period_s(scene);
  const SceneTarget& target = scene.targets.front();
  const double amplitude = echo_amplitude_counts(target.snr_db, scene.receiver);
  // The target's own phase is that of the first sample, known to one rounding error of 0.71 counts in 4472.
  const std::complex<double> reference = cpi(0, 0, 0) / closed_form(scene, start_s, 0, 0, target);
  EXPECT_NEAR(std::abs(reference), amplitude, 1.0);
  for (std::size_t pulse = 0; pulse < scene.shape.pulse_count; ++pulse)
    for (std::size_t channel = 0; channel < scene.shape.channel_count; ++channel)
      for (std::size_t sample = 0; sample < scene.shape.sample_count; ++sample) {
        const double time_s = start_s + static_cast<double>(pulse) * scene.radar.waveform.pri_s;
        const std::complex<double> expected = reference * closed_form(scene, time_s, channel, sample, target);
        // Both sides are rounded to whole counts: 0.71 each, and 0.1 for floats of 4472.
        ASSERT_LT(std::abs(cpi(pulse, channel, sample) - expected), 1.6) << pulse << ' ' << channel << ' ' << sample;
      }
}

TEST(FmcwEcho, EverySampleEqualsTheClosedForm) {
  Scene scene = test::fmcw_scene();
  scene.targets = {{22.345, 7.3, 21.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  expect_closed_form(scene, 0);
  expect_closed_form(scene, 5);
}

TEST(FmcwEcho, FollowsTheSignsOfSlopeDopplerAndSteering) {
  Scene scene = test::fmcw_scene();
  scene.targets = {{22.345, -7.3, -21.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  scene.radar.waveform.slope_hz_per_s *= -1.0;
  scene.radar.doppler_sign = -1.0;
  scene.radar.array.steering_sign = -1.0;
  expect_closed_form(scene, 1);
}

TEST(FmcwEcho, RangeReadsBackThroughBeatAndDoppler) {
  Scene scene = test::fmcw_scene();
  scene.shape.pulse_count = 64;
  for (const double sign : {1.0, -1.0}) {
    for (const double range_rate_mps : {-9.0, 0.0, 12.5}) {
      scene.radar.doppler_sign = sign;
      scene.radar.waveform.slope_hz_per_s = sign * 30e12;
      scene.targets = {{17.77, range_rate_mps, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
      const SimulatedCpi cpi(scene, 0);
      const double doppler_cycles = test::peak_cycles(cpi.slow_line(0, 64), -0.5, 0.5);
      const double doppler_hz = doppler_cycles / scene.radar.waveform.pri_s;
      const double wavelength_m = scene.radar.waveform.wavelength_m();
      // Over 64 pulses the beat drifts too (0.5 % of a Doppler bin); a bin is 0.507 m/s.
      EXPECT_NEAR(sign * doppler_hz * wavelength_m / 2.0, range_rate_mps, 0.01);

      const std::size_t pulse = 32;
      const double beat_hz = test::peak_cycles(cpi.line(pulse, 0)) * scene.radar.waveform.sample_rate_hz;
      const double found_m = kSpeedOfLight_mps * (beat_hz - doppler_hz) / (2.0 * 30e12);
      const double true_m = 17.77 + range_rate_mps * static_cast<double>(pulse) * scene.radar.waveform.pri_s;
      EXPECT_NEAR(found_m, true_m, 0.002);  // 0.5 % of a range cell of 0.39 m
    }
  }
}

TEST(FmcwEcho, ReferenceSignalR1PeaksAtItsBins) {
  Scene scene = test::fmcw_scene();
  scene.shape = {8, 128, 256};
  scene.radar.waveform.pri_s = 120e-6;
  scene.radar.array = ArrayGeometry::uniform_line(8, 0.5 * scene.radar.waveform.wavelength_m());
  scene.receiver.noise_counts = std::sqrt(500.0);
  scene.targets = {{12.49135, 3.04173, 20.0, 30.0, Fluctuation::swerling0}};
  EXPECT_NEAR(echo_amplitude_counts(30.0, scene.receiver), 1000.0, 1e-9);
  const SimulatedCpi cpi(scene, 0);
  // Bin 64.00, moved by the coupling of 1562.5 Hz (0.04 bin) and by 0.95 cells of 0.195 m per second of motion.
  EXPECT_NEAR(test::peak_cycles(cpi.line(0, 0)) * 256.0, 64.04, 0.01);
  EXPECT_NEAR(test::peak_cycles(cpi.slow_line(0, 128), -0.5, 0.5) * 128.0, 24.0, 0.01);
  const std::complex<double> step = test::spectrum_at(cpi.line(0, 1), 0.25) / test::spectrum_at(cpi.line(0, 0), 0.25);
  EXPECT_NEAR(std::arg(step), std::numbers::pi * std::sin(deg_to_rad(20.0)), 0.01);
}

TEST(FmcwEcho, RealSamplesAreTheRealPart) {
  Scene scene = test::fmcw_scene();
  scene.targets = {{8.2, 4.4, 10.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  const SimulatedCpi both(scene, 3);
  scene.complex_samples = false;
  const SimulatedCpi real(scene, 3);
  for (std::size_t pulse = 0; pulse < 16; ++pulse)
    for (std::size_t sample = 0; sample < 128; ++sample)
      ASSERT_NEAR(real(pulse, 1, sample).real(), both(pulse, 1, sample).real(), 1.0);
}

TEST(FmcwEcho, OffsetsFactorsAndCalibrationAreThoseTheChainUndoes) {
  Scene scene = test::fmcw_scene();
  scene.radar.range_offset_m = -0.5;
  scene.radar.propagation_factor = 1.0;
  scene.radar.channel_calibration = {{1.0F, 0.0F}, {0.0F, 2.0F}, {1.0F, 0.0F}, {1.0F, 0.0F}};
  scene.targets = {{30.0, 0.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  const SimulatedCpi cpi(scene, 0);
  const double beat_hz = test::peak_cycles(cpi.line(0, 0)) * scene.radar.waveform.sample_rate_hz;
  EXPECT_NEAR(kSpeedOfLight_mps * beat_hz / 30e12 - 0.5, 30.0, 0.002);
  const std::complex<double> ratio = cpi(0, 1, 7) * std::complex<double>(0.0, 2.0) / cpi(0, 0, 7);
  EXPECT_LT(std::abs(ratio - 1.0), 1e-3);  // rounding of 0.71 counts in 2236
}

TEST(FmcwEcho, OutOfViewIsSilent) {
  Scene scene = test::fmcw_scene();
  scene.cpi_period_s = 1.0;
  scene.targets = {{49.0, 1.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  EXPECT_GT(SimulatedCpi(scene, 0).mean_power(), 1e7);
  EXPECT_EQ(SimulatedCpi(scene, 2).mean_power(), 0.0);  // 51 m, beyond 49.965 m
}

}  // namespace
}  // namespace cornerturn
