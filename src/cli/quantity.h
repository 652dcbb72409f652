#pragma once

#include <string>

namespace cornerturn {

/// Figures for people, three or four digits and a fitting prefix: "1.2 MB", "7.68 ms", "77 GHz".
std::string format_bytes(double bytes);
std::string format_seconds(double seconds);
std::string format_hertz(double hertz);

}  // namespace cornerturn
