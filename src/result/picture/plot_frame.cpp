#include "src/result/picture/plot_frame.h"

#include <algorithm>

#include "src/result/picture/ticks.h"

namespace cornerturn {
namespace {

constexpr double kTickLength = 5.0;
constexpr TextStyle kTickText{.size = 11.0, .bold = false, .align = Align::middle};
constexpr TextStyle kLabelText{.size = 12.5, .bold = false, .align = Align::middle};

double widest(Canvas& canvas, const std::vector<Tick>& ticks) {
  double width = 0.0;
  for (const Tick& tick : ticks) width = std::max(width, canvas.text_width(tick.label, kTickText));
  return width;
}

}  // namespace

void draw_axes(Canvas& canvas, const PlotFrame& frame, const std::string& horizontal_label,
               const std::string& vertical_label, bool grid) {
  const Box& box = frame.box;
  const auto across = make_ticks(frame.horizontal.low, frame.horizontal.high, static_cast<int>(box.width / 70.0) + 2);
  const auto upwards = make_ticks(frame.vertical.low, frame.vertical.high, static_cast<int>(box.height / 45.0) + 2);
  for (const Tick& tick : across) {
    const double x = frame.x(tick.value);
    if (grid) canvas.line(std::vector<Point>{{x, box.y}, {x, box.bottom()}}, kGridInk, 0.8);
    canvas.line(std::vector<Point>{{x, box.bottom()}, {x, box.bottom() + kTickLength}}, kInk, 1.0);
    canvas.text({x, box.bottom() + kTickLength + 13.0}, tick.label, kTickText);
  }
  TextStyle right_aligned = kTickText;
  right_aligned.align = Align::end;
  for (const Tick& tick : upwards) {
    const double y = frame.y(tick.value);
    if (grid) canvas.line(std::vector<Point>{{box.x, y}, {box.right(), y}}, kGridInk, 0.8);
    canvas.line(std::vector<Point>{{box.x - kTickLength, y}, {box.x, y}}, kInk, 1.0);
    canvas.text({box.x - kTickLength - 4.0, y + 4.0}, tick.label, right_aligned);
  }
  canvas.frame(box, kInk, 1.0);
  canvas.text({box.x + box.width / 2.0, box.bottom() + 38.0}, horizontal_label, kLabelText);
  TextStyle turned = kLabelText;
  turned.upwards = true;
  canvas.text({box.x - kTickLength - 14.0 - widest(canvas, upwards), box.y + box.height / 2.0}, vertical_label, turned);
}

void draw_colour_bar(Canvas& canvas, const Box& box, const Interval& limits, const std::string& label) {
  constexpr std::size_t kSteps = 256;
  constexpr std::size_t kColumns = 16;  // viewers of SVG blur the edges of an image one pixel wide
  PixelImage colours{kColumns, kSteps, std::vector<std::uint32_t>(kColumns * kSteps)};
  for (std::size_t row = 0; row < kSteps; ++row) {
    const Colour colour = viridis(1.0 - static_cast<double>(row) / static_cast<double>(kSteps - 1));
    std::fill_n(colours.pixels.begin() + static_cast<std::ptrdiff_t>(row * kColumns), kColumns, packed(colour));
  }
  canvas.image(colours, box);
  canvas.frame(box, kInk, 1.0);
  const auto ticks = make_ticks(limits.low, limits.high, static_cast<int>(box.height / 45.0) + 2);
  TextStyle left_aligned = kTickText;
  left_aligned.align = Align::start;
  for (const Tick& tick : ticks) {
    const double y = box.bottom() - limits.part(tick.value) * box.height;
    canvas.line(std::vector<Point>{{box.right(), y}, {box.right() + kTickLength, y}}, kInk, 1.0);
    canvas.text({box.right() + kTickLength + 4.0, y + 4.0}, tick.label, left_aligned);
  }
  TextStyle turned = kLabelText;
  turned.upwards = true;
  canvas.text({box.right() + kTickLength + 22.0 + widest(canvas, ticks), box.y + box.height / 2.0}, label, turned);
}

}  // namespace cornerturn
