#include "src/config/scene_toml.h"

#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dsp/vocabulary/contract.h"
#include "src/config/toml_reader.h"

namespace cornerturn {
namespace {

constexpr double kLargest = 1e15;  // beyond any plausible figure: infinities and slips of an exponent end here
constexpr NumberRange kAny{-kLargest, kLargest};
constexpr NumberRange kMore{0.0, kLargest, true};
constexpr NumberRange kZeroOrMore{0.0, kLargest};
constexpr NumberRange kCount{1.0, 1e12};

Expected<WaveformKind> parse_waveform_kind(const std::string& word) {
  if (word == "fmcw") return WaveformKind::fmcw;
  if (word == "pulse") return WaveformKind::pulse;
  return usage_error("", fmt::format("'{}' is no waveform that can be simulated", word), "use fmcw or pulse");
}

Expected<Fluctuation> parse_fluctuation(const std::string& word) {
  if (word == "swerling0") return Fluctuation::swerling0;
  if (word == "swerling1") return Fluctuation::swerling1;
  return usage_error("", fmt::format("'{}' is no fluctuation", word), "use swerling0 or swerling1");
}

/// Reads the tables of one document and keeps their readers, so that faults found later are reported at their keys.
class SceneReader {
 public:
  explicit SceneReader(TomlReader root) : root_(std::move(root)) {}
  Expected<Scene> read();

 private:
  void read_shape();
  void read_waveform();
  void read_array();
  void read_receiver();
  void read_clutter();
  void read_targets();
  TomlReader& enter(const std::string& table) { return tables_.emplace(table, root_.table(table)).first->second; }
  TomlReader* reader_of(const std::string& table);
  Error located(const Error& error);

