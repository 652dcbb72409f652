#pragma once

#include <string>

namespace cornerturn {

/// A number for a message: six significant digits, no trailing zeros ("49.9654", "7.7e+10").
std::string number_text(double value);

}  // namespace cornerturn
