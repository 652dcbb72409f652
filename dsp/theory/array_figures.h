#pragma once

#include <cstddef>

namespace cornerturn {

/// Half-power beamwidth at broadside of a uniform line of `element_count` elements, `spacing` in wavelengths: the two
/// angles where (sin(M u) / (M sin u))^2 = 1/2, u = pi spacing sin(angle). Requires element_count >= 2.
/// Source: Van Trees, Optimum Array Processing (2002), section 2.4.1.
double line_array_beamwidth_deg(std::size_t element_count, double spacing_wavelengths = 0.5);

/// First null beside the broadside beam: asin(1 / (M spacing)). Source: as above.
double line_array_first_null_deg(std::size_t element_count, double spacing_wavelengths = 0.5);

/// Mean fraction of the optimum SINR that remains when the covariance is estimated from `snapshots` target-free
/// snapshots of `channels` channels: (K + 2 - N) / (K + 1). Requires snapshots >= channels.
/// Source: Reed, Mallett & Brennan, "Rapid Convergence Rate in Adaptive Arrays", IEEE T-AES 10(6), 1974.
double adaptive_loss_mean(std::size_t channels, std::size_t snapshots);

/// Cramer-Rao bound of the angle's standard deviation, one source at broadside of a half-wavelength line:
/// sigma^2 = 6 / (pi^2 K SNR M (M^2 - 1)) rad^2. `snr` is the power ratio per channel and snapshot.
/// Source: Stoica & Nehorai, "MUSIC, Maximum Likelihood, and Cramer-Rao Bound", IEEE T-ASSP 37(5), 1989.
double broadside_angle_bound_deg(std::size_t channels, std::size_t snapshots, double snr);

/// Output SINR (power ratio) of the optimum (MVDR) beamformer with unit noise, a signal of power `snr` and one
/// interferer of power `inr` per channel: snr M (1 - rho2 M inr / (1 + M inr)), rho2 = |s^H v|^2 / M^2.
/// Source: Van Trees, Optimum Array Processing (2002), section 6.3.
double mvdr_sinr(std::size_t channels, double snr, double inr, double rho2);
/// The same for the conventional beamformer (weights s): snr M / (1 + rho2 M inr).
double conventional_sinr(std::size_t channels, double snr, double inr, double rho2);

}  // namespace cornerturn
