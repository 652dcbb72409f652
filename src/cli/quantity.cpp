#include "src/cli/quantity.h"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace cornerturn {
namespace {

struct Prefix {
  double scale;
  std::string_view unit;
};

// The largest unit in which the figure is at least one; the last of the list when it is below all.
std::string with_prefix(double value, std::span<const Prefix> prefixes) {
  const Prefix* chosen = &prefixes.back();
  for (const Prefix& prefix : prefixes)
    if (std::abs(value) >= prefix.scale * 0.9995) {
      chosen = &prefix;
      break;
    }
  const double figure = value / chosen->scale;
  return std::abs(figure) >= 1000.0 ? fmt::format("{:.0f} {}", figure, chosen->unit)
                                    : fmt::format("{:.4g} {}", figure, chosen->unit);
}

}  // namespace

std::string format_bytes(double bytes) {
  constexpr std::array<Prefix, 5> kPrefixes{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1.0, "B"}}};
  return with_prefix(bytes, kPrefixes);
}

std::string format_seconds(double seconds) {
  constexpr std::array<Prefix, 4> kPrefixes{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (seconds == 0.0) return "0 s";
  if (seconds >= 7200.0) return fmt::format("{:.4g} h", seconds / 3600.0);
  if (seconds >= 120.0) return fmt::format("{:.4g} min", seconds / 60.0);
  return with_prefix(seconds, kPrefixes);
}

std::string format_hertz(double hertz) {
  constexpr std::array<Prefix, 4> kPrefixes{{{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}, {1.0, "Hz"}}};
  return with_prefix(hertz, kPrefixes);
}

}  // namespace cornerturn
