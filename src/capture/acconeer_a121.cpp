#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/capture/array_source.h"
#include "src/capture/capture_format.h"
#include "src/capture/hdf5_array.h"
#include "src/capture/hdf5_file_check.h"
#include "src/capture/hdf5_inside.h"
#include "src/config/chain_toml.h"

namespace cornerturn {
namespace {

using Json = nlohmann::json;

constexpr double kCarrier_hz = 60.5e9;
constexpr std::size_t kLongestText = 1U << 20;

/// A string dataset of fixed or variable length; nothing when it is absent or no text.
std::optional<std::string> read_text(const h5::File& file, const std::string& path) {
  try {
    const h5::Dataset dataset = h5::open_dataset_inside(file, path);
    const h5::Datatype type = h5::type_of(dataset);
    if (H5Tget_class(type.id()) != H5T_STRING || h5::element_count(h5::shape_of(dataset)) != 1) return std::nullopt;
    if (H5Tis_variable_str(type.id()) > 0) {
      char* value = nullptr;
      h5::read_all(dataset, type.id(), &value, path);
      std::string text = value == nullptr ? "" : value;
      H5free_memory(value);
      return text;
    }
    const std::size_t length = H5Tget_size(type.id());
    if (length > kLongestText) return std::nullopt;
    std::string text(length, '\0');
    h5::read_all(dataset, type.id(), text.data(), path);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  } catch (const h5::Hdf5Error&) {
    return std::nullopt;
  }
}

std::string session_root(const h5::File& file) {
  return read_text(file, "sessions/session_0/session_config") ? "sessions/session_0" : "session";
}

/// What the JSON of a recording says about one sensor.
struct A121Settings {
  std::size_t points = 0;
  std::size_t sweeps_per_frame = 1;
  std::vector<double> gates_m;
  double sweep_period_s = 0.0;  ///< 0: not stated
  double frame_period_s = 0.0;  ///< 0: not stated
  bool sweep_rate_is_limit = false;
  bool continuous = false;
  std::size_t subsweeps = 1;
  std::size_t entries = 1;
};

double number_or_zero(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

/// Throws nlohmann::json::exception where a needed key is missing or has another type.
A121Settings parse_settings(const std::string& session_text, const std::string& metadata_text) {
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
  const Json& subsweeps = sensor.at("subsweeps");
  settings.subsweeps = subsweeps.size();
  constexpr double kMostPoints = 65536;
  for (const Json& subsweep : subsweeps) {
    const double start = subsweep.at("start_point").get<double>();
    const double step = subsweep.at("step_length").get<double>();
    const double count = subsweep.at("num_points").get<double>();
    if (count > kMostPoints) throw std::out_of_range("num_points");
    for (double point = 0.0; point < count; point += 1.0) settings.gates_m.push_back((start + point * step) * step_m);
  }
  settings.points = settings.gates_m.size();

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

/// Device clock of each frame in s; empty when the file has none.
std::vector<double> read_ticks_s(const h5::File& file, const std::string& entry) {
  try {
    const auto text = read_text(file, "server_info");
    const double rate_hz = text ? number_or_zero(Json::parse(*text), "ticks_per_second") : 0.0;
    if (rate_hz <= 0.0) return {};
    const h5::Dataset ticks = h5::open_dataset_inside(file, entry + "/result/tick");
    std::vector<double> seconds(h5::element_count(h5::shape_of(ticks)));
    if (!seconds.empty()) h5::read_all(ticks, h5::native_type<double>(), seconds.data(), "tick");
    for (double& value : seconds) value /= rate_hz;
    return seconds;
  } catch (const std::exception&) {
    return {};  // only times are lost
  }
}

double median_step(std::vector<double> times_s) {
  if (times_s.size() < 2) return 0.0;
  std::vector<double> steps;
  for (std::size_t i = 1; i < times_s.size(); ++i) steps.push_back(times_s[i] - times_s[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
  return steps[steps.size() / 2];
}

RadarDescription radar_of(const A121Settings& settings, double pri_s) {
  RadarDescription radar;
  radar.sensor = "Acconeer A121";
  // The vendor counts flow away from the sensor as positive, and its spectrum of such flow lies at positive
  // frequencies.
  radar.doppler_sign = 1.0;
  radar.waveform.kind = WaveformKind::profiled;
  radar.waveform.carrier_hz = kCarrier_hz;
  radar.waveform.pri_s = pri_s;
  radar.waveform.gate_axis = Axis::listed("range", "m", settings.gates_m);
  return radar;
}

void explain(const A121Settings& settings, CaptureInfo& info) {
  info.understood.push_back(fmt::format("{} subsweep{} with {} points from {:.3f} m to {:.3f} m", settings.subsweeps,
                                        settings.subsweeps == 1 ? "" : "s", settings.points, settings.gates_m.front(),
                                        settings.gates_m.back()));
  if (settings.entries > 1)
    info.understood.push_back(
        fmt::format("the first of {} sensor entries (group_0/entry_0) is read", settings.entries));
  if (settings.sweep_rate_is_limit && settings.sweeps_per_frame > 1)
    info.doubts.push_back({"the sweep rate was left to the sensor, so the velocity scale is an estimate",
                           fmt::format("the highest possible rate, {:.6g} Hz, is taken", 1.0 / settings.sweep_period_s),
                           "set sweep_rate when recording, or pri_s in a sidecar"});
}

Expected<A121Settings> read_settings(const std::string& path, const h5::File& file, const std::string& root,
                                     const std::string& entry) {
  const auto session_text = read_text(file, root + "/session_config");
  const auto metadata_text = read_text(file, entry + "/metadata");
  if (!session_text || !metadata_text)
    return input_error(path, "is an Acconeer A121 file without session_config or metadata", "record again");
  try {
    A121Settings settings = parse_settings(*session_text, *metadata_text);
    const bool rising = std::adjacent_find(settings.gates_m.begin(), settings.gates_m.end(), std::greater_equal<>()) ==
                        settings.gates_m.end();
    const bool finite =
        std::all_of(settings.gates_m.begin(), settings.gates_m.end(), [](double gate) { return std::isfinite(gate); });
    if (settings.gates_m.empty() || !rising || !finite)
      return input_error(path, "has subsweeps whose points do not rise in range", "process its subsweeps one by one");
    return settings;
  } catch (const std::exception& error) {
    return input_error(path, fmt::format("has session_config or metadata that cannot be read: {}", error.what()),
                       "the file is damaged: copy it again");
  }
}

/// [cpi], [radar] and [chain] of a sidecar with format = "acconeer_a121"; all of them optional.
Expected<void> read_sidecar(TomlReader& root, std::size_t& pulses, double& pri_s, ChainConfig& chain) {
  TomlReader cpi = root.table("cpi");
  if (pulses == 0) pulses = cpi.size("pulses", 0);
  TomlReader waveform = root.table("waveform");
  pri_s = waveform.number("pri_s", 0.0, kPositive);
  ChainSettings settings;
  settings.config = chain;
  TomlReader table = root.table("chain");
  read_chain_table(table, settings);
  chain = settings.config;
  return root.finish();
}

}  // namespace

bool recognise_acconeer_a121(const CaptureRequest& request) {
  if (!request.is_hdf5) return false;
  const auto file = open_hdf5_checked(request.path);
  return file && read_text(*file, "generation") == "a121";
}

Expected<std::unique_ptr<CaptureSource>> open_acconeer_a121(const CaptureRequest& request) {
  const auto file = open_hdf5_checked(request.path);
  if (!file) return unexpected(file.error());
  if (read_text(*file, "generation") != "a121")
    return input_error(request.path, "is no Acconeer A121 recording", "check the format named in the sidecar");
  const std::string root = session_root(*file);
  const std::string entry = root + "/group_0/entry_0";
  const auto settings = read_settings(request.path, *file, root, entry);
  if (!settings) return unexpected(settings.error());
  auto frames = open_hdf5_array(request.path, *file, entry + "/result/frame");
  if (!frames) return unexpected(frames.error());
  const std::vector<std::uint64_t> shape = (*frames)->shape();
  if (shape.size() != 3 || shape[1] != settings->sweeps_per_frame || shape[2] != settings->points)
    return input_error(request.path,
                       fmt::format("holds {} samples, but its settings say (frame, {}, {})", describe_shape(shape),
                                   settings->sweeps_per_frame, settings->points),
                       "the file is damaged: copy it again");

  CaptureInfo info;
  info.path = request.path;
  info.format = "Acconeer A121";
  info.suggested_chain.range.window.kind = WindowKind::rectangular;  // points are range already
  info.suggested_chain.angle.enabled = false;
  ArrayMeaning meaning;
  meaning.axes = {AxisRole::frame, AxisRole::pulse, AxisRole::sample};
  meaning.pulses_per_cpi = request.options.pulses_per_cpi;
  meaning.iq_order = request.options.iq_order;
  double pri_s = 0.0;
  if (request.sidecar != nullptr)
    if (auto done = read_sidecar(request.sidecar->reader, meaning.pulses_per_cpi, pri_s, info.suggested_chain); !done)
      return unexpected(done.error());

  CpiTimes times;
  times.sensor_time_s = read_ticks_s(*file, entry);
  times.frame_period_s = settings->frame_period_s > 0.0 ? settings->frame_period_s : median_step(times.sensor_time_s);
  if (settings->continuous)
    times.frame_period_s = static_cast<double>(settings->sweeps_per_frame) * settings->sweep_period_s;
  if (pri_s == 0.0) pri_s = settings->sweeps_per_frame == 1 ? times.frame_period_s : settings->sweep_period_s;
  times.pri_s = pri_s;
  if (!(pri_s > 0.0) || !std::isfinite(pri_s))
    return input_error(request.path, "states no sweep rate and no frame rate", "give waveform.pri_s in a sidecar");

  auto cut = make_cpi_cut((*frames)->element(), shape, (*frames)->storage_order(), meaning);
  if (!cut) {
    Error error = cut.error();
    error.where = request.path;
    return unexpected(error);
  }
  info.radar = radar_of(*settings, pri_s);
  explain(*settings, info);
  std::vector<std::unique_ptr<ArrayFile>> arrays;
  arrays.push_back(std::move(*frames));
  return std::unique_ptr<CaptureSource>(
      std::make_unique<ArraySource>(std::move(arrays), std::move(*cut), std::move(times), std::move(info)));
}

}  // namespace cornerturn
