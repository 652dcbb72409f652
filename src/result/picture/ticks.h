#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cornerturn {

/// A mark on an axis of a picture.
struct Tick {
  double value = 0.0;
  std::string label;
};

/// Round values (1, 2 or 5 times a power of ten apart) inside [low, high], at most `most` of them (but two where the
/// interval has any), labelled with as many decimals as tell them apart. Requires: low <= high, most >= 2.
std::vector<Tick> make_ticks(double low, double high, int most);

/// A unit for people: "m s-1" -> "m/s", "degree" -> "°", "count2" -> "count²", "1" -> "".
std::string readable_unit(std::string_view unit);
/// "range_rate", "m s-1" -> "range rate (m/s)".
std::string axis_label(std::string_view name, std::string_view unit);

/// Decimals that show a tenth of a step between cells: 3 for 0.01, 0 for 20.
int decimals_for(double step);

/// The number with so many decimals, with a real minus sign; never "-0.0".
std::string decimal_text(double value, int decimals);

}  // namespace cornerturn
