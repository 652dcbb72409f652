#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/vocabulary/radar_description.h"

namespace cornerturn {

/// A far-field source in the model of source_covariance().
struct PlaneWave {
  double azimuth_deg = 0.0;
  double power = 0.0;  ///< per channel
};

/// Exact covariance of plane waves in white noise of power `noise_power`:
/// uncorrelated sum_i p_i a_i a_i^H + noise I, coherent b b^H + noise I with b = sum_i sqrt(p_i) a_i (one signal on
/// several paths). Shape: full matrix (channel, channel), row by row. Units: power.
/// Source: Van Trees, Optimum Array Processing (2002), section 5.2.
std::vector<std::complex<double>> source_covariance(const ArrayGeometry& array, double wavelength_m,
                                                    std::span<const PlaneWave> waves, double noise_power,
                                                    bool coherent);

/// Mean of the covariance matrices of all runs of `subarray_size` neighbouring channels; brings back the rank that
/// coherent sources lose. Only for uniform lines. Shape: in (order, order), out (subarray_size, subarray_size), full.
/// Source: Shan, Wax & Kailath, "On Spatial Smoothing for Direction-of-Arrival Estimation of Coherent Signals",
/// IEEE T-ASSP 33(4), 1985.
std::vector<std::complex<double>> spatially_smoothed(std::span<const std::complex<double>> covariance,
                                                     std::size_t order, std::size_t subarray_size);

/// Lower half, packed as Storage::hermitian_lower, of a full matrix.
std::vector<std::complex<double>> packed_lower(std::span<const std::complex<double>> covariance, std::size_t order);

}  // namespace cornerturn
