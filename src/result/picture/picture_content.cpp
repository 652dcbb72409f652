#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "dsp/vocabulary/units.h"
#include "src/result/picture/result_picture.h"
#include "src/result/picture/ticks.h"

namespace cornerturn {
namespace {

std::size_t strongest_gate(const PictureContent& content) {
  const std::size_t gate_count = content.axes.front().count();
  if (!content.detections.empty()) {
    const double position = content.axes.front().index_of(content.detections.front().range_m);
    return static_cast<std::size_t>(std::clamp(std::round(position), 0.0, static_cast<double>(gate_count - 1)));
  }
  const auto highest = std::max_element(content.power.begin(), content.power.end());
  return static_cast<std::size_t>(highest - content.power.begin()) / content.axes.back().count();
}

CorrelationView correlation_of(const Product* covariance, const PictureContent& content) {
  CorrelationView view;
  if (covariance == nullptr || covariance->storage != Storage::hermitian_lower || covariance->axes.size() != 3)
    return view;
  const std::size_t order = covariance->axes.back().count();
  const std::size_t gate = strongest_gate(content);
  if (order < 2 || gate >= covariance->axes.front().count()) return view;
  const std::size_t packed_size = order * (order + 1) / 2;
  const auto packed = covariance->values<std::complex<float>>().subspan(gate * packed_size, packed_size);
  const auto at = [&](std::size_t row, std::size_t column) { return packed[row * (row + 1) / 2 + column]; };
  view.channel_count = order;
  view.magnitude.resize(order * order);
  view.phase_deg.resize(order * order);
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column <= row; ++column) {
      const float power = std::sqrt(at(row, row).real() * at(column, column).real());
      const float magnitude = power > 0.0F ? std::abs(at(row, column)) / power : 0.0F;
      const float phase_deg = static_cast<float>(rad_to_deg(static_cast<double>(std::arg(at(row, column)))));
      view.magnitude[row * order + column] = magnitude;
      view.magnitude[column * order + row] = magnitude;
      view.phase_deg[row * order + column] = phase_deg;
      view.phase_deg[column * order + row] = row == column ? phase_deg : -phase_deg;
    }
  const Axis& range = covariance->axes.front();
  view.title = fmt::format("Channel correlation at {} {}",
                           decimal_text(range.coordinate(static_cast<double>(gate)), decimals_for(range.step())),
                           readable_unit(range.unit()));
  return view;
}

std::string subtitle_of(const CpiResult& result, const RunDescription& run, std::size_t detection_count) {
  std::vector<std::string> parts{fmt::format("CPI {}", result.header.index),
                                 fmt::format("t = {:.3f} s", result.header.start_time_s)};
  if (run.plan) {
    const CpiShape& shape = run.plan->shape;
    if (!run.plan->radar.sensor.empty()) parts.push_back(run.plan->radar.sensor);
    parts.push_back(fmt::format("{} channel{} \u00d7 {} pulse{} \u00d7 {} samples", shape.channel_count,
                                shape.channel_count == 1 ? "" : "s", shape.pulse_count,
                                shape.pulse_count == 1 ? "" : "s", shape.sample_count));
  }
  if (result.find("detection_range_m") != nullptr)
    parts.push_back(fmt::format("{} detection{}", detection_count, detection_count == 1 ? "" : "s"));
  if (result.quality.masked_samples > 0)
    parts.push_back(fmt::format("{} samples masked", result.quality.masked_samples));
  return fmt::format("{}", fmt::join(parts, " \u00b7 "));
}

std::string with_arrows(std::string chain) {
  for (std::size_t at = chain.find("->"); at != std::string::npos; at = chain.find("->", at))
    chain.replace(at, 2, "\u2192");
  return chain;
}

}  // namespace

PictureContent make_picture_content(const CpiResult& result, const RunDescription& run) {
  PictureContent content;
  const Product* map = result.find("range_doppler_power");
  if (map == nullptr || map->axes.size() != 2 || map->element_count() == 0) return content;
  content.axes = map->axes;
  const auto power = map->values<float>();
  content.power.assign(power.begin(), power.end());
  content.detections = read_detections(result);
  std::stable_sort(content.detections.begin(), content.detections.end(),
                   [](const Detection& a, const Detection& b) { return a.power_db > b.power_db; });
  content.correlation = correlation_of(result.find("covariance"), content);
  if (run.plan) content.full_scale_counts = run.plan->radar.full_scale_counts;
  const std::string capture = std::filesystem::path(run.capture_path).filename().string();
  content.title = capture.empty() ? "Live radar" : capture;
  content.subtitle = subtitle_of(result, run, content.detections.size());
  content.chain = with_arrows(run.chain_summary);
  return content;
}

}  // namespace cornerturn
