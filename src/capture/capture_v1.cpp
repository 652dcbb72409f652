#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "src/capture/array_source.h"
#include "src/capture/capture_format.h"
#include "src/capture/capture_v1_schema.h"
#include "src/capture/hdf5_array.h"
#include "src/capture/hdf5_file_check.h"
#include "src/capture/hdf5_inside.h"
#include "src/capture/hdf5_text.h"
#include "src/capture/radar_check.h"
#include "src/config/chain_toml.h"
#include "src/support/printable_text.h"

namespace cornerturn {

using namespace capture_v1;

namespace {

/// Lists beside the samples are short; a claim of more is not read.
constexpr std::size_t kLongestList = std::size_t{1} << 26;

/// Rows of a dataset of `columns` numbers each (columns 1: a plain list); empty when it is absent.
/// Throws Hdf5Error, also for a wrong shape.
template <typename T> std::vector<T> read_rows(const h5::File& file, const std::string& path, std::size_t columns) {
  if (!h5::exists_inside(file, path)) return {};
  const h5::Dataset dataset = h5::open_dataset_inside(file, path);
  const std::vector<hsize_t> shape = h5::shape_of(dataset);
  const bool fits = columns == 1 ? shape.size() == 1 : shape.size() == 2 && shape[1] == columns;
  if (!fits || shape[0] > kLongestList / columns)
    throw h5::Hdf5Error("read", path, fmt::format("its shape is ({})", fmt::join(shape, ", ")));
  std::vector<T> values(h5::element_count(shape));
  if (!values.empty()) h5::read_all(dataset, h5::native_type<T>(), values.data(), path);
  return values;
}

std::vector<std::complex<float>> read_complex(const h5::File& file, const std::string& path) {
  if (!h5::exists_inside(file, path)) return {};
  const h5::Dataset dataset = h5::open_dataset_inside(file, path);
  const std::vector<hsize_t> shape = h5::shape_of(dataset);
  if (shape.size() != 1 || shape[0] > kLongestList)
    throw h5::Hdf5Error("read", path, fmt::format("its shape is ({})", fmt::join(shape, ", ")));
  std::vector<std::complex<float>> values(shape[0]);
  const h5::Datatype type = h5::pair_type(H5T_NATIVE_FLOAT);
  if (!values.empty()) h5::read_all(dataset, type.id(), values.data(), path);
  return values;
}

/// A number that must be there.
double number(const h5::Object& group, const char* name) {
  const auto value = h5::find_number_attribute(group.id(), name);
  if (!value) throw h5::Hdf5Error("read attribute", name, "it is missing");
  return *value;
}

std::string joined(const char* group, const char* name) { return std::string(group) + "/" + name; }

RadarDescription read_radar(const h5::File& file) {
  const h5::Object group = h5::open_inside(file, kRadar);
  RadarDescription radar;
  radar.sensor = printable_text(h5::find_fixed_text_attribute(group.id(), "sensor").value_or(""));
  Waveform& waveform = radar.waveform;
  const std::string kind = h5::find_fixed_text_attribute(group.id(), "waveform").value_or("");
  const std::array<WaveformKind, 3> kinds{WaveformKind::fmcw, WaveformKind::pulse, WaveformKind::profiled};
  const auto* found =
      std::find_if(kinds.begin(), kinds.end(), [&](WaveformKind each) { return to_string(each) == kind; });
  if (found == kinds.end()) throw h5::Hdf5Error("read attribute", "waveform", fmt::format("'{}' is no waveform", kind));
  waveform.kind = *found;
  waveform.carrier_hz = number(group, "carrier_hz");
  waveform.sample_rate_hz = number(group, "sample_rate_hz");
  waveform.pri_s = number(group, "pri_s");
  waveform.slope_hz_per_s = number(group, "slope_hz_per_s");
  waveform.bandwidth_hz = number(group, "bandwidth_hz");
  waveform.pulse_width_s = number(group, "pulse_width_s");
  waveform.receive_start_s = number(group, "receive_start_s");
  radar.doppler_sign = number(group, "doppler_sign");
  radar.range_offset_m = number(group, "range_offset_m");
  radar.propagation_factor = number(group, "propagation_factor");
  radar.full_scale_counts = number(group, "full_scale_counts");
  radar.array.steering_sign = number(group, "steering_sign");
  waveform.replica = read_complex(file, joined(kRadar, kReplica));
  radar.channel_calibration = read_complex(file, joined(kRadar, kCalibration));

  std::vector<double> gates = read_rows<double>(file, joined(kRadar, kGates), 1);
  if (!gates.empty()) {
    const auto falls = std::adjacent_find(gates.begin(), gates.end(), [](double a, double b) { return !(a < b); });
    if (falls != gates.end()) throw h5::Hdf5Error("read", kGates, "its ranges do not rise");
    waveform.gate_axis = Axis::listed("range", "m", std::move(gates));
  }
  const std::vector<double> positions = read_rows<double>(file, joined(kRadar, kPositions), 3);
  for (std::size_t i = 0; i + 2 < positions.size(); i += 3)
    radar.array.elements.push_back({positions[i], positions[i + 1], positions[i + 2]});
  return radar;
}

std::optional<std::vector<SceneTarget>> read_truth(const h5::File& file) {
  if (!h5::exists_inside(file, kTruth)) return std::nullopt;
  const std::vector<double> range_m = read_rows<double>(file, joined(kTruth, "range_m"), 1);
  std::vector<SceneTarget> targets(range_m.size());
  const auto column = [&](const char* name, double SceneTarget::*member) {
    const std::vector<double> values = read_rows<double>(file, joined(kTruth, name), 1);
    if (values.size() != targets.size()) throw h5::Hdf5Error("read", joined(kTruth, name), "its length differs");
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i].*member = values[i];
  };
  if (targets.empty()) return targets;
  column("range_m", &SceneTarget::range_m);
  column("range_rate_mps", &SceneTarget::range_rate_mps);
  column("azimuth_deg", &SceneTarget::azimuth_deg);
  column("snr_db", &SceneTarget::snr_db);
  const auto swerling = read_rows<std::uint8_t>(file, joined(kTruth, "swerling"), 1);
  if (swerling.size() != targets.size()) throw h5::Hdf5Error("read", joined(kTruth, "swerling"), "its length differs");
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i].fluctuation = swerling[i] == 1 ? Fluctuation::swerling1 : Fluctuation::swerling0;
  return targets;
}

