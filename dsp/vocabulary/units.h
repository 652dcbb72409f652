#pragma once

#include <cmath>
#include <numbers>

namespace cornerturn {

/// Speed of light in vacuum (exact, SI).
inline constexpr double kSpeedOfLight_mps = 299792458.0;

inline double power_to_db(double power) { return 10.0 * std::log10(power); }
inline double db_to_power(double level_db) { return std::pow(10.0, level_db / 10.0); }
inline constexpr double deg_to_rad(double angle_deg) { return angle_deg * (std::numbers::pi / 180.0); }
inline constexpr double rad_to_deg(double angle_rad) { return angle_rad * (180.0 / std::numbers::pi); }

}  // namespace cornerturn
