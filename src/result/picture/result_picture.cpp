#include "src/result/picture/result_picture.h"

#include <algorithm>
#include <cmath>

#include "dsp/vocabulary/units.h"
#include "src/result/picture/plot_frame.h"
#include "src/result/picture/side_column.h"
#include "src/result/picture/ticks.h"

namespace cornerturn {
namespace {

constexpr double kHeight = 720.0;
constexpr Box kPlot{82.0, 92.0, 680.0, 560.0};
constexpr double kSideColumn = 896.0;  // left edge
constexpr double kSideWidth = 280.0;
constexpr double kMargin = 24.0;
constexpr std::size_t kMostMarks = 1000;
constexpr double kBelowCurve_db = 8.0;  // a curve, unlike colours, should show the noise's own dips
constexpr Colour kWhite{1.0, 1.0, 1.0};
constexpr Colour kDark{0.05, 0.05, 0.10};
constexpr Colour kCurve{0.21, 0.37, 0.55};
constexpr Colour kAccent{0.80, 0.22, 0.16};

/// dB of a power of 1 count squared on the picture's scale.
double offset_db(const PictureContent& content) {
  return content.full_scale_counts > 0.0 ? -2.0 * power_to_db(content.full_scale_counts) : 0.0;
}

std::string level_label(const PictureContent& content) {
  return content.full_scale_counts > 0.0 ? "power (dB relative to full scale)" : "power (dB relative to 1 count\u00b2)";
}

std::string label_of(const Axis& axis) {
  const std::string label = axis_label(axis.name(), axis.unit());
  return axis.name() == "range_rate" ? label + ", positive = opening" : label;
}

/// A capture of nothing but zeros must not look like a quiet one.
void draw_warning_without_power(Canvas& canvas, std::span<const float> levels) {
  if (std::any_of(levels.begin(), levels.end(), [](float level) { return std::isfinite(level); })) return;
  const TextStyle style{.size = 15.0, .bold = true, .align = Align::middle, .colour = kWhite, .halo = true};
  canvas.text({kPlot.x + kPlot.width / 2.0, kPlot.y + kPlot.height / 2.0}, "no power in any cell", style);
}

/// Breaks a long chain between stages into at most two lines.
std::vector<std::string> wrap(Canvas& canvas, const std::string& text, const TextStyle& style, double width) {
  if (canvas.text_width(text, style) <= width) return {text};
  const std::string arrow = " \u2192 ";
  std::size_t cut = std::string::npos;
  for (std::size_t at = text.find(arrow); at != std::string::npos; at = text.find(arrow, at + arrow.size()))
    if (canvas.text_width(text.substr(0, at), style) <= width) cut = at;
  if (cut == std::string::npos) return {text};
  return {text.substr(0, cut), text.substr(cut + 1)};
}

/// Cuts a text that is too long, at its start, where file names differ least.
std::string fitted(Canvas& canvas, std::string text, const TextStyle& style, double width) {
  if (canvas.text_width(text, style) <= width) return text;
  const std::string dots = "\u2026";
  while (!text.empty() && canvas.text_width(dots + text, style) > width) {
    std::size_t next = 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0U) == 0x80U) ++next;  // whole letters
    text.erase(0, next);
  }
  return dots + text;
}

void draw_titles(Canvas& canvas, const PictureContent& content, double width) {
  const double room = width - 2.0 * kMargin;
  const TextStyle title{.size = 17.0, .bold = true};
  const TextStyle subtitle{.size = 12.0};
  const TextStyle small{.size = 10.5, .bold = false, .align = Align::start, .colour = kFaintInk};
  canvas.text({kMargin, 30.0}, fitted(canvas, content.title, title, room), title);
  canvas.text({kMargin, 50.0}, content.subtitle, subtitle);
  double y = 67.0;
  for (const std::string& line : wrap(canvas, content.chain, small, room)) {
    canvas.text({kMargin, y}, line, small);
    y += 14.0;
  }
}

/// Puts the number of a mark where it covers no other number and stays inside the plot; none if there is no such place.
void draw_number(Canvas& canvas, const Box& plot, Point mark, const std::string& number, const TextStyle& style,
                 std::vector<Box>& taken) {
  const double width = canvas.text_width(number, style);
  const double height = style.size;
  constexpr double kAway = 9.0;
  const Point corners[] = {{mark.x + kAway, mark.y - kAway + 3.0},
                           {mark.x - kAway - width, mark.y - kAway + 3.0},
                           {mark.x + kAway, mark.y + kAway + height - 5.0},
                           {mark.x - kAway - width, mark.y + kAway + height - 5.0}};
  for (const Point& corner : corners) {
    const Box box{corner.x - 1.0, corner.y - height, width + 2.0, height + 2.0};
    if (!plot.contains(box)) continue;
    if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.overlaps(box); })) continue;
    canvas.text(corner, number, style);
    taken.push_back(box);
    return;
  }
}