Expected<std::map<std::uint64_t, std::vector<GapInterval>>> read_gaps(const std::string& path, const h5::File& file,
                                                                      const std::vector<std::uint64_t>& shape) {
  const std::vector<std::uint64_t> rows = read_rows<std::uint64_t>(file, kGaps, 4);
  std::map<std::uint64_t, std::vector<GapInterval>> gaps;
  for (std::size_t i = 0; i + 3 < rows.size(); i += 4) {
    const bool inside =
        rows[i] < shape[0] && rows[i + 1] < shape[1] && rows[i + 2] < shape[3] && rows[i + 3] <= shape[3] - rows[i + 2];
    if (!inside)
      return input_error(path + ":gaps", fmt::format("row {} lies outside the samples", i / 4),
                         "the file is damaged: convert or record it again");
    gaps[rows[i]].push_back({static_cast<std::uint32_t>(rows[i + 1]), static_cast<std::uint32_t>(rows[i + 2]),
                             static_cast<std::uint32_t>(rows[i + 3])});
  }
  return gaps;
}

/// The version, or 0 when this is no capture of ours.
double version_of(const h5::File& file) {
  try {
    if (h5::find_fixed_text_attribute(file.id(), kFormatAttribute) != kFormatWord) return 0.0;
    return h5::find_number_attribute(file.id(), kVersionAttribute).value_or(0.0);
  } catch (const h5::Hdf5Error&) {
    return 0.0;
  }
}

}  // namespace

