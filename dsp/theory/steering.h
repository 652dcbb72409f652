#pragma once

#include <complex>
#include <span>
#include <vector>

#include "dsp/vocabulary/radar_description.h"

namespace cornerturn {

/// Response of the array to a plane wave: a_m = exp(j steering_sign 2 pi x_m sin(azimuth) / wavelength).
/// Shape: (channel). Units: none, each element has magnitude 1.
/// Source: Van Trees, Optimum Array Processing (2002), section 2.2.
std::vector<std::complex<double>> steering_vector(const ArrayGeometry& array, double wavelength_m, double azimuth_deg);

/// Azimuths min, min + step ... up to max (included when the step meets it). Requires step > 0 and max >= min.
std::vector<double> azimuth_grid_deg(double min_deg, double max_deg, double step_deg);

}  // namespace cornerturn
