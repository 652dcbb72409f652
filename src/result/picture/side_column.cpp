#include "src/result/picture/side_column.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

double draw_detection_table(Canvas& canvas, const Box& box, const PictureContent& content) {
  std::vector<TableColumn> columns{{"range", "m", 62.0, 2, &Detection::range_m},
                                   {"rate", "m/s", 62.0, 2, &Detection::range_rate_mps},
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
  const TextStyle faint{.size = 10.5, .bold = false, .align = Align::start, .colour = kFaintInk};
  canvas.text({box.x, box.y + 27.0}, "magnitude between channels", faint);
  const double bar_room = 62.0;
  const double side = 2.0 * std::floor(std::min(box.width - 34.0 - bar_room, box.height - 36.0 - 42.0) / 2.0);
  const PlotFrame frame{{box.x + 34.0, box.y + 36.0, side, side},
                        {-0.5, static_cast<double>(view.channel_count) - 0.5},
                        {-0.5, static_cast<double>(view.channel_count) - 0.5}};
  const Axis channels = Axis::index("channel", view.channel_count);
  const Interval limits{0.0, 1.0};
  const auto pixels = static_cast<std::size_t>(side * Canvas::kPixelsPerUnit);
  canvas.image(draw_heat_map(view.magnitude, channels, channels, limits, pixels, pixels), frame.box);
  canvas.frame(frame.box, kInk, 1.0);
  // A tick for each channel, or for every few of them.
  const std::size_t step = (view.channel_count + 7) / 8;
  const TextStyle below{.size = 10.5, .bold = false, .align = Align::middle};
  const TextStyle beside{.size = 10.5, .bold = false, .align = Align::end};
  for (std::size_t channel = 0; channel < view.channel_count; channel += step) {
    const auto position = static_cast<double>(channel);
    canvas.text({frame.x(position), frame.box.bottom() + 14.0}, std::to_string(channel), below);
    canvas.text({frame.box.x - 5.0, frame.y(position) + 4.0}, std::to_string(channel), beside);
  }
  canvas.text({frame.box.x + side / 2.0, frame.box.bottom() + 30.0}, "channel", below);
  TextStyle turned = below;
  turned.upwards = true;
  canvas.text({box.x + 10.0, frame.box.y + side / 2.0}, "channel", turned);
  const Box bar{frame.box.right() + 12.0, frame.box.y, 12.0, side};
  draw_colour_bar(canvas, bar, limits, "");
}

}  // namespace cornerturn
