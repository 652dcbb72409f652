#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/vocabulary/radar_description.h"

namespace cornerturn {

/// Steering vectors of all azimuths of a grid, real and imaginary parts apart and azimuths contiguous, so that a sum
/// over channels runs over all azimuths at once.
class SteeringTable {
 public:
  SteeringTable(const ArrayGeometry& array, double wavelength_m, std::vector<double> azimuths_deg);

  std::size_t channel_count() const { return channel_count_; }
  std::span<const double> azimuths_deg() const { return azimuths_deg_; }
  /// Shape: (azimuth).
  std::span<const double> real(std::size_t channel) const { return line(real_, channel); }
  std::span<const double> imaginary(std::size_t channel) const { return line(imaginary_, channel); }

 private:
  std::span<const double> line(const std::vector<double>& plane, std::size_t channel) const {
    return std::span(plane).subspan(channel * azimuths_deg_.size(), azimuths_deg_.size());
  }

  std::size_t channel_count_;
  std::vector<double> azimuths_deg_;
  std::vector<double> real_;  // (channel, azimuth)
  std::vector<double> imaginary_;
};

/// Cholesky factor in place of a packed lower Hermitian matrix: R = L L^H. False, with the matrix spoiled, when a pivot
/// is not above `least_pivot`. Source: Golub & Van Loan, Matrix Computations, section 4.2.
bool factorise_cholesky(std::span<std::complex<double>> packed, std::size_t order, double least_pivot);

/// Quadratic forms of one Hermitian matrix R over a steering table, restricted to the channels that have data.
/// Own loops, because they run over the azimuths in whole vectors and allocate nothing.
/// Threads: one caller per object.
class SpatialSolver {
 public:
  explicit SpatialSolver(const SteeringTable& steering);

  /// Channels that take part from now on, ascending.
  void use_channels(std::span<const std::size_t> channels);
  std::size_t order() const { return channels_.size(); }

  /// Sets R (packed lower half over the channels in use) and factorises R + loading tr(R)/M I. When that is singular to
  /// within `epsilon` of its mean diagonal, loads it further from 1e-6 on and returns false. Requires tr(R) > 0.
  bool set_matrix(std::span<const std::complex<double>> packed, double loading, double epsilon);
  /// R = I.
  void set_identity();

  /// out = a^H R a / M^2, R as given to `packed` (unloaded). Shape: (azimuth).
  void bartlett(std::span<const std::complex<double>> packed, std::span<double> out) const;
  /// out = 1 / (a^H R^-1 a).
  void capon(std::span<double> out) const;
  /// out = |a^H x|^2 / M^2.
  void bartlett_of_snapshot(std::span<const std::complex<double>> snapshot, std::span<double> out) const;
  /// out = |a^H R^-1 x|^2 / (a^H R^-1 a).
  void adaptive_of_snapshot(std::span<const std::complex<double>> snapshot, std::span<double> out);

 private:
  void whiten_steering();
  std::span<double> whitened_line(std::vector<double>& plane, std::size_t index) {
    return std::span(plane).subspan(index * grid_size_, grid_size_);
  }

  const SteeringTable* steering_;
  std::size_t grid_size_;
  std::vector<std::size_t> channels_;
  std::vector<std::complex<double>> factor_;    // packed lower half of L
  std::vector<std::complex<double>> whitened_;  // L^-1 x
  std::vector<double> real_;                    // L^-1 a: (channel in use, azimuth)
  std::vector<double> imaginary_;
  std::vector<double> norm_;  // a^H R^-1 a: (azimuth)
};

}  // namespace cornerturn
