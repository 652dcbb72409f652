#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "src/capture/a121_settings.h"
#include "src/capture/array_source.h"
#include "src/capture/capture_format.h"
#include "src/capture/hdf5_array.h"
#include "src/capture/hdf5_file_check.h"
#include "src/capture/hdf5_inside.h"
#include "src/capture/hdf5_text.h"
#include "src/config/chain_toml.h"

namespace cornerturn {
namespace {

constexpr double kCarrier_hz = 60.5e9;
constexpr std::size_t kMostFrames = 1U << 26;  // clocks of more are not kept

/// The file twice: by the library, and by position for texts of variable length.
struct Recording {
  h5::File hdf5;
  ReadOnlyFile bytes;

  std::optional<std::string> text(const std::string& path) const { return h5::read_text_dataset(hdf5, bytes, path); }
};

Expected<Recording> open_recording(const std::string& path) {
  auto hdf5 = open_hdf5_checked(path);
  if (!hdf5) return unexpected(hdf5.error());
  auto bytes = ReadOnlyFile::open(path);
  if (!bytes) return unexpected(bytes.error());
  return Recording{std::move(*hdf5), std::move(*bytes)};
}

std::string session_root(const Recording& file) {
  return file.text("sessions/session_0/session_config") ? "sessions/session_0" : "session";
}

/// Device clock of each frame in s; empty when the file has none.
std::vector<double> read_ticks_s(const Recording& file, const std::string& entry, std::uint64_t frame_count) {
  try {
    const auto text = file.text("server_info");
    const double rate_hz = text ? parse_a121_tick_rate_hz(*text) : 0.0;
    if (rate_hz <= 0.0) return {};
    const h5::Dataset ticks = h5::open_dataset_inside(file.hdf5, entry + "/result/tick");
    if (h5::shape_of(ticks) != std::vector<hsize_t>{frame_count} || frame_count > kMostFrames) return {};
    std::vector<double> seconds(frame_count);
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

RadarDescription radar_of(const std::vector<double>& gates_m, double pri_s) {
  RadarDescription radar;
  radar.sensor = "Acconeer A121";
  // The vendor counts flow away from the sensor as positive, and its spectrum of such flow lies at positive
  // frequencies.
  radar.doppler_sign = 1.0;
  radar.waveform.kind = WaveformKind::profiled;
  radar.waveform.carrier_hz = kCarrier_hz;
  radar.waveform.pri_s = pri_s;
  radar.waveform.gate_axis = Axis::listed("range", "m", gates_m);
  return radar;
}

void explain(const A121Settings& settings, const SubsweepRun& run, CaptureInfo& info) {
  const std::size_t subsweeps = settings.subsweep_gates_m.size();
  info.understood.push_back(fmt::format("{} points from {:.3f} m to {:.3f} m in subsweeps {} to {} of {}",
                                        run.gates_m.size(), run.gates_m.front(), run.gates_m.back(), run.first + 1,
                                        run.first + run.count, subsweeps));
  if (run.count < subsweeps)
    info.doubts.push_back({"subsweeps overlap in range, so only some are read",
                           fmt::format("{} of {} points in {} of {} subsweeps", run.gates_m.size(), settings.points,
                                       run.count, subsweeps),
                           "choose others with a121.first_subsweep (0 is the first) in a sidecar"});
  if (settings.entries > 1)
    info.understood.push_back(
        fmt::format("the first of {} sensor entries (group_0/entry_0) is read", settings.entries));
  if (settings.sweep_rate_is_limit && settings.sweeps_per_frame > 1)
    info.doubts.push_back({"the sweep rate was left to the sensor, so the velocity scale is an estimate",
                           fmt::format("the highest possible rate, {:.6g} Hz, is taken", 1.0 / settings.sweep_period_s),
                           "set sweep_rate when recording, or pri_s in a sidecar"});
}

Expected<A121Settings> read_settings(const std::string& path, const Recording& file, const std::string& root,
                                     const std::string& entry) {
  const auto session_text = file.text(root + "/session_config");
  const auto metadata_text = file.text(entry + "/metadata");
  if (!session_text || !metadata_text)
    return input_error(path, "is an Acconeer A121 file without session_config or metadata", "record again");
  try {
    return parse_a121_settings(*session_text, *metadata_text);
  } catch (const std::exception& error) {
    return input_error(path, fmt::format("has session_config or metadata that cannot be read: {}", error.what()),
                       "the file is damaged: copy it again");
  }
}

/// What a sidecar with format = "acconeer_a121" may say; all of it optional.
struct A121Choices {
  std::size_t pulses_per_cpi = 0;
  std::size_t first_subsweep = 0;
  double pri_s = 0.0;
  ChainSettings chain;
};

/// Gates are few, unevenly spaced and of different gain from subsweep to subsweep, so that the noise is taken along
/// Doppler. `pulse_count` 0: not known yet, many.
ChainConfig default_chain(std::size_t pulse_count) {
  ChainConfig chain;
  chain.angle.enabled = false;  // one receiver
  ChainConfig::Cfar& cfar = chain.cfar;
  cfar.axes = CfarAxes::doppler;
  cfar.guard_doppler = 3;
  cfar.train_doppler = 8;
  if (pulse_count == 0) return chain;
  const std::size_t side = (pulse_count - 1) / 2;
  cfar.enabled = side > cfar.guard_doppler;
  if (cfar.enabled) cfar.train_doppler = std::min(cfar.train_doppler, side - cfar.guard_doppler);
  return chain;
}

Expected<void> read_sidecar(TomlReader& root, std::size_t subsweep_count, A121Choices& choices) {
  TomlReader cpi = root.table("cpi");
  choices.pulses_per_cpi = cpi.size("pulses", 0);
  TomlReader waveform = root.table("waveform");
  choices.pri_s = waveform.number("pri_s", 0.0, kPositive);
  TomlReader a121 = root.table("a121");
  choices.first_subsweep = a121.size("first_subsweep", 0, {0.0, static_cast<double>(subsweep_count - 1)});
  TomlReader table = root.table("chain");
  read_chain_table(table, choices.chain);
  return root.finish();
}

}  // namespace

bool recognise_acconeer_a121(const CaptureRequest& request) {
  if (!request.is_hdf5) return false;
  const auto file = open_recording(request.path);
  return file && file->text("generation") == "a121";
}

Expected<std::unique_ptr<CaptureSource>> open_acconeer_a121(const CaptureRequest& request) {
  const auto file = open_recording(request.path);
  if (!file) return unexpected(file.error());
  if (file->text("generation") != "a121")
    return input_error(request.path, "is no Acconeer A121 recording", "check the format named in the sidecar");
  const std::string root = session_root(*file);
  const std::string entry = root + "/group_0/entry_0";
  const auto settings = read_settings(request.path, *file, root, entry);
  if (!settings) return unexpected(settings.error());
  auto frames = open_hdf5_array(request.path, file->hdf5, entry + "/result/frame");
  if (!frames) return unexpected(frames.error());
  const std::vector<std::uint64_t> shape = (*frames)->shape();
  if (shape.size() != 3 || shape[1] != settings->sweeps_per_frame || shape[2] != settings->points)
    return input_error(request.path,
                       fmt::format("holds {} samples, but its settings say (frame, {}, {})", describe_shape(shape),
                                   settings->sweeps_per_frame, settings->points),
                       "the file is damaged: copy it again");

  A121Choices choices;
  choices.chain.config = default_chain(settings->sweeps_per_frame > 1 ? settings->sweeps_per_frame : 0);
  if (request.sidecar != nullptr)
    if (auto done = read_sidecar(request.sidecar->reader, settings->subsweep_gates_m.size(), choices); !done)
      return unexpected(done.error());
  const SubsweepRun run = rising_run(*settings, choices.first_subsweep);

  CaptureInfo info;
  info.path = request.path;
  info.format = "A121 recording";
  info.suggested_chain = choices.chain.config;
  ArrayMeaning meaning;
  meaning.axes = {AxisRole::frame, AxisRole::pulse, AxisRole::sample};
  meaning.pulses_per_cpi =
      request.options.pulses_per_cpi != 0 ? request.options.pulses_per_cpi : choices.pulses_per_cpi;
  meaning.iq_order = request.options.iq_order;
  meaning.first_sample = run.first_point;
  meaning.sample_length = run.gates_m.size();
  double pri_s = choices.pri_s;

  CpiTimes times;
  times.sensor_time_s = read_ticks_s(*file, entry, shape[0]);
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
  info.radar = radar_of(run.gates_m, pri_s);
  explain(*settings, run, info);
  std::vector<std::unique_ptr<ArrayFile>> arrays;
  arrays.push_back(std::move(*frames));
  return std::unique_ptr<CaptureSource>(
      std::make_unique<ArraySource>(std::move(arrays), std::move(*cut), std::move(times), std::move(info)));
}

}  // namespace cornerturn
