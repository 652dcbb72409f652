#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dsp/config/chain_config.h"
#include "dsp/math/thread_pool.h"
#include "dsp/stage/cfar.h"
#include "dsp/stage/detection.h"
#include "dsp/vocabulary/cube_view.h"
#include "dsp/vocabulary/radar_description.h"

namespace cornerturn {

/// How far a spectrum or an angle can be trusted.
enum class AngleQuality {
  good,
  doubtful,  ///< matrix near singular (loaded until it was not), a channel without data, or a peak at the grid's end
  no_data    ///< fewer than two channels with data: spectra are zero, no angle
};

/// Spatial spectra of a given covariance matrix over a grid of azimuths:
///   Bartlett a^H R a / M^2 (a lone source reads its power plus noise / M), Capon 1 / (a^H R^-1 a).
/// Shape: in packed lower half of (channel, channel), out (azimuth). Units: power. Double precision inside.
/// Channels whose diagonal element is zero are left out (and reported as doubtful); M counts the others.
/// Errors: none; a singular matrix is loaded by 1e-6 tr(R)/M, which is reported as doubtful. Never NaN.
/// Allocates nothing after construction. Threads: one caller per object.
/// Source: Van Trees, Optimum Array Processing (2002), section 9.2 (Bartlett, Capon/MVDR spectra).
class AngleSpectrum {
 public:
  AngleSpectrum(const ArrayGeometry& array, double wavelength_m, std::vector<double> azimuths_deg);
  ~AngleSpectrum();
  AngleSpectrum(AngleSpectrum&&) noexcept;
  AngleSpectrum& operator=(AngleSpectrum&&) noexcept;

  std::span<const double> azimuths_deg() const;
  AngleQuality process(std::span<const std::complex<float>> packed, std::span<double> bartlett,
                       std::span<double> capon);
  /// The same for a matrix in double precision, which strong interference needs (error about eps cond(R)).
  AngleQuality process(std::span<const std::complex<double>> packed, std::span<double> bartlett,
                       std::span<double> capon);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Azimuth of the highest point of a spectrum, refined by a parabola through the levels in dB; at the grid's ends the
/// grid point itself. NaN when the spectrum is zero everywhere.
double peak_azimuth_deg(std::span<const double> azimuths_deg, std::span<const double> spectrum);

/// Azimuth of each detection from its one snapshot x (one range-Doppler cell of one CPI gives no more):
///   adaptive  argmax |a^H R^-1 x|^2 / (a^H R^-1 a),   Bartlett  argmax |a^H x|^2,
/// R trained from `train_gates` gates on each side of the detection in its Doppler bin, beyond `guard_gates`, gates
/// with an alarm in that bin and gates outside the map left out; (forward-backward;) loaded by loading tr(R)/M.
/// No training gate left, or training that is all zero: R = I and kAngleDoubtful. A channel that is zero in the cell is
/// left out and flagged kAngleDoubtful; fewer than two channels with data: kNoAngle, azimuths NaN.
/// Shape: cube (gate, channel, Doppler bin). Allocates nothing after construction. Threads: one caller per object.
/// Source: adaptive: the maximum-likelihood angle in noise of covariance R, as in Robey et al., "A CFAR Adaptive
/// Matched Filter Detector", T-AES 28(1), 1992; training: Reed, Mallett & Brennan, T-AES 10(6), 1974.
class AngleEstimator {
 public:
  AngleEstimator(const ChainConfig::Angle& config, const ArrayGeometry& array, double wavelength_m,
                 std::size_t thread_count);
  ~AngleEstimator();
  AngleEstimator(AngleEstimator&&) noexcept;
  AngleEstimator& operator=(AngleEstimator&&) noexcept;

  /// A light parameter. Requires loading >= 0.
  void set_loading(double loading);

  /// Fills azimuth_deg, azimuth_bartlett_deg and the angle flags of each detection. `alarms` as CfarDetector gives
  /// them. Returns the number of detections flagged.
  std::size_t process(CubeView<const std::complex<float>> cube, std::span<const CfarAlarm> alarms, ThreadPool& pool,
                      std::span<Detection> detections);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cornerturn
