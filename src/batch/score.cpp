#include "src/batch/score.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Where a target stands on the map of one CPI.
struct MapPosition {
  bool in_view = false;
  bool folded = false;
  double range_m = 0.0;
  double range_rate_mps = 0.0;
  double gate = 0.0;
  double bin = 0.0;
};

/// `bin` or what it wraps to, in [-1/2, count - 1/2).
double wrapped_bin(double bin, double count) { return bin - count * std::floor((bin + 0.5) / count); }

/// The shorter way between two bins of a spectrum that wraps.
double bin_difference(double bin, double from, double count) { return std::remainder(bin - from, count); }

MapPosition position_of(const SceneTarget& target, double time_s, const ChainPlan& plan) {
  MapPosition position;
  position.range_m = target.range_m + target.range_rate_mps * time_s;
  position.gate = plan.gate_axis.index_of(position.range_m);
  position.in_view = position.gate >= -0.5 && position.gate < static_cast<double>(plan.gate_count) - 0.5;
  const double bin = plan.doppler_axis.index_of(target.range_rate_mps);
  position.bin = wrapped_bin(bin, static_cast<double>(plan.doppler_axis.count()));
  position.folded = std::abs(position.bin - bin) > 0.5;
  position.range_rate_mps = plan.doppler_axis.coordinate(position.bin);
  return position;
}

/// Detection and target that may belong together.
struct Pair {
  std::size_t target = 0;
  std::size_t detection = 0;
  double distance = 0.0;  // in gates of the score, 0 .. sqrt(2)
};

struct CellError {
  double range_cells = 0.0;
  double doppler_cells = 0.0;
};

/// Range in cells comes from the metres, which are corrected for range-Doppler coupling; the gate position is not.
CellError cell_error(const Detection& detection, const MapPosition& position, const ChainPlan& plan) {
  return {plan.gate_axis.index_of(detection.range_m) - position.gate,
          bin_difference(detection.doppler_position, position.bin, static_cast<double>(plan.doppler_axis.count()))};
}

std::vector<Pair> pairs_nearest_first(const std::vector<Detection>& detections,
                                      const std::vector<MapPosition>& positions, const ChainPlan& plan,
                                      const ScoreGate& gate) {
  std::vector<Pair> pairs;
  for (std::size_t target = 0; target < positions.size(); ++target) {
    if (!positions[target].in_view) continue;
    for (std::size_t detection = 0; detection < detections.size(); ++detection) {
      const CellError error = cell_error(detections[detection], positions[target], plan);
      const double range = std::abs(error.range_cells) / gate.range_cells;
      const double doppler = std::abs(error.doppler_cells) / gate.doppler_cells;
      if (range <= 1.0 && doppler <= 1.0) pairs.push_back({target, detection, std::hypot(range, doppler)});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& left, const Pair& right) { return left.distance < right.distance; });
  return pairs;
}

/// Cells off the lines of all targets in view: those in which an alarm can only be a false one.
std::uint64_t cells_off_lines(const std::vector<MapPosition>& positions, const ChainPlan& plan, double line_cells) {
  const std::size_t bin_count = plan.doppler_axis.count();
  std::uint64_t free_gates = 0;
  std::uint64_t free_bins = 0;
  for (std::size_t gate = 0; gate < plan.gate_count; ++gate)
    free_gates += std::none_of(positions.begin(), positions.end(), [&](const MapPosition& position) {
      return position.in_view && std::abs(static_cast<double>(gate) - position.gate) <= line_cells;
    });
  for (std::size_t bin = 0; bin < bin_count; ++bin)
    free_bins += std::none_of(positions.begin(), positions.end(), [&](const MapPosition& position) {
      const double distance = bin_difference(static_cast<double>(bin), position.bin, static_cast<double>(bin_count));
      return position.in_view && std::abs(distance) <= line_cells;
    });
  return free_gates * free_bins;
}

/// What a detection that belongs to no target is.
enum class StrayKind { extra, sidelobe, false_alarm };

StrayKind stray_kind(const Detection& detection, const std::vector<MapPosition>& positions, const ChainPlan& plan,
                     double line_cells) {
  StrayKind kind = StrayKind::false_alarm;
  for (const MapPosition& position : positions) {
    if (!position.in_view) continue;
    const bool on_gate = std::abs(static_cast<double>(detection.gate) - position.gate) <= line_cells;
    const bool on_bin = std::abs(bin_difference(detection.doppler_bin, position.bin,
                                                static_cast<double>(plan.doppler_axis.count()))) <= line_cells;
    if (on_gate && on_bin) return StrayKind::extra;
    if (on_gate || on_bin) kind = StrayKind::sidelobe;
  }
  return kind;
}

}  // namespace

RateInterval wilson_interval(std::uint64_t events, std::uint64_t trials) {
  if (trials == 0) return {};
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(trials);
  const double rate = static_cast<double>(events) / n;
  const double centre = rate + kZ * kZ / (2.0 * n);
  const double half = kZ * std::sqrt(rate * (1.0 - rate) / n + kZ * kZ / (4.0 * n * n));
  const double scale = 1.0 + kZ * kZ / n;
  // At the ends rounding may leave a hair outside of [0, 1].
  return {events == 0 ? 0.0 : (centre - half) / scale, events == trials ? 1.0 : (centre + half) / scale};
}

