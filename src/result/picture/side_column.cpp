#include "src/result/picture/side_column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "src/result/picture/plot_frame.h"
#include "src/result/picture/ticks.h"

namespace cornerturn {
namespace {

constexpr double kRowHeight = 17.0;
constexpr TextStyle kHeading{.size = 12.5, .bold = true};

struct TableColumn {
  const char* heading;
  const char* unit;
  double width;
  int decimals;
  double Detection::*member;
};

/// One of the matrices: its values, their colours and the labels of low, middle and high.
struct MatrixLook {
  const char* heading;
  std::span<const float> values;
  Interval limits;
  Colour (*colour)(double);
  std::array<const char*, 3> labels;
};

/// Draws a matrix into the square `box`, row 0 at the top as matrices are written, and a bar of its colours under it.
void draw_matrix(Canvas& canvas, const Box& box, const CorrelationView& view, const MatrixLook& look) {
  const TextStyle text{.size = 10.0, .bold = false, .align = Align::middle};
  const TextStyle beside{.size = 10.0, .bold = false, .align = Align::end};
  const TextStyle faint{.size = 10.5, .bold = false, .align = Align::start, .colour = kFaintInk};
  const std::size_t order = view.channel_count;
  canvas.text({box.x, box.y - 6.0}, look.heading, faint);
  const auto pixels = static_cast<std::size_t>(box.width * Canvas::kPixelsPerUnit);
  PixelImage image{pixels, pixels, std::vector<std::uint32_t>(pixels * pixels)};
  for (std::size_t y = 0; y < pixels; ++y)
    for (std::size_t x = 0; x < pixels; ++x) {
      const float value = look.values[y * order / pixels * order + x * order / pixels];
      image.pixels[y * pixels + x] = packed(look.colour(look.limits.part(static_cast<double>(value))));
    }
  canvas.image(image, box);
  canvas.frame(box, kInk, 1.0);
  const double cell = box.width / static_cast<double>(order);
  const std::size_t step = (order + 7) / 8;  // a label for each channel, or for every few of them
  for (std::size_t channel = 0; channel < order; channel += step) {
    const double middle = cell * (static_cast<double>(channel) + 0.5);
    canvas.text({box.x + middle, box.bottom() + 12.0}, std::to_string(channel), text);
    canvas.text({box.x - 4.0, box.y + middle + 3.5}, std::to_string(channel), beside);
  }
  const Box bar{box.x, box.bottom() + 22.0, box.width, 8.0};
  PixelImage colours{pixels, 8, std::vector<std::uint32_t>(pixels * 8)};
  for (std::size_t pixel = 0; pixel < colours.pixels.size(); ++pixel)
    colours.pixels[pixel] = packed(look.colour(static_cast<double>(pixel % pixels) / static_cast<double>(pixels - 1)));
  canvas.image(colours, bar);
  canvas.frame(bar, kInk, 0.8);
  constexpr std::array<Align, 3> kAligns{Align::start, Align::middle, Align::end};
  for (std::size_t label = 0; label < look.labels.size(); ++label) {
    TextStyle aligned = text;
    aligned.align = kAligns[label];
    canvas.text({bar.x + 0.5 * static_cast<double>(label) * bar.width, bar.bottom() + 12.0}, look.labels[label],
                aligned);
  }
}

}  // namespace

double draw_detection_table(Canvas& canvas, const Box& box, const PictureContent& content) {
  std::vector<TableColumn> columns{
      {"range", "m", 62.0, decimals_for(content.axes[0].step()), &Detection::range_m},
      {"rate", "m/s", 62.0, decimals_for(content.axes[1].step()), &Detection::range_rate_mps},
      {"SNR", "dB", 52.0, 1, &Detection::snr_db}};
  if (std::any_of(content.detections.begin(), content.detections.end(),
                  [](const Detection& detection) { return std::isfinite(detection.azimuth_deg); }))
    columns.push_back({"azimuth", "\u00b0", 64.0, 1, &Detection::azimuth_deg});

  double y = box.y + 11.0;
  canvas.text({box.x, y}, "Strongest detections", kHeading);
  y += kRowHeight + 3.0;
  constexpr double kNumberWidth = 22.0;
  const TextStyle faint{.size = 10.5, .bold = false, .align = Align::end, .colour = kFaintInk};
  const TextStyle number{.size = 11.0, .bold = false, .align = Align::end, .colour = kInk};
  double right = box.x + kNumberWidth;
  for (const TableColumn& column : columns) {
    right += column.width;
    canvas.text({right, y}, column.heading, faint);
    canvas.text({right, y + 13.0}, column.unit, faint);
  }
  canvas.line(std::vector<Point>{{box.x, y + 19.0}, {right, y + 19.0}}, kFaintInk, 0.8);
  y += 19.0;

  const std::size_t rows = std::min(content.detections.size(), kNumberedDetections);
  for (std::size_t row = 0; row < rows; ++row) {
    y += kRowHeight;
    TextStyle bold = number;
    bold.bold = true;
    canvas.text({box.x + 16.0, y}, std::to_string(row + 1), bold);
    right = box.x + kNumberWidth;
    for (const TableColumn& column : columns) {
      right += column.width;
      const double value = content.detections[row].*column.member;
      canvas.text({right, y}, std::isfinite(value) ? decimal_text(value, column.decimals) : "\u2013", number);
    }
  }
  if (content.detections.size() > rows) {
    y += kRowHeight;
    const TextStyle note{.size = 10.5, .bold = false, .align = Align::start, .colour = kFaintInk};
    canvas.text({box.x, y}, fmt::format("and {} more", content.detections.size() - rows), note);
  }
  return y - box.y;
}

void draw_correlation(Canvas& canvas, const Box& box, const CorrelationView& view) {
  canvas.text({box.x, box.y + 11.0}, view.title, kHeading);
  constexpr double kGap = 30.0;
  constexpr double kAbove = 34.0;
  constexpr double kLeft = 24.0;
  const double side = 2.0 * std::floor((box.width - kLeft - kGap) / 4.0);
  const Box first{box.x + kLeft, box.y + kAbove, side, side};
  const Box second{first.right() + kGap, first.y, side, side};
  draw_matrix(canvas, first, view, {"magnitude", view.magnitude, {0.0, 1.0}, viridis, {"0", "0.5", "1"}});
  draw_matrix(canvas, second, view,
              {"phase", view.phase_deg, {-180.0, 180.0}, twilight, {"\u2212180\u00b0", "0\u00b0", "180\u00b0"}});
}

}  // namespace cornerturn
