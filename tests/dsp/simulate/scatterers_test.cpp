#include "dsp/simulate/scatterers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

TEST(Scatterers, Swerling1PowerIsExponentialWithTheMeanAsked) {
  Scene scene = test::fmcw_scene();
  scene.receiver.noise_counts = 10.0;
  scene.targets = {{15.0, 3.0, 5.0, 10.0, Fluctuation::swerling1}};
  Scatterers scatterers(scene);
  constexpr std::size_t kCpis = 10000;
  std::vector<double> powers;
  for (std::size_t cpi = 0; cpi < kCpis; ++cpi)
    powers.push_back(std::norm(scatterers.at_cpi(cpi).front().amplitude_counts));
  const double mean_asked = std::pow(echo_amplitude_counts(10.0, scene.receiver), 2.0);
  EXPECT_NEAR(mean_asked, 2000.0, 1e-9);  // 10 dB over 2 * 10^2
  std::ranges::sort(powers);
  double sum = 0.0;
  double distance = 0.0;
  for (std::size_t i = 0; i < kCpis; ++i) {
    sum += powers[i];
    const double law = 1.0 - std::exp(-powers[i] / mean_asked);
    distance = std::max(distance, std::abs(law - (static_cast<double>(i) + 0.5) / kCpis));
  }
  EXPECT_NEAR(sum / kCpis / mean_asked, 1.0, 5.0 / std::sqrt(static_cast<double>(kCpis)));
  EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(kCpis)));  // Kolmogorov-Smirnov at 0.1 %
}

TEST(Scatterers, Swerling0KeepsAmplitudeAndPhase) {
  Scene scene = test::fmcw_scene();
  scene.targets = {{15.0, 3.0, 5.0, 10.0, Fluctuation::swerling0}};
  Scatterers scatterers(scene);
  const auto first = scatterers.at_cpi(0).front().amplitude_counts;
  EXPECT_EQ(scatterers.at_cpi(9).front().amplitude_counts, first);
  EXPECT_NEAR(scatterers.at_cpi(9).front().range_m, 15.0 + 3.0 * 9.0 * cpi_period_s(scene), 1e-12);
}

TEST(Scatterers, ClutterHasItsLevelInFmcwSamples) {
  Scene scene = test::fmcw_scene();
  scene.receiver.noise_counts = 2.0;
  scene.clutter = {30.0, 5.0, 45.0, 0.3, 300};
  double power = 0.0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    scene.seed = seed;
    power += test::SimulatedCpi(scene, 0).mean_power() / 8.0;
  }
  // 30 dB over 8 counts^2, plus the noise. The sum of 300 scatterers over 103 range cells fluctuates by 2 / sqrt(103)
  // per seed, so 5 standard errors over 8 seeds are 1.3 dB.
  EXPECT_NEAR(power_to_db(power), power_to_db(8008.0), 1.3);
}

TEST(Scatterers, ClutterHasItsLevelInPulseSamples) {
  Scene scene = test::pulse_scene();
  scene.shape.sample_count = 512;
  scene.receiver.noise_counts = 2.0;
  scene.clutter = {30.0, 4000.0, 20000.0, 0.3, 2000};
  // Samples in which clutter has its full depth: from one pulse width behind the first scatterer to the last.
  const auto sample_of = [&](double range_m) {
    return static_cast<std::size_t>((2.0 * range_m / kSpeedOfLight_mps - 20e-6) * 2.5e6);
  };
  double power = 0.0;
  std::size_t count = 0;
  for (scene.seed = 1; scene.seed <= 8; ++scene.seed) {
    const auto line = test::SimulatedCpi(scene, 0).line(0, 0);
    for (std::size_t sample = sample_of(4000.0) + 50; sample < sample_of(20000.0); ++sample, ++count)
      power += std::norm(line[sample]);
  }
  // The mean includes both ramps, where it is half as deep: 267 samples of full depth and 50 of ramps.
  const double depth = 8000.0 * (267.0 + 50.0) / 267.0 + 8.0;
  EXPECT_NEAR(power_to_db(power / static_cast<double>(count)), power_to_db(depth), 1.0);
}

TEST(Scatterers, ClutterTurnsOnFromCpiToCpiWithoutDriftingAway) {
  Scene scene = test::fmcw_scene();
  scene.clutter = {30.0, 5.0, 45.0, 0.3, 50};
  Scatterers scatterers(scene);
  const std::vector<PointEcho> first = scatterers.at_cpi(0);
  const std::vector<PointEcho> later = scatterers.at_cpi(7);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(later[i].range_m, first[i].range_m);
    const double turn = std::arg(later[i].amplitude_counts / first[i].amplitude_counts);
    const double moved_m = first[i].range_rate_mps * 7.0 * cpi_period_s(scene);
    const double expected = 4.0 * std::numbers::pi * moved_m / scene.radar.waveform.wavelength_m();
    EXPECT_NEAR(std::remainder(turn - expected, 2.0 * std::numbers::pi), 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace cornerturn
