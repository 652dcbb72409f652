#pragma once

#include <string_view>

namespace cornerturn {

/// True when the names of a pair's members say plainly that the imaginary (quadrature) part stands first. In all other
/// cases the first member is I: any pair of equal scalars is a complex number, whatever its members are called.
inline bool is_quadrature_first(std::string_view first, std::string_view second) {
  if (first == "i") return second == "r";  // "i" is the in-phase part beside "q", the imaginary part beside "r"
  return first == "imag" || first == "im" || first == "q" || first == "Q" || first == "quadrature";
}

}  // namespace cornerturn