  TomlReader root_;
  std::map<std::string, TomlReader> tables_;
  std::vector<TomlReader> targets_;
  Scene scene_;
};

void SceneReader::read_shape() {
  TomlReader& shape = enter("shape");
  scene_.shape.channel_count = shape.size("channel_count", 1, kCount);
  scene_.shape.pulse_count = static_cast<std::size_t>(shape.required_integer("pulse_count", kCount));
  scene_.shape.sample_count = static_cast<std::size_t>(shape.required_integer("sample_count", kCount));
}

void SceneReader::read_waveform() {
  TomlReader& table = enter("waveform");
  Waveform& waveform = scene_.radar.waveform;
  if (!table.has("kind")) table.fail("kind", "is missing", "use fmcw or pulse");
  waveform.kind = table.choice("kind", WaveformKind::fmcw, parse_waveform_kind);
  waveform.carrier_hz = table.required_number("carrier_hz", kMore);
  waveform.sample_rate_hz = table.required_number("sample_rate_hz", kMore);
  waveform.pri_s = table.required_number("pri_s", kMore);
  // Keys of the other kind stay unread, so that they are reported as unknown.
  if (waveform.kind == WaveformKind::fmcw) {
    waveform.slope_hz_per_s = table.required_number("slope_hz_per_s", {-1e18, 1e18});
    return;
  }
  waveform.bandwidth_hz = table.required_number("bandwidth_hz", kAny);
  waveform.pulse_width_s = table.required_number("pulse_width_s", kMore);
  waveform.receive_start_s = table.number("receive_start_s", 0.0, kZeroOrMore);
}

void SceneReader::read_array() {
  TomlReader& table = enter("array");
  ArrayGeometry& array = scene_.radar.array;
  const double wavelength_m = scene_.radar.waveform.wavelength_m();
  if (table.has("x_m")) {
    for (const double x_m : table.numbers("x_m")) array.elements.push_back({x_m, 0.0, 0.0});
    if (table.has("spacing_m")) table.fail("spacing_m", "contradicts x_m", "give one of them");
    if (table.has("spacing_wavelengths")) table.fail("spacing_wavelengths", "contradicts x_m", "give one of them");
  } else if (table.has("spacing_m") || table.has("spacing_wavelengths")) {
    if (table.has("spacing_m") && table.has("spacing_wavelengths"))
      table.fail("spacing_wavelengths", "contradicts spacing_m", "give one of them");
    const double spacing_m = table.has("spacing_m") ? table.number("spacing_m", 0.0, kMore)
                                                    : wavelength_m * table.number("spacing_wavelengths", 0.5, kMore);
    // A wrong count is reported at its own key, after memory for it would have been taken here.
    if (scene_.shape.channel_count <= 65536)
      array.elements = ArrayGeometry::uniform_line(scene_.shape.channel_count, spacing_m).elements;
  }
  array.steering_sign = table.number("steering_sign", 1.0, {-1.0, 1.0});
}

void SceneReader::read_receiver() {
  TomlReader& table = enter("receiver");
  SceneReceiver& receiver = scene_.receiver;
  receiver.noise_counts = table.number("noise_counts", receiver.noise_counts, kMore);
  receiver.dc_i_counts = table.number("dc_i_counts", 0.0, kAny);
  receiver.dc_q_counts = table.number("dc_q_counts", 0.0, kAny);
  receiver.iq_gain_imbalance_db = table.number("iq_gain_imbalance_db", 0.0, {-60.0, 60.0});
  receiver.iq_phase_imbalance_deg = table.number("iq_phase_imbalance_deg", 0.0, {-90.0, 90.0});
  receiver.adc_bits = static_cast<int>(table.integer("adc_bits", receiver.adc_bits, {2.0, 16.0}));
}

void SceneReader::read_clutter() {
  if (!root_.has("clutter")) return;
  TomlReader& table = enter("clutter");
  SceneClutter& clutter = scene_.clutter;
  clutter.cnr_db = table.required_number("cnr_db", {-300.0, 300.0});
  clutter.min_range_m = table.required_number("min_range_m", kAny);
  clutter.max_range_m = table.required_number("max_range_m", kAny);
  clutter.range_rate_spread_mps = table.number("range_rate_spread_mps", 0.0, kZeroOrMore);
  clutter.scatterer_count = table.size("scatterer_count", clutter.scatterer_count, {1.0, 1e6});
}

void SceneReader::read_targets() {
  targets_ = root_.tables("target");
  for (TomlReader& table : targets_) {
    SceneTarget target;
    target.range_m = table.required_number("range_m", kAny);
    target.range_rate_mps = table.number("range_rate_mps", 0.0, kAny);
    target.azimuth_deg = table.number("azimuth_deg", 0.0, {-90.0, 90.0});
    target.snr_db = table.required_number("snr_db", {-300.0, 300.0});
    target.fluctuation = table.choice("fluctuation", Fluctuation::swerling0, parse_fluctuation);
    scene_.targets.push_back(target);
  }
}

Expected<Scene> SceneReader::read() {
  scene_.name = root_.text("name", "");
  scene_.seed = static_cast<std::uint64_t>(root_.integer("seed", 1, kNotNegative));
  scene_.cpi_count = root_.size("cpi_count", 1, kCount);
  scene_.cpi_period_s = root_.number("cpi_period_s", 0.0, kZeroOrMore);
  scene_.complex_samples = root_.flag("complex_samples", true);
  read_shape();
  read_waveform();
  TomlReader& radar = enter("radar");
  const Waveform& waveform = scene_.radar.waveform;
  const bool falling = waveform.kind == WaveformKind::pulse || waveform.slope_hz_per_s < 0.0;
  scene_.radar.sensor = radar.text("sensor", "simulator");
  scene_.radar.doppler_sign = radar.number("doppler_sign", falling ? -1.0 : 1.0, {-1.0, 1.0});
  scene_.radar.range_offset_m = radar.number("range_offset_m", 0.0, kAny);
  scene_.radar.propagation_factor = radar.number("propagation_factor", 0.5, kMore);
  read_array();
  read_receiver();
  read_clutter();
  read_targets();
  scene_.radar.full_scale_counts = std::ldexp(1.0, scene_.receiver.adc_bits - 1);
  if (auto read = root_.finish(); !read) return unexpected(read.error());
  if (auto valid = validate(scene_); !valid) return unexpected(located(valid.error()));
  return scene_;
}

TomlReader* SceneReader::reader_of(const std::string& table) {
  if (table.starts_with("target[")) return &targets_.at(static_cast<std::size_t>(std::stoul(table.substr(7))));
  const auto found = tables_.find(table);
  return found != tables_.end() ? &found->second : nullptr;
}

/// Gives an error of validate(), whose `where` is "table.key", its file and line.
Error SceneReader::located(const Error& error) {
  const std::size_t dot = error.where.find('.');
  Error result = error;
  if (dot == std::string::npos)
    result.where = root_.where(error.where);
  else if (TomlReader* table = reader_of(error.where.substr(0, dot)))
    result.where = table->where(error.where.substr(dot + 1));
  return result;
}

Expected<Scene> read_scene(Expected<TomlReader> root) {
  if (!root) return unexpected(root.error());
  return SceneReader(std::move(*root)).read();
}

}  // namespace

Expected<Scene> load_scene(const std::string& path) { return read_scene(TomlReader::open(path)); }

Expected<Scene> parse_scene(std::string_view text, const std::string& source_name) {
  return read_scene(TomlReader::parse(text, source_name));
}

Scene default_scene() {
  Expected<Scene> scene = parse_scene(default_scene_toml(), "built-in scene");
  CORNERTURN_REQUIRE(scene.has_value());
  return std::move(*scene);
}

}  // namespace cornerturn
