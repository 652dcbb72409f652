#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

enum class Fluctuation { swerling0, swerling1 };

/// A point target. `snr_db` is the mean SNR per raw sample and channel (signal power over noise power).
struct SceneTarget {
  double range_m = 0.0;         ///< at time 0
  double range_rate_mps = 0.0;  ///< positive = opening
  double azimuth_deg = 0.0;
  double snr_db = 0.0;
  Fluctuation fluctuation = Fluctuation::swerling0;  ///< swerling1: a new Rayleigh amplitude each CPI
};

/// Ground clutter: many independent scatterers spread over ranges and azimuths, with a spread of range rates.
struct SceneClutter {
  double cnr_db = -300.0;  ///< per raw sample and channel, over noise; below -200: none
  double min_range_m = 0.0;
  double max_range_m = 0.0;
  double range_rate_spread_mps = 0.0;  ///< standard deviation
  std::size_t scatterer_count = 200;
};

/// A receiver's faults.
struct SceneReceiver {
  double noise_counts = 10.0;  ///< RMS of I and of Q (real sampling: of the sample)
  double dc_i_counts = 0.0;
  double dc_q_counts = 0.0;
  double iq_gain_imbalance_db = 0.0;
  double iq_phase_imbalance_deg = 0.0;
  int adc_bits = 16;  ///< quantised and clipped to two's complement of this many bits, stored in int16
};

/// Everything the simulator needs; the TOML file has the same names (docs/capture-format.md names the truth).
struct Scene {
  std::string name;
  std::uint64_t seed = 1;
  RadarDescription radar;
  CpiShape shape;
  bool complex_samples = true;
  std::size_t cpi_count = 1;
  double cpi_period_s = 0.0;  ///< 0: back to back
  SceneReceiver receiver;
  SceneClutter clutter;
  std::vector<SceneTarget> targets;
};

/// Checks what no single key can know: sizes, timing, signs, and that every target can be seen at time 0.
/// Errors: usage; Error::where is the key at fault ("waveform.pri_s", "target[2].range_m").
Expected<void> validate(const Scene& scene);

/// clutter.cnr_db is above -200 dB.
bool has_clutter(const Scene& scene);

/// Length of the transmitted pulse: of the replica if there is one, else waveform.pulse_width_s.
double pulse_width_s(const Waveform& waveform);

/// Time between the starts of two CPIs: scene.cpi_period_s, or pulse_count * pri_s when that is 0.
double cpi_period_s(const Scene& scene);

/// Amplitude A of an echo whose SNR per raw sample is given: A = noise_counts sqrt(2) 10^(snr/20), for complex samples
/// (A^2 over 2 sigma^2) and for real ones (A^2 / 2 over sigma^2) alike. Units: counts.
double echo_amplitude_counts(double snr_db, const SceneReceiver& receiver);

/// The ranges whose echoes the receiver can deliver. FMCW: beats from 0 to fs (real sampling: fs / 2),
/// so up to c fs / (2 |S|) with propagation factor 1/2. Pulse: echoes that lie whole in the receive window.
struct RangeView {
  double min_m = 0.0;
  double max_m = 0.0;
  bool contains(double range_m) const { return range_m >= min_m && range_m <= max_m; }
};
RangeView range_view(const Scene& scene);

}  // namespace cornerturn