void draw_marks(Canvas& canvas, const Box& plot, const std::vector<Point>& marks, bool on_colours) {
  const Colour ink = on_colours ? kWhite : kAccent;
  std::vector<Box> taken;
  {
    const Canvas::Clip inside = canvas.clip(plot);
    for (std::size_t i = marks.size(); i-- > 0;) {  // the strongest last, on top
      const double radius = i < kNumberedDetections ? 7.0 : 3.5;
      if (on_colours) canvas.circle(marks[i], radius, kDark, 3.2);
      canvas.circle(marks[i], radius, ink, 1.5);
    }
  }
  for (std::size_t i = 0; i < std::min(marks.size(), kNumberedDetections); ++i)
    taken.push_back({marks[i].x - 6.0, marks[i].y - 6.0, 12.0, 12.0});
  const TextStyle style{.size = 11.0, .bold = true, .align = Align::start, .colour = ink, .halo = on_colours};
  for (std::size_t i = 0; i < std::min(marks.size(), kNumberedDetections); ++i)
    draw_number(canvas, plot, marks[i], std::to_string(i + 1), style, taken);
}

void draw_map(Canvas& canvas, const PictureContent& content) {
  std::vector<float> levels = levels_db(content.power);
  for (float& level : levels) level += static_cast<float>(offset_db(content));
  const Interval limits = level_limits(levels);
  const Axis& range = content.axes[0];
  const Axis& rate = content.axes[1];
  const PlotFrame frame{kPlot, covered(rate), covered(range)};
  const auto pixels = [](double units) { return static_cast<std::size_t>(units * Canvas::kPixelsPerUnit); };
  canvas.image(draw_heat_map(levels, range, rate, limits, pixels(kPlot.width), pixels(kPlot.height)), kPlot);

  draw_warning_without_power(canvas, levels);

  std::vector<Point> marks;
  for (const Detection& detection : content.detections) {
    if (marks.size() == kMostMarks) break;
    marks.push_back({frame.x(detection.range_rate_mps), frame.y(detection.range_m)});
  }
  draw_marks(canvas, kPlot, marks, true);
  draw_axes(canvas, frame, label_of(rate), label_of(range), false);
  draw_colour_bar(canvas, {kPlot.right() + 16.0, kPlot.y, 16.0, kPlot.height}, limits, level_label(content));
}

/// One axis has a single cell: the level along the other one.
void draw_curve(Canvas& canvas, const PictureContent& content) {
  const bool over_range = content.axes[1].count() == 1;
  const Axis& axis = over_range ? content.axes[0] : content.axes[1];
  std::vector<float> levels = levels_db(content.power);
  for (float& level : levels) level += static_cast<float>(offset_db(content));
  Interval limits = level_limits(levels);
  limits.high += 0.06 * limits.width();
  limits.low -= kBelowCurve_db;
  // A plot as wide as map and colour bar together.
  const Box plot{kPlot.x, kPlot.y, kPlot.width + 106.0, kPlot.height};
  const PlotFrame frame{plot, covered(axis), limits};
  draw_axes(canvas, frame, label_of(axis), level_label(content), true);
  {
    const Canvas::Clip inside = canvas.clip(plot);
    std::vector<Point> points;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double level = std::max(static_cast<double>(levels[i]), limits.low - limits.width());
      points.push_back({frame.x(axis.coordinate(static_cast<double>(i))), frame.y(level)});
    }
    canvas.line(points, kCurve, 1.4);
  }
  canvas.frame(plot, kInk, 1.0);
  draw_warning_without_power(canvas, levels);
  std::vector<Point> marks;
  for (const Detection& detection : content.detections) {
    if (marks.size() == kMostMarks) break;
    marks.push_back({frame.x(over_range ? detection.range_m : detection.range_rate_mps),
                     frame.y(detection.power_db + offset_db(content))});
  }
  draw_marks(canvas, plot, marks, false);
}

}  // namespace

Expected<void> draw_result_picture(const PictureContent& content, const std::string& path) {
  const bool side = !content.detections.empty() || content.correlation.channel_count > 0;
  const double width = side ? kSideColumn + kSideWidth + kMargin : kSideColumn;
  Expected<Canvas> canvas = Canvas::open(path, width, kHeight);
  if (!canvas) return unexpected(canvas.error());
  draw_titles(*canvas, content, width);
  if (content.axes[0].count() == 1 || content.axes[1].count() == 1) {
    draw_curve(*canvas, content);
  } else {
    draw_map(*canvas, content);
  }
  double y = kPlot.y;
  if (!content.detections.empty())
    y += draw_detection_table(*canvas, {kSideColumn, y, kSideWidth, kPlot.height}, content) + 30.0;
  if (content.correlation.channel_count > 0)
    draw_correlation(*canvas, {kSideColumn, y, kSideWidth, kPlot.bottom() + 38.0 - y}, content.correlation);
  return canvas->finish();
}

}  // namespace cornerturn
