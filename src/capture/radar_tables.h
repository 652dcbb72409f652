#pragma once

#include <cstddef>

#include "dsp/vocabulary/radar_description.h"
#include "src/config/toml_reader.h"

namespace cornerturn {

/// Reads [radar] and [waveform] of a sidecar; keys have the names of the struct's members (docs/capture-format.md).
/// FMCW may give start_hz and adc_start_s instead of carrier_hz: carrier = start + slope (adc_start + Ns / (2 fs)).
/// Profiled waveforms give first_gate_m and gate_step_m, or gates_m.
/// Errors: remembered by the reader.
RadarDescription read_radar_tables(TomlReader& root, std::size_t sample_count);

/// The carrier in the middle of the sampled part of a ramp. Units: Hz, Hz/s, s.
double mid_ramp_carrier_hz(double start_hz, double slope_hz_per_s, double adc_start_s, double sample_rate_hz,
                           std::size_t sample_count);

/// Reads [radar] alone.
void read_radar_table(TomlReader& root, RadarDescription& radar);
/// Reads [array]: spacing_m, spacing_wavelengths or x_m, y_m, z_m; steering_sign; calibration_amplitude and
/// calibration_phase_deg. Requires the carrier to be known.
void read_array_table(TomlReader& root, RadarDescription& radar, std::size_t channel_count);

}  // namespace cornerturn
