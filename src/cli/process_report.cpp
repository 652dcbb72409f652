#include "src/cli/process_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/chain_summary.h"
#include "src/cli/capture_text.h"
#include "src/cli/quantity.h"
#include "src/cli/text_table.h"

namespace cornerturn {
namespace {

using Align = TextTable::Align;

std::string figure(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::string text = fmt::format("{:.{}f}", value, decimals);
  // "-0.000" is a zero like any other.
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string cpis(std::uint64_t count) { return fmt::format("{} CPI{}", count, count == 1 ? "" : "s"); }

// The chain under its heading, broken between stages.
std::string format_chain(const std::string& summary, const std::vector<std::string>& notes) {
  constexpr std::string_view kArrow = " -> ";
  constexpr std::size_t kColumns = 88;
  std::string text = "  chain       ";
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < summary.size();) {
    const std::size_t end = std::min(summary.find(kArrow, begin), summary.size());
    const std::string stage = summary.substr(begin, end - begin) + (end < summary.size() ? " ->" : "");
    if (column != 0 && column + stage.size() > kColumns) {
      text += "\n              ";
      column = 0;
    }
    text += (column == 0 ? "" : " ") + stage;
    column += stage.size() + 1;
    begin = end + kArrow.size();
  }
  text += '\n';
  for (const std::string& note : notes) text += fmt::format("              {}\n", note);
  return text;
}

/// Backend, device, memory strategy with its reason, and why this backend where it was not the first choice.
std::string format_backend(const BackendInfo& backend, const std::string& note) {
  std::string text = fmt::format("  backend     {}: {}\n", backend.name, backend.device);
  if (backend.name != "cpu") text += fmt::format("  memory      {}\n", backend.strategy);
  if (!note.empty()) text += fmt::format("              {}\n", note);
  return text;
}

std::string format_throughput(const JobReport& report) {
  const StatisticsSnapshot& statistics = report.session.statistics;
  const RunRates rates = rates_of(report);
  std::string text =
      fmt::format("  processed   {} in {}: {:.4g} CPI/s, {}/s", cpis(statistics.processed),
                  format_seconds(statistics.elapsed_s), rates.cpis_per_s, format_bytes(rates.bytes_per_s));
  if (rates.real_time_factor > 0.0) text += fmt::format(", {:.3g} x real time", rates.real_time_factor);
  text += "\n" + format_backend(report.session.backend, report.backend_note);
  if (statistics.dropped.total() == 0) return text;
  text += fmt::format("  dropped     {} of {} CPIs:", statistics.dropped.total(), statistics.cpis_in);
  for (std::size_t cause = 0; cause < kDropCauseCount; ++cause)
    if (statistics.dropped.by_cause[cause] != 0)
      text += fmt::format(" {} {}", statistics.dropped.by_cause[cause], to_string(static_cast<DropCause>(cause)));
  return text + "\n";
}

std::string format_quality(const SampleQuality& quality) {
  std::string text;
  if (quality.masked_samples != 0)
    text += fmt::format("  samples     {} masked (NaN, Inf or missing)\n", quality.masked_samples);
  if (quality.saturated_samples != 0)
    text += fmt::format("  samples     {} at the end of the converter's range\n", quality.saturated_samples);
  if (quality.zero_channels != 0)
    text += fmt::format("  channels    {} without any signal: false alarms are more than Pfa says\n",
                        quality.zero_channels);
  return text;
}

std::string format_detections(const DetectionDigest& digest) {
  std::string text = fmt::format("  detections  {} in {}", digest.detection_count, cpis(digest.cpi_count));
  if (!digest.shown) return text + "\n";
  text += digest.shown_cpi_detection_count > digest.detections.size()
              ? fmt::format("; the strongest {} of the {} of CPI {} (t = {}):\n", digest.detections.size(),
                            digest.shown_cpi_detection_count, digest.shown_cpi, format_seconds(digest.shown_time_s))
              : fmt::format("; those of CPI {} (t = {}):\n", digest.shown_cpi, format_seconds(digest.shown_time_s));
  TextTable table({{"range m", Align::right},
                   {"range rate m/s", Align::right},
                   {"azimuth deg", Align::right},
                   {"SNR dB", Align::right},
                   {"power dB", Align::right},
                   {"", Align::left}});
  for (const Detection& detection : digest.detections)
    table.add({figure(detection.range_m, 3), figure(detection.range_rate_mps, 3),
               (detection.flags & kNoAngle) != 0 ? "-" : figure(detection.azimuth_deg, 2), figure(detection.snr_db, 1),
               figure(detection.power_db, 1), (detection.flags & kAngleDoubtful) != 0 ? "angle doubtful" : ""});
  return text + table.text(4);
}

nlohmann::json detection_json(const Detection& detection) {
  return {{"range_m", detection.range_m},
          {"range_rate_mps", detection.range_rate_mps},
          {"azimuth_deg", detection.azimuth_deg},
          {"azimuth_bartlett_deg", detection.azimuth_bartlett_deg},
          {"snr_db", detection.snr_db},
          {"power_db", detection.power_db},
          {"gate_position", detection.gate_position},
          {"doppler_position", detection.doppler_position},
          {"cell_count", detection.cell_count},
          {"flags", detection.flags}};
}

nlohmann::json statistics_json(const JobReport& report) {
  const StatisticsSnapshot& statistics = report.session.statistics;
  const RunRates rates = rates_of(report);
  nlohmann::json dropped = nlohmann::json::object();
  for (std::size_t cause = 0; cause < kDropCauseCount; ++cause)
    dropped[std::string(to_string(static_cast<DropCause>(cause)))] = statistics.dropped.by_cause[cause];
  nlohmann::json stages = nlohmann::json::object();
  for (const StageTime& stage : report.session.stage_times) stages[stage.stage] = stage.seconds;
  nlohmann::json json = {{"cpis_in", statistics.cpis_in},
                         {"cpis_processed", statistics.processed},
                         {"cpis_dropped", std::move(dropped)},
                         {"elapsed_s", statistics.elapsed_s},
                         {"cpis_per_s", rates.cpis_per_s},
                         {"bytes_per_s", rates.bytes_per_s},
                         {"samples_per_s", statistics.samples_per_s},
                         {"latency_p50_s", statistics.latency_p50_s},
                         {"latency_p99_s", statistics.latency_p99_s},
                         {"stage_s", std::move(stages)}};
  if (rates.real_time_factor > 0.0) json["real_time_factor"] = rates.real_time_factor;
  return json;
}

}  // namespace

RunRates rates_of(const JobReport& report) {
  const StatisticsSnapshot& statistics = report.session.statistics;
  if (statistics.elapsed_s <= 0.0) return {};
  const double cpis = static_cast<double>(statistics.processed);
  return {cpis / statistics.elapsed_s, cpis * static_cast<double>(report.info.slot_bytes) / statistics.elapsed_s,
          cpis * report.info.cpi_period_s / statistics.elapsed_s};
}

std::string format_report(const JobReport& report) {
  std::string text = fmt::format("{}\n", report.info.path);
  text += fmt::format("  capture     {}{}{}\n", report.info.format, report.info.radar.sensor.empty() ? "" : ", ",
                      report.info.radar.sensor);
  text += fmt::format("              {}\n", describe_shape(report.info));
  text += format_chain(report.chain_summary, report.notes);
  text += format_throughput(report);
  text += format_quality(report.digest.quality);
  text += format_detections(report.digest);
  if (report.score) text += format_score(*report.score);
  for (const std::string& file : report.files) text += fmt::format("  wrote       {}\n", file);
  return text;
}

nlohmann::json report_json(const JobReport& report) {
  nlohmann::json detections = nlohmann::json::array();
  for (const Detection& detection : report.digest.detections) detections.push_back(detection_json(detection));
  nlohmann::json json = {
      {"path", report.info.path},
      {"format", report.info.format},
      {"capture_hash", report.capture_hash},
      {"chain", report.chain_summary},
      {"notes", report.notes},
      {"backend", report.session.backend.name},
      {"device", report.session.backend.device},
      {"memory_strategy", report.session.backend.strategy},
      {"backend_note", report.backend_note},
      {"interrupted", report.session.interrupted},
      {"statistics", statistics_json(report)},
      {"masked_samples", report.digest.quality.masked_samples},
      {"saturated_samples", report.digest.quality.saturated_samples},
      {"zero_channels", report.digest.quality.zero_channels},
      {"detection_count", report.digest.detection_count},
      {"strongest", {{"cpi", report.digest.shown_cpi}, {"detections", std::move(detections)}}},
      {"files", report.files},
  };
  if (report.score) json["score"] = score_json(*report.score);
  if (report.session.error) json["error"] = report.session.error->message();
  if (report.session.first_cpi_error) json["first_cpi_error"] = report.session.first_cpi_error->message();
  return json;
}

std::string format_estimate(const Job& job, const JobEstimate& estimate) {
  const auto bytes = [](std::size_t count) { return format_bytes(static_cast<double>(count)); };
  std::string text = fmt::format("{}: dry run, nothing is written\n", job.info.path);
  text += fmt::format("  capture     {}\n              {}\n", job.info.format, describe_shape(job.info));
  text += format_chain(summarise_chain(job.plan), job.plan.notes);
  text += fmt::format("  map         {} gates x {} range rates\n", job.plan.gate_axis.count(),
                      job.plan.doppler_axis.count());
  text += format_backend(estimate.backend, estimate.backend_note);
  text += fmt::format("  memory      {}: {} input, {} work, {} results", bytes(estimate.memory_bytes()),
                      bytes(estimate.input_bytes), bytes(estimate.work_bytes), bytes(estimate.result_bytes));
  if (estimate.available_bytes != 0) text += fmt::format("; {} available", bytes(estimate.available_bytes));
  text += '\n';
  if (estimate.cpi_s > 0.0)
    text += fmt::format("  time        {} per CPI (measured), {} for {} without reading and writing\n",
                        format_seconds(estimate.cpi_s), format_seconds(estimate.total_s), cpis(estimate.cpi_count));
  if (estimate.cpi_count != 0) text += fmt::format("  results     about {}\n", bytes(estimate.output_bytes));
  return text;
}

nlohmann::json estimate_json(const Job& job, const JobEstimate& estimate) {
  return {{"path", job.info.path},
          {"dry_run", true},
          {"chain", summarise_chain(job.plan)},
          {"notes", job.plan.notes},
          {"cpi_count", estimate.cpi_count},
          {"gate_count", job.plan.gate_axis.count()},
          {"doppler_count", job.plan.doppler_axis.count()},
          {"memory_bytes", estimate.memory_bytes()},
          {"input_bytes", estimate.input_bytes},
          {"work_bytes", estimate.work_bytes},
          {"result_bytes", estimate.result_bytes},
          {"available_bytes", estimate.available_bytes},
          {"output_bytes", estimate.output_bytes},
          {"cpi_s", estimate.cpi_s},
          {"total_s", estimate.total_s},
          {"backend", estimate.backend.name},
          {"device", estimate.backend.device},
          {"memory_strategy", estimate.backend.strategy},
          {"backend_note", estimate.backend_note}};
}

}  // namespace cornerturn
