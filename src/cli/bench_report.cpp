#include "src/cli/bench_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/cli/quantity.h"
#include "src/cli/text_table.h"

namespace cornerturn {
namespace {

using Align = TextTable::Align;

std::string rate_text(double bytes_per_s) {
  return bytes_per_s > 0.0 ? fmt::format("{:.{}f}", 1e-9 * bytes_per_s, bytes_per_s < 1e10 ? 2 : 1) : "";
}
std::string share_text(double part, double whole) { return whole > 0.0 ? fmt::format("{:.3f}", part / whole) : ""; }

std::string binary_size(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 20)) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string format_access(const std::vector<AccessRate>& rates) {
  TextTable strided(
      {{"one word of 4 B in", Align::right}, {"GB/s used", Align::right}, {"of contiguous", Align::right}});
  double contiguous = 0.0;
  std::vector<std::size_t> windows;
  std::vector<std::size_t> granules;
  const auto add_new = [](std::vector<std::size_t>& list, std::size_t value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  };
  for (const AccessRate& rate : rates) {
    if (rate.pattern == AccessRate::Pattern::strided) {
      if (contiguous == 0.0) contiguous = rate.bytes_per_s;
      strided.add(
          {binary_size(rate.stride_bytes), rate_text(rate.bytes_per_s), share_text(rate.bytes_per_s, contiguous)});
    } else {
      add_new(windows, rate.window_bytes);
      add_new(granules, rate.granule_bytes);
    }
  }
  std::string text = "reads in place, strided\n" + strided.text();
  std::vector<TextTable::Column> columns{{"granule", Align::right}};
  for (const std::size_t window : windows) columns.push_back({"window " + binary_size(window), Align::right});
  TextTable random(columns);
  for (const std::size_t granule : granules) {
    std::vector<std::string> cells{binary_size(granule)};
    for (const std::size_t window : windows)
      for (const AccessRate& rate : rates)
        if (rate.pattern == AccessRate::Pattern::random && rate.granule_bytes == granule && rate.window_bytes == window)
          cells.push_back(rate_text(rate.bytes_per_s));
    random.add(std::move(cells));
  }
  return text + "reads in place, granules at random (GB/s used)\n" + random.text();
}

std::string format_streams(const std::vector<StreamRow>& rows) {
  TextTable table({{"workload"},
                   {"memory"},
                   {"slots filled"},
                   {"ms/CPI", Align::right},
                   {"GB/s", Align::right},
                   {"of limit", Align::right},
                   {"limit GB/s", Align::right},
                   {"which is"},
                   {"of copy engine", Align::right},
                   {"of in place beside results", Align::right}});
  for (const StreamRow& row : rows)
    table.add({row.workload, row.memory,
               row.rate.fill_bytes_per_s > 0.0
                   ? fmt::format("live, {} at {} GB/s", row.filling, rate_text(row.rate.fill_bytes_per_s))
                   : "before",
               fmt::format("{:.4g}", 1e3 * row.rate.cpi_s), rate_text(row.rate.bytes_per_s),
               share_text(row.rate.bytes_per_s, row.limit_bytes_per_s), rate_text(row.limit_bytes_per_s), row.limit,
               share_text(row.rate.bytes_per_s, row.copy_bytes_per_s),
               share_text(row.rate.bytes_per_s, row.beside_bytes_per_s)});
  return table.text();
}

std::string format_stages(const std::vector<StageRow>& rows) {
  std::string text;
  for (const StageRow& row : rows) {
    text += fmt::format("  {} {}:", row.workload, row.memory);
    for (const StageTime& stage : row.stages) text += fmt::format(" {} {:.4g},", stage.stage, 1e3 * stage.seconds);
    text.back() = '\n';
  }
  return text;
}

nlohmann::json link_json(const LinkRow& row) {
  return {{"bytes", row.bytes},
          {"results_bytes", row.results_bytes},
          {"copy_in", row.rates.copy_in},
          {"copy_out", row.rates.copy_out},
          {"copy_both_each_way", row.rates.copy_both},
          {"copy_in_beside_results", row.rates.copy_in_beside},
          {"pageable_in", row.rates.pageable_in},
          {"read_in_place", row.rates.read_in_place},
          {"read_in_place_beside_results", row.rates.read_in_place_beside},
          {"write_in_place", row.rates.write_in_place}};
}

}  // namespace

