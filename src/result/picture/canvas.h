#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "src/result/picture/colour_map.h"
#include "src/result/picture/heat_map.h"

namespace cornerturn {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// Rectangle in the canvas' units, y downwards.
struct Box {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool overlaps(const Box& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  bool contains(const Box& other) const {
    return other.x >= x && other.right() <= right() && other.y >= y && other.bottom() <= bottom();
  }
};

enum class Align { start, middle, end };

struct TextStyle {
  double size = 11.0;
  bool bold = false;
  Align align = Align::start;
  Colour colour{0.13, 0.13, 0.15};
  bool upwards = false;  ///< turned by 90 degrees, read from the right
  bool halo = false;     ///< dark rim, readable on any colour
};

/// A page to draw on, kept in memory and written whole at the end: PNG, SVG or PDF by the ending of its name.
/// Needs no display. Threads: one.
class Canvas {
 public:
  /// Pixels of a PNG for each unit of the canvas.
  static constexpr double kPixelsPerUnit = 1.5;

  /// Errors: usage for an unknown ending; runtime when cairo cannot make the page.
  static Expected<Canvas> open(const std::string& path, double width, double height);

  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  void fill(const Box& box, const Colour& colour);
  void frame(const Box& box, const Colour& colour, double line_width);
  void line(std::span<const Point> points, const Colour& colour, double line_width);
  void circle(Point centre, double radius, const Colour& colour, double line_width);
  /// Draws with sharp pixels into `box`.
  void image(const PixelImage& image, const Box& box);
  /// Baseline at `at`; aligned along the direction of reading.
  void text(Point at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, const TextStyle& style);
  /// What follows is seen inside `box` only, until the end of the returned object.
  class Clip;
  Clip clip(const Box& box);

  /// Writes the file. Errors: runtime (disk full, not writable).
  Expected<void> finish();

 private:
  struct State;
  explicit Canvas(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Canvas::Clip {
 public:
  explicit Clip(State& state) : state_(&state) {}
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;
  ~Clip();

 private:
  State* state_;
};

}  // namespace cornerturn
