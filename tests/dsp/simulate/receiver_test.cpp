#include "dsp/simulate/receiver.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

std::vector<std::int16_t> digitise_real(const SceneReceiver& receiver, const std::vector<float>& values) {
  std::vector<std::int16_t> out(values.size());
  const std::vector<float> silence(values.size());
  Receiver(receiver, false).digitise(values, {}, silence, silence, out);
  return out;
}

TEST(Receiver, RoundsToNearestAndClipsAtFullScale) {
  SceneReceiver receiver;
  receiver.adc_bits = 12;
  EXPECT_EQ(digitise_real(receiver, {0.4F, 0.6F, -0.6F, 2046.4F, 2050.0F, -2048.2F, -1e9F}),
            (std::vector<std::int16_t>{0, 1, -1, 2046, 2047, -2048, -2048}));
  receiver.adc_bits = 16;
  EXPECT_EQ(digitise_real(receiver, {32766.6F, 1e9F, -32768.4F, -1e9F}),
            (std::vector<std::int16_t>{32767, 32767, -32768, -32768}));
}

TEST(Receiver, ImageLiesWhereTheImbalanceSays) {
  Scene scene = test::fmcw_scene();
  scene.targets = {{12.0, 0.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  scene.receiver.iq_gain_imbalance_db = 0.8;
  scene.receiver.iq_phase_imbalance_deg = 4.0;
  const auto line = test::SimulatedCpi(scene, 0).line(0, 0);
  const double tone = test::peak_cycles(line);
  const double image_db =
      power_to_db(std::norm(test::spectrum_at(line, -tone)) / std::norm(test::spectrum_at(line, tone)));
  const double g = std::pow(10.0, 0.8 / 20.0);
  const double c = std::cos(deg_to_rad(4.0));
  EXPECT_NEAR(image_db, power_to_db((1.0 + g * g - 2.0 * g * c) / (1.0 + g * g + 2.0 * g * c)), 0.1);
  EXPECT_NEAR(image_db, -24.7, 0.2);  // worked by hand: g 1.0965, so -24.77 dB
}

TEST(Receiver, DcStandsOnBothBranches) {
  Scene scene = test::fmcw_scene();
  scene.receiver.noise_counts = 3.0;
  scene.receiver.dc_i_counts = 40.25;
  scene.receiver.dc_q_counts = -12.5;
  std::complex<double> sum;
  const test::SimulatedCpi cpi(scene, 0);
  for (std::size_t pulse = 0; pulse < 16; ++pulse)
    for (std::size_t channel = 0; channel < 4; ++channel)
      for (const auto& value : cpi.line(pulse, channel)) sum += value;
  const double limit = 5.0 * 3.0 / std::sqrt(8192.0);
  EXPECT_NEAR(sum.real() / 8192.0, 40.25, limit);
  EXPECT_NEAR(sum.imag() / 8192.0, -12.5, limit);
}

TEST(Receiver, NoiseHasItsRmsInEachBranch) {
  for (const bool complex_samples : {true, false}) {
    Scene scene = test::fmcw_scene();
    scene.complex_samples = complex_samples;
    scene.receiver.noise_counts = 10.0;
    const test::SimulatedCpi cpi(scene, 0);
    // Rounding adds 1/12 to the variance; five standard errors of the power of n scalars.
    const double scalars = static_cast<double>(cpi.raw().size());
    const double per_sample = complex_samples ? 2.0 : 1.0;
    EXPECT_NEAR(cpi.mean_power() / per_sample, 100.0 + 1.0 / 12.0, 100.0 * 5.0 * std::sqrt(2.0 / scalars));
  }
}

TEST(Receiver, SnrIsWhatTheSceneAsks) {
  for (const bool complex_samples : {true, false}) {
    Scene scene = test::fmcw_scene();
    scene.shape.pulse_count = 128;
    scene.complex_samples = complex_samples;
    scene.receiver.noise_counts = 20.0;
    const double noise = test::SimulatedCpi(scene, 0).mean_power();
    scene.targets = {{15.0, 3.0, 5.0, 2.0, Fluctuation::swerling0}};
    const double both = test::SimulatedCpi(scene, 0).mean_power();
    // Cross terms of signal and noise: relative error of the difference near 1 % with 65536 samples.
    EXPECT_NEAR(power_to_db((both - noise) / noise), 2.0, 0.1);
  }
}

}  // namespace
}  // namespace cornerturn
