#include "src/capture/a121_settings.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace cornerturn {
namespace {

using Json = nlohmann::json;

double number_or_zero(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

}  // namespace

SubsweepRun rising_run(const A121Settings& settings, std::size_t first) {
  SubsweepRun run;
  run.first = first;
  for (std::size_t i = 0; i < first; ++i) run.first_point += settings.subsweep_gates_m[i].size();
  for (std::size_t i = first; i < settings.subsweep_gates_m.size(); ++i) {
    const std::vector<double>& gates = settings.subsweep_gates_m[i];
    if (!run.gates_m.empty() && !(gates.front() > run.gates_m.back())) break;
    run.gates_m.insert(run.gates_m.end(), gates.begin(), gates.end());
    ++run.count;
  }
  return run;
}

A121Settings parse_a121_settings(const std::string& session_text, const std::string& metadata_text) {
  const Json session = Json::parse(session_text);
  const Json metadata = Json::parse(metadata_text);
  A121Settings settings;
  const Json& groups = session.at("groups");
  for (const Json& group : groups) settings.entries += group.size();
  settings.entries -= 1;
  const Json& first_group = groups.at(0);
  if (!first_group.is_object() || first_group.empty()) throw std::out_of_range("no sensor in the first group");
  const Json& sensor = first_group.begin().value();
  settings.sweeps_per_frame = sensor.at("sweeps_per_frame").get<std::size_t>();
  settings.continuous = sensor.value("continuous_sweep_mode", false);
  const double step_m = metadata.at("base_step_length_m").get<double>();

  // Subsweeps follow each other along the point axis, each with a start and a step of its own.
  constexpr double kMostPoints = 65536;  // in all
  for (const Json& subsweep : sensor.at("subsweeps")) {
    const double start = subsweep.at("start_point").get<double>();
    const double step = subsweep.at("step_length").get<double>();
    const double count = subsweep.at("num_points").get<double>();
    const double last_m = (start + count * step) * step_m;
    if (!(count >= 1.0 && count + static_cast<double>(settings.points) <= kMostPoints && step * step_m > 0.0 &&
          std::isfinite(last_m)))
      throw std::out_of_range("subsweep with no points, too many, or a step that is not above 0");
    std::vector<double> gates_m;
    for (double point = 0.0; point < count; point += 1.0) gates_m.push_back((start + point * step) * step_m);
    settings.points += gates_m.size();
    settings.subsweep_gates_m.push_back(std::move(gates_m));
  }
  if (settings.subsweep_gates_m.empty()) throw std::out_of_range("no subsweeps");

  double sweep_rate_hz = number_or_zero(sensor, "sweep_rate");
  if (sweep_rate_hz <= 0.0) {
    sweep_rate_hz = number_or_zero(metadata, "max_sweep_rate");
    settings.sweep_rate_is_limit = true;
  }
  if (sweep_rate_hz > 0.0) settings.sweep_period_s = 1.0 / sweep_rate_hz;
  double frame_rate_hz = number_or_zero(sensor, "frame_rate");
  if (frame_rate_hz <= 0.0) frame_rate_hz = number_or_zero(session, "update_rate");
  if (frame_rate_hz > 0.0) settings.frame_period_s = 1.0 / frame_rate_hz;
  return settings;
}

double parse_a121_tick_rate_hz(const std::string& server_text) {
  return number_or_zero(Json::parse(server_text), "ticks_per_second");
}

}  // namespace cornerturn