bool recognise_capture_v1(const CaptureRequest& request) {
  if (!request.is_hdf5) return false;
  const auto file = open_hdf5_checked(request.path);
  return file && version_of(*file) > 0.0;
}

Expected<std::unique_ptr<CaptureSource>> open_capture_v1(const CaptureRequest& request) {
  const std::string& path = request.path;
  const auto file = open_hdf5_checked(path);
  if (!file) return unexpected(file.error());
  const double version = version_of(*file);
  if (version != static_cast<double>(kVersion))
    return input_error(path,
                       version > kVersion ? fmt::format("is capture version {}; this program reads version 1", version)
                                          : "is no Cornerturn capture",
                       version > kVersion ? "take a newer program" : "check the format named in the sidecar");
  if (request.sidecar != nullptr)
    if (auto done = request.sidecar->reader.finish(); !done) return unexpected(done.error());
  auto samples = open_hdf5_array(path, *file, kSamples);
  if (!samples) return unexpected(samples.error());
  const std::vector<std::uint64_t> shape = (*samples)->shape();
  if (shape.size() != 4)
    return input_error(
        path, fmt::format("has samples of shape ({}) instead of (cpi, pulse, channel, sample)", describe_shape(shape)),
        "the file is damaged: convert or record it again");
  CaptureInfo info;
  info.path = path;
  info.format = "capture v1";
  CpiTimes times;
  ArrayMeaning meaning;
  meaning.axes = {AxisRole::frame, AxisRole::pulse, AxisRole::channel, AxisRole::sample};
  meaning.pulses_per_cpi = request.options.pulses_per_cpi;
  if (meaning.pulses_per_cpi == 0) meaning.pulses_per_cpi = shape[1];
  meaning.iq_order = request.options.iq_order;
  try {
    meaning.zero_level =
        h5::find_number_attribute(h5::open_dataset_inside(*file, kSamples).id(), "zero_level").value_or(0.0);
    info.radar = read_radar(*file);
    info.truth = read_truth(*file);
    times.frame_period_s = h5::find_number_attribute(file->id(), "cpi_period_s").value_or(0.0);
    times.pri_s = info.radar.waveform.pri_s;
    times.sensor_time_s = read_rows<double>(*file, kSensorTime, 1);
    times.start_time_s = read_rows<double>(*file, kStartTime, 1);
    auto gaps = read_gaps(path, *file, shape);
    if (!gaps) return unexpected(gaps.error());
    times.gaps = std::move(*gaps);
    ChainSettings chain;
    if (const auto text = h5::find_fixed_text_attribute(file->id(), "chain"))
      if (auto done = parse_chain(*text, path + ":chain", chain); !done) {
        Error error = done.error();
        error.kind = ErrorKind::input;  // the file's fault, not the user's
        return unexpected(std::move(error));
      }
    info.suggested_chain = chain.config;
    info.understood.push_back(fmt::format(
        "made from {}",
        printable_text(h5::find_fixed_text_attribute(file->id(), "source_format").value_or("an unknown source"))));
  } catch (const h5::Hdf5Error& error) {
    return input_error(path, fmt::format("is not a whole capture: {}", error.what()), "convert or record it again");
  }
  auto cut = make_cpi_cut((*samples)->element(), shape, (*samples)->storage_order(), meaning);
  if (!cut) {
    Error error = cut.error();
    error.where = path;
    return unexpected(error);
  }
  if (auto done = check_radar(path, info.radar, cut->shape); !done) return unexpected(done.error());
  std::vector<std::unique_ptr<ArrayFile>> arrays;
  arrays.push_back(std::move(*samples));
  return std::unique_ptr<CaptureSource>(
      std::make_unique<ArraySource>(std::move(arrays), std::move(*cut), std::move(times), std::move(info)));
}

}  // namespace cornerturn
