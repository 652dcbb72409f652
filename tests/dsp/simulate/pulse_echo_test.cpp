#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

using test::SimulatedCpi;

/// Magnitude of the correlation with exp(j pi B/T (i / fs - T/2)^2) at each gate.
std::vector<double> compressed(const Scene& scene, const std::vector<std::complex<double>>& line) {
  const Waveform& waveform = scene.radar.waveform;
  const auto replica_count = static_cast<std::size_t>(std::lround(waveform.pulse_width_s * waveform.sample_rate_hz));
  std::vector<double> gates(line.size() - replica_count + 1);
  for (std::size_t gate = 0; gate < gates.size(); ++gate) {
    std::complex<double> sum;
    for (std::size_t i = 0; i < replica_count; ++i) {
      const double t = static_cast<double>(i) / waveform.sample_rate_hz - 0.5 * waveform.pulse_width_s;
      sum +=
          line[gate + i] * std::polar(1.0, -std::numbers::pi * waveform.bandwidth_hz / waveform.pulse_width_s * t * t);
    }
    gates[gate] = std::abs(sum) / static_cast<double>(replica_count);
  }
  return gates;
}

double gate_range_m(const Scene& scene, double gate) {
  const Waveform& waveform = scene.radar.waveform;
  return 0.5 * kSpeedOfLight_mps * (waveform.receive_start_s + gate / waveform.sample_rate_hz);
}

TEST(PulseEcho, CompressesToItsAmplitudeAtItsGate) {
  for (const double bandwidth_hz : {2e6, -2e6}) {
    Scene scene = test::pulse_scene();
    scene.radar.waveform.bandwidth_hz = bandwidth_hz;
    scene.targets = {{gate_range_m(scene, 83.0), 0.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
    const std::vector<double> gates = compressed(scene, SimulatedCpi(scene, 0).line(0, 0));
    // On its gate the echo is the replica sample by sample; rounding averages over 50 samples.
    EXPECT_NEAR(gates[83], echo_amplitude_counts(test::kLoudSnrDb, scene.receiver), 0.3);
    for (std::size_t gate = 0; gate < gates.size(); ++gate)
      if (gate != 83) {
        EXPECT_LT(gates[gate], gates[83]);
      }
  }
}

TEST(PulseEcho, EveryElementEqualsTheClosedForm) {
  Scene scene = test::pulse_scene();
  const SceneTarget target{gate_range_m(scene, 100.37), -55.0, 33.0, test::kLoudSnrDb, Fluctuation::swerling0};
  scene.targets = {target};
  const Waveform& waveform = scene.radar.waveform;
  for (const double doppler_sign : {-1.0, 1.0}) {
    scene.radar.doppler_sign = doppler_sign;
    const SimulatedCpi cpi(scene, 2);
    std::complex<double> reference;
    for (std::size_t pulse = 0; pulse < scene.shape.pulse_count; ++pulse)
      for (std::size_t channel = 0; channel < 2; ++channel)
        for (std::size_t sample = 0; sample < scene.shape.sample_count; ++sample) {
          const double time_s = 2.0 * cpi_period_s(scene) + static_cast<double>(pulse) * waveform.pri_s;
          const double t = waveform.receive_start_s + static_cast<double>(sample) / waveform.sample_rate_hz;
          const double start_delay_s = 2.0 * (target.range_m + target.range_rate_mps * time_s) / kSpeedOfLight_mps;
          const double e = t - start_delay_s - 0.5 * waveform.pulse_width_s;
          const double delay_s = start_delay_s + 2.0 * target.range_rate_mps * e / kSpeedOfLight_mps;
          const double p = t - delay_s;
          if (p < 0.0 || p >= waveform.pulse_width_s) {
            ASSERT_LE(std::abs(cpi(pulse, channel, sample)), 1.0);
            continue;
          }
          const double centred = p - 0.5 * waveform.pulse_width_s;
          const double cycles = 0.5 * waveform.bandwidth_hz / waveform.pulse_width_s * centred * centred +
                                std::fmod(doppler_sign * waveform.carrier_hz * delay_s, 1.0) +
                                0.5 * static_cast<double>(channel) * std::sin(deg_to_rad(target.azimuth_deg));
          const std::complex<double> form = std::polar(1.0, 2.0 * std::numbers::pi * cycles);
          if (reference == 0.0) reference = cpi(pulse, channel, sample) / form;
          ASSERT_LT(std::abs(cpi(pulse, channel, sample) - reference * form), 1.6) << pulse << ' ' << sample;
        }
    EXPECT_NEAR(std::abs(reference), echo_amplitude_counts(target.snr_db, scene.receiver), 1.0);
  }
}

TEST(PulseEcho, SlowTimePhaseTurnsByTheDopplerSign) {
  Scene scene = test::pulse_scene();
  scene.shape.pulse_count = 32;
  const double range_m = gate_range_m(scene, 60.0);
  scene.targets = {{range_m, 20.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  const SimulatedCpi cpi(scene, 0);
  const double doppler_hz = test::peak_cycles(cpi.slow_line(0, 85), -0.5, 0.5) / scene.radar.waveform.pri_s;
  EXPECT_NEAR(doppler_hz, -2.0 * 20.0 / scene.radar.waveform.wavelength_m(), 0.5);  // a bin is 125 Hz
}

TEST(PulseEcho, SampledReplicaIsDelayedBetweenSamples) {
  // The LFM of half of the band, given as samples: its echo must be the one of the formula.
  Scene formula = test::pulse_scene();
  formula.radar.waveform.bandwidth_hz = 1e6;
  formula.targets = {{gate_range_m(formula, 71.4), 13.0, 0.0, test::kLoudSnrDb, Fluctuation::swerling0}};
  Scene sampled = formula;
  for (std::size_t i = 0; i < 50; ++i) {
    const double t = static_cast<double>(i) / 2.5e6 - 10e-6;
    sampled.radar.waveform.replica.emplace_back(std::polar(1.0, std::numbers::pi * 1e6 / 20e-6 * t * t));
  }
  const SimulatedCpi expected(formula, 1);
  const SimulatedCpi found(sampled, 1);
  // Away from the edges, where a sampled pulse rings and the formula's does not.
  for (std::size_t sample = 82; sample < 112; ++sample)
    EXPECT_LT(std::abs(found(3, 0, sample) - expected(3, 0, sample)), 0.02 * 4472.0) << sample;
}

}  // namespace
}  // namespace cornerturn