std::string format_link(const std::vector<LinkRow>& sizes, const std::vector<LinkRow>& results_back) {
  std::string text;
  if (!sizes.empty()) {
    TextTable table({{"buffer", Align::right},
                     {"copy in", Align::right},
                     {"copy back", Align::right},
                     {"both, each way", Align::right},
                     {"pageable in", Align::right},
                     {"read in place", Align::right},
                     {"written in place", Align::right},
                     {"in place / copy", Align::right}});
    for (const LinkRow& row : sizes)
      table.add({binary_size(row.bytes), rate_text(row.rates.copy_in), rate_text(row.rates.copy_out),
                 rate_text(row.rates.copy_both), rate_text(row.rates.pageable_in), rate_text(row.rates.read_in_place),
                 rate_text(row.rates.write_in_place), share_text(row.rates.read_in_place, row.rates.copy_in)});
    text += "link between host and GPU (GB/s)\n" + table.text();
  }
  if (!results_back.empty()) {
    TextTable table({{"results back, share of in", Align::right},
                     {"copy in", Align::right},
                     {"beside results", Align::right},
                     {"read in place", Align::right},
                     {"beside results", Align::right}});
    for (const LinkRow& row : results_back)
      table.add({share_text(static_cast<double>(row.results_bytes), static_cast<double>(row.bytes)),
                 rate_text(row.rates.copy_in), rate_text(row.rates.copy_in_beside), rate_text(row.rates.read_in_place),
                 rate_text(row.rates.read_in_place_beside)});
    text += "the same while results go back (GB/s)\n" + table.text();
  }
  return text;
}

std::string format_bench(const BenchReport& report) {
  std::string text = fmt::format("{}: {}\n", report.backend, report.device);
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  text += format_link(report.link, report.results_back);
  if (!report.access.empty()) text += format_access(report.access);
  if (!report.streams.empty())
    text += "sustained, detections and correlation matrices wanted\n" + format_streams(report.streams);
  if (!report.stages.empty()) text += "stages, one CPI at a time (ms)\n" + format_stages(report.stages);
  if (!report.latencies.empty()) {
    text += "latency of one CPI, enqueued to detections on the host\n";
    for (const LatencyRow& row : report.latencies)
      text += fmt::format("  {} {}: p50 {}, p99 {}\n", row.workload, row.memory, format_seconds(row.latency.p50_s),
                          format_seconds(row.latency.p99_s));
  }
  return text;
}

nlohmann::json bench_json(const BenchReport& report) {
  nlohmann::json json = {{"backend", report.backend}, {"device", report.device}, {"notes", report.notes}};
  for (const char* list : {"link", "results_back", "access", "streams", "stages", "latency"})
    json[list] = nlohmann::json::array();
  for (const LinkRow& row : report.link) json["link"].push_back(link_json(row));
  for (const LinkRow& row : report.results_back) json["results_back"].push_back(link_json(row));
  for (const AccessRate& rate : report.access)
    json["access"].push_back({{"pattern", rate.pattern == AccessRate::Pattern::strided ? "strided" : "random"},
                              {"granule_bytes", rate.granule_bytes},
                              {"stride_bytes", rate.stride_bytes},
                              {"window_bytes", rate.window_bytes},
                              {"bytes_per_s", rate.bytes_per_s}});
  for (const StreamRow& row : report.streams)
    json["streams"].push_back({{"workload", row.workload},
                               {"memory", row.memory},
                               {"filled", row.filling},
                               {"cpi_s", row.rate.cpi_s},
                               {"bytes_per_s", row.rate.bytes_per_s},
                               {"fill_bytes_per_s", row.rate.fill_bytes_per_s},
                               {"limit_bytes_per_s", row.limit_bytes_per_s},
                               {"limit", row.limit},
                               {"copy_engine_bytes_per_s", row.copy_bytes_per_s},
                               {"in_place_beside_results_bytes_per_s", row.beside_bytes_per_s},
                               {"strategy", row.rate.strategy}});
  for (const StageRow& row : report.stages) {
    nlohmann::json stages = nlohmann::json::object();
    for (const StageTime& stage : row.stages) stages[stage.stage] = stage.seconds;
    json["stages"].push_back({{"workload", row.workload}, {"memory", row.memory}, {"seconds", std::move(stages)}});
  }
  for (const LatencyRow& row : report.latencies)
    json["latency"].push_back({{"workload", row.workload},
                               {"memory", row.memory},
                               {"p50_s", row.latency.p50_s},
                               {"p99_s", row.latency.p99_s}});
  return json;
}

}  // namespace cornerturn
