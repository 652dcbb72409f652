#pragma once

#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dsp/vocabulary/axis.h"

namespace cornerturn {

/// What the transmitter sent, and so how range is found.
enum class WaveformKind {
  fmcw,      ///< dechirped ("beat") samples: range by Fourier transform
  pulse,     ///< sampled pulses: range by matched filter with the replica
  profiled,  ///< samples are range gates already (pulsed coherent sensors): no range stage
};
std::string_view to_string(WaveformKind kind);

/// Parameters of the transmitted waveform and of its sampling. Unused ones stay at 0.
struct Waveform {
  WaveformKind kind = WaveformKind::fmcw;
  double carrier_hz = 0.0;  ///< at the middle of the sampled part (FMCW), else the carrier
  double sample_rate_hz = 0.0;
  double pri_s = 0.0;  ///< slow-time step: from one pulse of a CPI to the next (TDM: of the same transmitter)

  // FMCW
  double slope_hz_per_s = 0.0;  ///< sign as transmitted

  // pulse
  double bandwidth_hz = 0.0;  ///< LFM sweep, negative for a down-chirp
  double pulse_width_s = 0.0;
  double receive_start_s = 0.0;              ///< first sample after the start of transmission
  std::vector<std::complex<float>> replica;  ///< sampled replica; empty: the LFM of bandwidth and width

  // profiled
  std::optional<Axis> gate_axis;  ///< range of each sample in m

  double wavelength_m() const;
};

/// Antenna phase centres in metres, x along the array to the right, y up, boresight along z.
/// Steering vector of azimuth theta (positive towards +x): a_m = exp(j steering_sign 2 pi x_m sin(theta) / lambda).
struct ArrayGeometry {
  struct Element {
    double x_m = 0.0;
    double y_m = 0.0;
    double z_m = 0.0;
  };
  std::vector<Element> elements;  ///< one per channel, in channel order; empty: angles cannot be found
  double steering_sign = 1.0;     ///< -1 when the capture's phases turn the other way

  static ArrayGeometry uniform_line(std::size_t channel_count, double spacing_m);
};

/// Everything about the radar that the chain has to know; read from the capture or its sidecar.
struct RadarDescription {
  std::string sensor;  ///< for people: "TI AWR1642", "simulator"
  Waveform waveform;
  ArrayGeometry array;
  /// +1: the phase of an opening target grows with slow time (behind TI's mixer); -1: it falls (pulse data).
  double doppler_sign = 1.0;
  /// Added to every range: cable and filter delay, sensor housing.
  double range_offset_m = 0.0;
  /// Range of a path of length d is propagation_factor * d: 0.5 two-way radar (default), 1 one-way.
  double propagation_factor = 0.5;
  /// Amplitude of a full-scale complex tone in counts; 0 when unknown (levels are then only relative to 1 count).
  double full_scale_counts = 0.0;
  /// Multiplied into each channel before anything else; empty: none.
  std::vector<std::complex<float>> channel_calibration;
};

}  // namespace cornerturn
