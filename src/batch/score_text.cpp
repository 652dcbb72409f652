#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/score.h"

namespace cornerturn {
namespace {

std::string bias_and_rmse(const ErrorSummary& errors, int digits) {
  if (errors.count == 0) return "-";
  return fmt::format("{:+.{}f} / {:.{}f}", errors.bias, digits, errors.rmse, digits);
}

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json errors_json(const ErrorSummary& errors) {
  return {{"count", errors.count},
          {"bias", number(errors.bias)},
          {"rmse", number(errors.rmse)},
          {"worst", number(errors.worst)}};
}

nlohmann::json target_json(const TargetScore& target) {
  return {{"truth",
           {{"range_m", target.truth.range_m},
            {"range_rate_mps", target.truth.range_rate_mps},
            {"azimuth_deg", target.truth.azimuth_deg},
            {"snr_db", target.truth.snr_db},
            {"fluctuation", target.truth.fluctuation == Fluctuation::swerling1 ? "swerling1" : "swerling0"}}},
          {"in_view", target.in_view_count},
          {"detected", target.detected_count},
          {"missed", target.miss_count()},
          {"range_rate_folded", target.folded},
          {"range_m", errors_json(target.range_m)},
          {"range_cells", errors_json(target.range_cells)},
          {"range_rate_mps", errors_json(target.range_rate_mps)},
          {"doppler_cells", errors_json(target.doppler_cells)},
          {"azimuth_deg", errors_json(target.azimuth_deg)},
          {"expected_snr_db", number(target.expected_snr_db)},
          {"measured_snr_db", number(target.measured_snr_db)}};
}

}  // namespace

std::string format_score(const ScoreReport& report) {
  std::string text = fmt::format(
      "score of {} CPIs: a detection belongs to a target within {:g} range and {:g} Doppler cells\n"
      "errors are found minus true, bias / RMSE; worst error in range / Doppler cells; SNR in the map, expected / "
      "measured\n"
      "{:>9} {:>8} {:>7}  {:>8}  {:>17}  {:>17}  {:>15}  {:>11}  {:>13}\n",
      report.cpi_count, report.gate.range_cells, report.gate.doppler_cells, "range m", "rate m/s", "az deg", "found",
      "range m", "rate m/s", "azimuth deg", "worst cells", "SNR dB");
  auto out = std::back_inserter(text);
  std::size_t missed = 0;
  bool folded = false;
  for (const TargetScore& target : report.targets) {
    const std::string found = fmt::format("{}/{}", target.detected_count, target.in_view_count);
    const std::string snr = target.detected_count == 0
                                ? fmt::format("{:.1f} / -", target.expected_snr_db)
                                : fmt::format("{:.1f} / {:.1f}", target.expected_snr_db, target.measured_snr_db);
    const std::string worst = target.detected_count == 0 ? "-"
                                                         : fmt::format("{:.2f} / {:.2f}", target.range_cells.worst,
                                                                       target.doppler_cells.worst);
    fmt::format_to(out, "{:9.2f} {:8.2f} {:7.1f}  {:>8}  {:>17}  {:>17}  {:>15}  {:>11}  {:>13}{}\n",
                   target.truth.range_m, target.truth.range_rate_mps, target.truth.azimuth_deg, found,
                   bias_and_rmse(target.range_m, 3), bias_and_rmse(target.range_rate_mps, 3),
                   bias_and_rmse(target.azimuth_deg, 2), worst, snr, target.folded ? " *" : "");
    missed += target.miss_count();
    folded = folded || target.folded;
  }
  if (folded) text += "* beyond the Doppler axis: compared modulo its span\n";
  fmt::format_to(out,
                 "missed {}; false alarms {}; on the range or Doppler lines of targets (sidelobes) {}; second peaks of "
                 "targets {}\n",
                 missed, report.false_alarm_count, report.sidelobe_count, report.extra_count);
  if (report.tested_cells != 0)
    fmt::format_to(
        out, "Pfa {:.3g} (95 % interval {:.3g} to {:.3g}, design {:.3g}): {} alarm cells of {} off targets\n",
        report.pfa, report.pfa_low, report.pfa_high, report.design_pfa, report.false_alarm_cells, report.tested_cells);
  return text;
}

nlohmann::json score_json(const ScoreReport& report) {
  nlohmann::json targets = nlohmann::json::array();
  for (const TargetScore& target : report.targets) targets.push_back(target_json(target));
  return {{"cpis", report.cpi_count},
          {"gate_range_cells", report.gate.range_cells},
          {"gate_doppler_cells", report.gate.doppler_cells},
          {"line_cells", report.line_cells},
          {"targets", std::move(targets)},
          {"false_alarms", report.false_alarm_count},
          {"sidelobes", report.sidelobe_count},
          {"second_peaks", report.extra_count},
          {"false_alarm_cells", report.false_alarm_cells},
          {"tested_cells", report.tested_cells},
          {"pfa_design", report.design_pfa},
          {"pfa", report.tested_cells == 0 ? nlohmann::json(nullptr) : nlohmann::json(report.pfa)},
          {"pfa_low", report.pfa_low},
          {"pfa_high", report.pfa_high}};
}

}  // namespace cornerturn
