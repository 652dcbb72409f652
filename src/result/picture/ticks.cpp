#include "src/result/picture/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

std::string decimal_text(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (!text.starts_with('-')) return text;
  if (text.find_first_not_of("-0.") == std::string::npos) return text.substr(1);
  return "\u2212" + text.substr(1);
}

int decimals_for(double step) {
  const double size = std::abs(step);
  if (!(size > 0.0) || !std::isfinite(size)) return 2;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(size) + 1e-9)), 0, 4);
}

std::vector<Tick> make_ticks(double low, double high, int most) {
  CORNERTURN_REQUIRE(low <= high && most >= 2);
  if (low == high) return {{low, fmt::format("{:g}", low)}};
  const double rough = (high - low) / most;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * decade;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= rough * (1.0 - 1e-9)) {
      step = factor * decade;
      break;
    }
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const bool plain = decimals <= 6 && std::max(std::abs(low), std::abs(high)) < 1e7;
  std::vector<Tick> ticks;
  const double slack = 1e-9 * (high - low);
  for (double index = std::ceil((low - slack) / step); index * step <= high + slack; ++index) {
    const double value = index * step;
    ticks.push_back({value, plain ? decimal_text(value, decimals) : fmt::format("{:.4g}", value)});
  }
  return ticks;
}

std::string readable_unit(std::string_view unit) {
  struct Spelling {
    std::string_view file;
    const char* people;
  };
  static constexpr std::array<Spelling, 6> kSpellings = {{{"1", ""},
                                                          {"m s-1", "m/s"},
                                                          {"degree", "\u00b0"},
                                                          {"degrees", "\u00b0"},
                                                          {"count2", "count\u00b2"},
                                                          {"count", "count"}}};
  for (const Spelling& spelling : kSpellings)
    if (spelling.file == unit) return spelling.people;
  return std::string(unit);
}

std::string axis_label(std::string_view name, std::string_view unit) {
  std::string label(name);
  std::replace(label.begin(), label.end(), '_', ' ');
  const std::string readable = readable_unit(unit);
  return readable.empty() ? label : label + " (" + readable + ")";
}

}  // namespace cornerturn
