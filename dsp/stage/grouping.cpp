#include "dsp/stage/grouping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dsp/vocabulary/units.h"

namespace cornerturn {

namespace {

/// Vertex of a parabola through three levels: its place relative to the middle one and its rise above it.
struct Vertex {
  double offset = 0.0;
  double rise_db = 0.0;
};

Vertex parabola_vertex(float before, float peak, float after) {
  // A neighbour of no power would pull the level to minus infinity: 100 dB below the peak is as good as nothing.
  const auto level_db = [floor = 1e-10 * static_cast<double>(peak)](float power) {
    return power_to_db(std::max(static_cast<double>(power), floor));
  };
  const double left_db = level_db(before);
  const double middle_db = level_db(peak);
  const double right_db = level_db(after);
  const double curvature = left_db - 2.0 * middle_db + right_db;
  // A cell next to a higher one that raised no alarm is no peak of the map; it stays where it is.
  if (!(curvature < 0.0) || left_db > middle_db || right_db > middle_db) return {};
  const double offset = std::clamp(0.5 * (left_db - right_db) / curvature, -0.5, 0.5);
  return {offset, -0.25 * (left_db - right_db) * offset};
}

}  // namespace

DetectionGrouper::DetectionGrouper(const ChainConfig::Grouping& config, GroupingGeometry geometry,
                                   std::size_t alarm_capacity)
    : config_(config),
      geometry_(std::move(geometry)),
      parent_(alarm_capacity),
      cell_count_(alarm_capacity),
      is_peak_(alarm_capacity),
      peaks_(alarm_capacity) {}

std::uint32_t DetectionGrouper::root_of(std::uint32_t alarm) {
  while (parent_[alarm] != alarm) {
    parent_[alarm] = parent_[parent_[alarm]];
    alarm = parent_[alarm];
  }
  return alarm;
}

void DetectionGrouper::link(std::span<const CfarAlarm> alarms, std::uint32_t earlier, std::uint32_t later) {
  if (earlier == later) return;
  const std::uint32_t a = root_of(earlier);
  const std::uint32_t b = root_of(later);
  parent_[std::max(a, b)] = std::min(a, b);
  // On equal powers the earlier one stays a peak.
  if (alarms[later].power > alarms[earlier].power) {
    is_peak_[earlier] = 0;
  } else {
    is_peak_[later] = 0;
  }
}

void DetectionGrouper::link_neighbours(std::span<const CfarAlarm> alarms) {
  const auto bins = static_cast<std::int32_t>(geometry_.doppler_axis.count());
  // Alarms come in ascending order of (gate, bin): each gate's are a run, and only the run before can touch it.
  std::size_t previous_begin = 0;
  std::size_t begin = 0;
  while (begin < alarms.size()) {
    std::size_t end = begin + 1;
    while (end < alarms.size() && alarms[end].gate == alarms[begin].gate) ++end;
    const bool adjacent = begin > 0 && alarms[begin - 1].gate + 1 == alarms[begin].gate;
    const auto previous_line = adjacent ? alarms.subspan(previous_begin, begin - previous_begin) : alarms.first(0);

    const auto link_bin = [&](std::span<const CfarAlarm> line, std::size_t line_begin, std::int32_t bin,
                              std::uint32_t later) {
      const auto found =
          std::lower_bound(line.begin(), line.end(), bin,
                           [](const CfarAlarm& alarm, std::int32_t value) { return alarm.doppler_bin < value; });
      if (found != line.end() && found->doppler_bin == bin)
        link(alarms, static_cast<std::uint32_t>(line_begin + static_cast<std::size_t>(found - line.begin())), later);
    };
    for (std::size_t i = begin; i < end; ++i) {
      const auto later = static_cast<std::uint32_t>(i);
      const std::int32_t bin = alarms[i].doppler_bin;
      const auto own_line = alarms.subspan(begin, i - begin);
      for (std::int32_t shift = -1; shift <= 1; ++shift) {
        std::int32_t neighbour = bin + shift;
        if (geometry_.doppler_wraps) neighbour = (neighbour + bins) % bins;
        link_bin(previous_line, previous_begin, neighbour, later);
        link_bin(own_line, begin, neighbour, later);
      }
    }
    previous_begin = begin;
    begin = end;
  }
}

Detection DetectionGrouper::make_detection(MatrixView<const float> power, const CfarAlarm& alarm,
                                           std::uint32_t cell_count) const {
  const auto gate = static_cast<std::size_t>(alarm.gate);
  const auto bin = static_cast<std::size_t>(alarm.doppler_bin);
  const std::size_t gates = power.line_count();
  const std::size_t bins = power.element_count();
  const bool range_edge = gate == 0 || gate + 1 == gates;
  const bool doppler_end = bin == 0 || bin + 1 == bins;
  const bool doppler_edge = doppler_end && !geometry_.doppler_wraps;

  Vertex along_range;
  Vertex along_doppler;
  if (config_.enabled && config_.interpolate) {
    if (!range_edge) along_range = parabola_vertex(power(gate - 1, bin), alarm.power, power(gate + 1, bin));
    // With two bins both neighbours are the same cell.
    if (!doppler_edge && bins >= 3)
      along_doppler = parabola_vertex(power(gate, (bin + bins - 1) % bins), alarm.power, power(gate, (bin + 1) % bins));
  }

  Detection detection;
  detection.gate = alarm.gate;
  detection.doppler_bin = alarm.doppler_bin;
  detection.gate_position = static_cast<double>(gate) + along_range.offset;
  detection.doppler_position = static_cast<double>(bin) + along_doppler.offset;
  detection.range_rate_mps = geometry_.doppler_axis.coordinate(detection.doppler_position);
  detection.range_m = geometry_.gate_axis.coordinate(detection.gate_position) -
                      geometry_.range_coupling_m_per_bin * (detection.doppler_position - geometry_.zero_doppler_bin);
  detection.power_db = power_to_db(static_cast<double>(alarm.power)) + along_range.rise_db + along_doppler.rise_db;
  // A map without any noise (a simulated one, say) has training means of zero: the ratio stays a number.
  const double noise =
      std::max(static_cast<double>(alarm.noise_mean), static_cast<double>(std::numeric_limits<float>::min()));
  detection.snr_db = detection.power_db - power_to_db(noise);
  detection.azimuth_deg = std::numeric_limits<double>::quiet_NaN();
  detection.azimuth_bartlett_deg = std::numeric_limits<double>::quiet_NaN();
  detection.cell_count = static_cast<std::int32_t>(cell_count);
  detection.flags =
      static_cast<std::uint8_t>((range_edge ? kRangeEdge : 0) | (doppler_edge ? kDopplerEdge : 0) | kNoAngle);
  return detection;
}

std::size_t DetectionGrouper::process(MatrixView<const float> power, std::span<const CfarAlarm> alarms,
                                      std::span<Detection> out) {
  CORNERTURN_REQUIRE(alarms.size() <= parent_.size());
  CORNERTURN_REQUIRE(power.line_count() == geometry_.gate_axis.count() &&
                     power.element_count() == geometry_.doppler_axis.count());
  for (std::uint32_t i = 0; i < alarms.size(); ++i) {
    parent_[i] = i;
    cell_count_[i] = 0;
    is_peak_[i] = 1;
  }
  if (config_.enabled) link_neighbours(alarms);

  std::size_t peak_count = 0;
  for (std::uint32_t i = 0; i < alarms.size(); ++i) {
    ++cell_count_[root_of(i)];
    if (is_peak_[i] != 0) peaks_[peak_count++] = i;
  }

  const std::size_t kept = std::min({peak_count, config_.max_detections, out.size()});
  dropped_ = peak_count - kept;
  if (dropped_ > 0) {
    const auto begin = peaks_.begin();
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(kept), begin + static_cast<std::ptrdiff_t>(peak_count),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return alarms[a].power != alarms[b].power ? alarms[a].power > alarms[b].power : a < b;
                     });
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(kept));
  }
  for (std::size_t i = 0; i < kept; ++i)
    out[i] = make_detection(power, alarms[peaks_[i]], cell_count_[root_of(peaks_[i])]);
  return kept;
}

}  // namespace cornerturn
