#include "src/result/picture/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dsp/vocabulary/contract.h"
#include "src/result/picture/colour_map.h"

namespace cornerturn {
namespace {

constexpr float kNoLevel = -std::numeric_limits<float>::infinity();

struct IndexRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The cells under each of `count` pixels, from the low end of the axis' coordinates to the high one.
std::vector<IndexRange> cells_under_pixels(const Axis& axis, std::size_t count) {
  const Interval span = covered(axis);
  const double last_cell = static_cast<double>(axis.count() - 1);
  // Pixel edges that fall on cell edges must not catch the neighbour by a rounding error.
  constexpr double kSlack = 1e-6;
  std::vector<IndexRange> ranges(count);
  for (std::size_t pixel = 0; pixel < count; ++pixel) {
    const double width = span.width() / static_cast<double>(count);
    const double low = axis.index_of(span.low + width * static_cast<double>(pixel)) + 0.5;
    const double high = axis.index_of(span.low + width * static_cast<double>(pixel + 1)) + 0.5;
    const double first = std::clamp(std::floor(std::min(low, high) + kSlack), 0.0, last_cell);
    const double last = std::clamp(std::ceil(std::max(low, high) - kSlack) - 1.0, first, last_cell);
    ranges[pixel] = {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  }
  return ranges;
}

std::array<std::uint32_t, 256> colour_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = packed(viridis(static_cast<double>(i) / 255.0));
  return table;
}

}  // namespace

Interval covered(const Axis& axis) {
  CORNERTURN_REQUIRE(axis.count() > 0);
  const double one = axis.coordinate(-0.5);
  const double other = axis.coordinate(static_cast<double>(axis.count()) - 0.5);
  if (one == other) return {one - 0.5, one + 0.5};
  return {std::min(one, other), std::max(one, other)};
}

std::vector<float> levels_db(std::span<const float> power) {
  std::vector<float> levels(power.size(), kNoLevel);
  for (std::size_t i = 0; i < power.size(); ++i)
    if (power[i] > 0.0F && std::isfinite(power[i])) levels[i] = 10.0F * std::log10(power[i]);
  return levels;
}

Interval level_limits(std::span<const float> level_db) {
  std::vector<float> finite;
  finite.reserve(level_db.size());
  std::copy_if(level_db.begin(), level_db.end(), std::back_inserter(finite),
               [](float level) { return std::isfinite(level); });
  if (finite.empty()) return {-20.0, 0.0};
  const double high = *std::max_element(finite.begin(), finite.end());
  const auto median = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 2);
  std::nth_element(finite.begin(), median, finite.end());
  constexpr double kBelowFloor_db = 5.0;
  constexpr double kLeast_db = 20.0;
  return {std::min(*median - kBelowFloor_db, high - kLeast_db), high};
}

PixelImage draw_heat_map(std::span<const float> level_db, const Axis& vertical, const Axis& horizontal,
                         const Interval& limits, std::size_t width, std::size_t height) {
  CORNERTURN_REQUIRE(level_db.size() == vertical.count() * horizontal.count());
  static const std::array<std::uint32_t, 256> kColours = colour_table();
  const std::vector<IndexRange> rows = cells_under_pixels(vertical, height);
  const std::vector<IndexRange> columns = cells_under_pixels(horizontal, width);
  PixelImage image{width, height, std::vector<std::uint32_t>(width * height)};
  std::vector<float> highest(horizontal.count());
  for (std::size_t y = 0; y < height; ++y) {
    const IndexRange row = rows[height - 1 - y];
    std::fill(highest.begin(), highest.end(), kNoLevel);
    for (std::size_t cell = row.first; cell <= row.last; ++cell) {
      const std::span<const float> line = level_db.subspan(cell * horizontal.count(), horizontal.count());
      for (std::size_t i = 0; i < line.size(); ++i) highest[i] = std::max(highest[i], line[i]);
    }
    for (std::size_t x = 0; x < width; ++x) {
      float level = kNoLevel;
      for (std::size_t cell = columns[x].first; cell <= columns[x].last; ++cell) level = std::max(level, highest[cell]);
      const double part = std::clamp(limits.part(static_cast<double>(level)), 0.0, 1.0);
      image.pixels[y * width + x] = kColours[static_cast<std::size_t>(std::lround(255.0 * part))];
    }
  }
  return image;
}

}  // namespace cornerturn
