#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dsp/chain/chain_plan.h"
#include "dsp/simulate/scene.h"
#include "dsp/stage/detection.h"
#include "dsp/vocabulary/product.h"
#include "src/result/result_sink.h"

namespace cornerturn {

/// How far a detection may lie from the truth and still belong to it, in cells of the map on each side.
struct ScoreGate {
  double range_cells = 1.5;
  double doppler_cells = 1.5;
};

/// Errors (found minus true) in one unit.
struct ErrorSummary {
  std::size_t count = 0;
  double bias = 0.0;   ///< mean
  double rmse = 0.0;   ///< root of the mean square, bias included
  double worst = 0.0;  ///< largest magnitude
};

/// One target of the truth over all CPIs.
struct TargetScore {
  SceneTarget truth;
  std::size_t in_view_count = 0;   ///< CPIs in which its range lies on the map's range axis
  std::size_t detected_count = 0;  ///< of these, CPIs with a detection inside the gate
  std::size_t miss_count() const { return in_view_count - detected_count; }
  bool folded = false;  ///< its range rate lies beyond the Doppler axis and is compared modulo the axis' span

  ErrorSummary range_m, range_cells;
  ErrorSummary range_rate_mps, doppler_cells;
  ErrorSummary azimuth_deg;  ///< of detections that have an angle
  /// SNR in the map: of the truth through the gains of the plan, and the mean (of powers) of the detections' own. These
  /// are lower for strong or close targets, whose sidelobes lie in the training cells.
  double expected_snr_db = 0.0;
  double measured_snr_db = 0.0;  ///< NaN without detections
};

/// All figures of a run. A detection inside no target's gate is one of:
/// extra: within `line_cells` of a target in range and in Doppler (a second peak of one response);
/// sidelobe: within `line_cells` of a target's range or of its Doppler bin (its responses spread along these lines);
/// false alarm: anywhere else. Pfa counts alarm cells (Detection::cell_count) of false alarms over the tested cells off
/// all targets' lines. Its interval takes cells as independent; windows make neighbours alike, so it is a little
/// narrow.
struct ScoreReport {
  ScoreGate gate;
  double line_cells = 3.0;
  std::size_t cpi_count = 0;
  std::vector<TargetScore> targets;
  std::size_t extra_count = 0;
  std::size_t sidelobe_count = 0;
  std::size_t false_alarm_count = 0;
  std::uint64_t false_alarm_cells = 0;
  std::uint64_t tested_cells = 0;
  double design_pfa = 0.0;
  double pfa = 0.0;
  double pfa_low = 0.0;  ///< Wilson 95 % interval
  double pfa_high = 1.0;
};

/// Interval that holds the true rate of `events` in `trials` with 95 % confidence (z = 1.959964).
/// Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22, 1927.
struct RateInterval {
  double low = 0.0;
  double high = 1.0;
};
RateInterval wilson_interval(std::uint64_t events, std::uint64_t trials);

/// SNR of a target in the map: 10 log10(1 + S/N) behind range and Doppler processing, from the plan's own weights:
/// S/N = A^2 / (noise power per sample * sum|w_range|^2 * sum|w_doppler|^2). The 1 is the noise in the peak's own cell.
double expected_map_snr_db(double snr_db, const ChainPlan& plan);

/// Compares detections with the truth at the middle of each CPI. Detections are given to targets nearest pair first
/// (distance in gates), each at most once.
/// Threads: one caller.
class Score {
 public:
  explicit Score(std::vector<SceneTarget> truth, const ScoreGate& gate = {});
  void accumulate(const CpiResult& result, const ChainPlan& plan);
  ScoreReport report() const;

 private:
  struct Sums {
    std::size_t count = 0;
    double sum = 0.0;
    double square_sum = 0.0;
    double worst = 0.0;
    void add(double error);
    ErrorSummary summary() const;
  };
  struct TargetSums {
    std::size_t in_view_count = 0;
    std::size_t detected_count = 0;
    bool folded = false;
    Sums range_m, range_cells, range_rate_mps, doppler_cells, azimuth_deg;
    double expected_snr_db = 0.0;
    double snr_power_sum = 0.0;
  };

  std::vector<SceneTarget> truth_;
  ScoreGate gate_;
  std::vector<TargetSums> sums_;
  ScoreReport totals_;
};

/// Text for people: one line per target, then misses, false alarms and Pfa.
std::string format_score(const ScoreReport& report);
/// The same for machines; figures that do not exist are null.
nlohmann::json score_json(const ScoreReport& report);

/// Scores a run while it goes on; begin() of a new configuration version goes on with the same figures.
class ScoreSink final : public ResultSink {
 public:
  explicit ScoreSink(std::vector<SceneTarget> truth, const ScoreGate& gate = {}) : score_(std::move(truth), gate) {}
  std::string name() const override { return "score"; }
  Expected<void> begin(const RunDescription& run) override;
  Expected<void> accept(const CpiResult& result) override;
  Expected<void> finish(bool complete) override;
  /// After finish(), or between two calls of accept() by the same thread.
  ScoreReport report() const { return score_.report(); }

 private:
  Score score_;
  std::shared_ptr<const ChainPlan> plan_;
};

}  // namespace cornerturn