double expected_map_snr_db(double snr_db, const ChainPlan& plan) {
  double range_power = 0.0;
  for (const float weight : plan.range_window) range_power += static_cast<double>(weight) * weight;
  for (const std::complex<float> weight : plan.matched_replica) range_power += std::norm(std::complex<double>(weight));
  if (plan.range_window.empty() && plan.matched_replica.empty()) range_power = 1.0;
  double doppler_power = 0.0;
  for (const float weight : plan.doppler_window) doppler_power += static_cast<double>(weight) * weight;
  // snr_db is A^2 over 2 sigma^2 with complex samples, A^2 / 2 over sigma^2 with real ones.
  const double sampling = plan.layout.complex_samples ? 1.0 : 2.0;
  return power_to_db(1.0 + sampling * db_to_power(snr_db) / (range_power * doppler_power));
}

void Score::Sums::add(double error) {
  ++count;
  sum += error;
  square_sum += error * error;
  worst = std::max(worst, std::abs(error));
}

ErrorSummary Score::Sums::summary() const {
  if (count == 0) return {0, kNan, kNan, kNan};
  const auto n = static_cast<double>(count);
  return {count, sum / n, std::sqrt(square_sum / n), worst};
}

Score::Score(std::vector<SceneTarget> truth, const ScoreGate& gate)
    : truth_(std::move(truth)), gate_(gate), sums_(truth_.size()) {}

void Score::accumulate(const CpiResult& result, const ChainPlan& plan) {
  const double half_cpi_s = 0.5 * static_cast<double>(plan.shape.pulse_count - 1) * plan.radar.waveform.pri_s;
  const double time_s = result.header.start_time_s + half_cpi_s;
  std::vector<MapPosition> positions;
  for (const SceneTarget& target : truth_) positions.push_back(position_of(target, time_s, plan));
  const std::vector<Detection> detections = read_detections(result);

  std::vector<bool> target_done(truth_.size());
  std::vector<bool> detection_done(detections.size());
  for (const Pair& pair : pairs_nearest_first(detections, positions, plan, gate_)) {
    if (target_done[pair.target] || detection_done[pair.detection]) continue;
    target_done[pair.target] = true;
    detection_done[pair.detection] = true;
    const Detection& detection = detections[pair.detection];
    const MapPosition& position = positions[pair.target];
    const CellError error = cell_error(detection, position, plan);
    TargetSums& sums = sums_[pair.target];
    ++sums.detected_count;
    sums.range_m.add(detection.range_m - position.range_m);
    sums.range_cells.add(error.range_cells);
    sums.range_rate_mps.add(error.doppler_cells * plan.doppler_axis.step());
    sums.doppler_cells.add(error.doppler_cells);
    if (std::isfinite(detection.azimuth_deg) && (detection.flags & kNoAngle) == 0)
      sums.azimuth_deg.add(detection.azimuth_deg - truth_[pair.target].azimuth_deg);
    sums.snr_power_sum += db_to_power(detection.snr_db);
  }
  for (std::size_t target = 0; target < truth_.size(); ++target) {
    sums_[target].in_view_count += positions[target].in_view ? 1 : 0;
    sums_[target].folded = positions[target].folded;
    sums_[target].expected_snr_db = expected_map_snr_db(truth_[target].snr_db, plan);
  }

  ++totals_.cpi_count;
  totals_.design_pfa = plan.config.cfar.pfa;
  totals_.tested_cells += cells_off_lines(positions, plan, totals_.line_cells);
  for (std::size_t index = 0; index < detections.size(); ++index) {
    if (detection_done[index]) continue;
    switch (stray_kind(detections[index], positions, plan, totals_.line_cells)) {
      case StrayKind::extra:
        ++totals_.extra_count;
        break;
      case StrayKind::sidelobe:
        ++totals_.sidelobe_count;
        break;
      case StrayKind::false_alarm:
        ++totals_.false_alarm_count;
        totals_.false_alarm_cells += static_cast<std::uint64_t>(std::max(detections[index].cell_count, 1));
        break;
    }
  }
}

ScoreReport Score::report() const {
  ScoreReport report = totals_;
  report.gate = gate_;
  if (report.tested_cells != 0) {
    // A group may reach over the edge of a line, so that alarm cells could outnumber the cells beside it.
    const std::uint64_t alarms = std::min(report.false_alarm_cells, report.tested_cells);
    report.pfa = static_cast<double>(alarms) / static_cast<double>(report.tested_cells);
    const RateInterval interval = wilson_interval(alarms, report.tested_cells);
    report.pfa_low = interval.low;
    report.pfa_high = interval.high;
  }
  for (std::size_t index = 0; index < truth_.size(); ++index) {
    const TargetSums& sums = sums_[index];
    TargetScore target;
    target.truth = truth_[index];
    target.in_view_count = sums.in_view_count;
    target.detected_count = sums.detected_count;
    target.folded = sums.folded;
    target.range_m = sums.range_m.summary();
    target.range_cells = sums.range_cells.summary();
    target.range_rate_mps = sums.range_rate_mps.summary();
    target.doppler_cells = sums.doppler_cells.summary();
    target.azimuth_deg = sums.azimuth_deg.summary();
    target.expected_snr_db = sums.expected_snr_db;
    target.measured_snr_db =
        sums.detected_count == 0 ? kNan : power_to_db(sums.snr_power_sum / static_cast<double>(sums.detected_count));
    report.targets.push_back(target);
  }
  return report;
}

Expected<void> ScoreSink::begin(const RunDescription& run) {
  plan_ = run.plan;
  return {};
}

Expected<void> ScoreSink::accept(const CpiResult& result) {
  score_.accumulate(result, *plan_);
  return {};
}

Expected<void> ScoreSink::finish(bool /*complete*/) { return {}; }

}  // namespace cornerturn
