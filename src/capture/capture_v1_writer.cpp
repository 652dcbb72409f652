#include "src/capture/capture_v1_writer.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/capture/canonical_samples.h"
#include "src/capture/capture_v1_schema.h"
#include "src/config/chain_toml.h"
#include "src/support/hdf5.h"

namespace cornerturn {

using namespace capture_v1;

struct CaptureV1Writer::State {
  std::string path;
  std::string part_path;
  RawLayout layout;
  CpiShape shape;
  h5::File file;
  h5::Datatype sample_type;
  h5::Dataset samples;
  std::vector<std::byte> canonical;
  std::vector<double> start_time_s;
  std::vector<double> sensor_time_s;
  std::vector<std::uint64_t> gaps;  // rows of cpi, pulse, first sample, samples
};

namespace {

/// The file type of a scalar.
hid_t scalar_type(SampleFormat format, bool big_endian) {
  switch (format) {
    case SampleFormat::int8:
      return H5T_STD_I8LE;
    case SampleFormat::uint8:
      return H5T_STD_U8LE;
    case SampleFormat::int16:
      return big_endian ? H5T_STD_I16BE : H5T_STD_I16LE;
    case SampleFormat::uint16:
      return big_endian ? H5T_STD_U16BE : H5T_STD_U16LE;
    case SampleFormat::int32:
      return big_endian ? H5T_STD_I32BE : H5T_STD_I32LE;
    case SampleFormat::uint32:
      return big_endian ? H5T_STD_U32BE : H5T_STD_U32LE;
    case SampleFormat::float32:
      return big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
    case SampleFormat::float64:
      return big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
    case SampleFormat::int12_packed:
      break;
  }
  return H5T_STD_I16LE;  // canonical form of packed samples
}

h5::Datatype sample_type(const RawLayout& layout) {
  const hid_t scalar = scalar_type(layout.format, layout.big_endian);
  if (layout.complex_samples) return h5::pair_type(scalar);
  return h5::Datatype(h5::checked("copy type", kSamples, [&] { return H5Tcopy(scalar); }));
}

/// Appendable, one CPI a chunk, no filter: each CPI lies in one piece of the file.
h5::Dataset create_samples(const h5::File& file, hid_t type, const CpiShape& shape) {
  const std::array<hsize_t, 4> none{0, shape.pulse_count, shape.channel_count, shape.sample_count};
  const std::array<hsize_t, 4> most{H5S_UNLIMITED, none[1], none[2], none[3]};
  const std::array<hsize_t, 4> chunk{1, none[1], none[2], none[3]};
  const h5::Dataspace space(
      h5::checked("make space", kSamples, [&] { return H5Screate_simple(4, none.data(), most.data()); }));
  const h5::Properties creation(h5::checked("make properties", kSamples, [] { return H5Pcreate(H5P_DATASET_CREATE); }));
  h5::checked("set chunk", kSamples, [&] { return H5Pset_chunk(creation.id(), 4, chunk.data()); });
  h5::checked("set fill", kSamples, [&] { return H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER); });
  return h5::create_dataset(file.id(), kSamples, type, space, creation.id());
}

void write_complex(hid_t location, const char* name, const std::vector<std::complex<float>>& values) {
  if (values.empty()) return;
  const h5::Datatype type = h5::pair_type(H5T_NATIVE_FLOAT);
  const h5::Dataset dataset = h5::create_dataset(location, name, type.id(), h5::make_space({values.size()}));
  h5::write_all(dataset, type.id(), values.data(), name);
}

void write_gates(hid_t location, const Axis& axis) {
  const std::vector<double> ranges = axis.coordinates();
  const std::array<hsize_t, 1> shape{ranges.size()};
  const h5::Dataset gates = h5::write_vector<double>(location, kGates, shape, ranges);
  h5::write_attribute(gates.id(), "units", "m");
}

void write_radar(const h5::File& file, const RadarDescription& radar) {
  const h5::Group group = h5::create_group(file.id(), kRadar);
  const Waveform& waveform = radar.waveform;
  h5::write_attribute(group.id(), "sensor", radar.sensor);
  h5::write_attribute(group.id(), "waveform", to_string(waveform.kind));
  h5::write_attribute(group.id(), "carrier_hz", waveform.carrier_hz);
  h5::write_attribute(group.id(), "sample_rate_hz", waveform.sample_rate_hz);
  h5::write_attribute(group.id(), "pri_s", waveform.pri_s);
  h5::write_attribute(group.id(), "slope_hz_per_s", waveform.slope_hz_per_s);
  h5::write_attribute(group.id(), "bandwidth_hz", waveform.bandwidth_hz);
  h5::write_attribute(group.id(), "pulse_width_s", waveform.pulse_width_s);
  h5::write_attribute(group.id(), "receive_start_s", waveform.receive_start_s);
  h5::write_attribute(group.id(), "doppler_sign", radar.doppler_sign);
  h5::write_attribute(group.id(), "range_offset_m", radar.range_offset_m);
  h5::write_attribute(group.id(), "propagation_factor", radar.propagation_factor);
  h5::write_attribute(group.id(), "full_scale_counts", radar.full_scale_counts);
  h5::write_attribute(group.id(), "steering_sign", radar.array.steering_sign);
  write_complex(group.id(), kReplica, waveform.replica);
  if (waveform.gate_axis) write_gates(group.id(), *waveform.gate_axis);
  write_complex(group.id(), kCalibration, radar.channel_calibration);
  if (radar.array.elements.empty()) return;
  std::vector<double> positions;
  for (const ArrayGeometry::Element& element : radar.array.elements)
    positions.insert(positions.end(), {element.x_m, element.y_m, element.z_m});
  const std::array<hsize_t, 2> shape{radar.array.elements.size(), 3};
  const h5::Dataset dataset = h5::write_vector<double>(group.id(), kPositions, shape, positions);
  h5::write_attribute(dataset.id(), "units", "m");
  h5::write_attribute(dataset.id(), "columns", "x y z");
}

void write_truth(const h5::File& file, const std::vector<SceneTarget>& targets) {
  const h5::Group group = h5::create_group(file.id(), kTruth);
  if (targets.empty()) return;  // an empty group: known to hold no target
  const std::array<hsize_t, 1> shape{targets.size()};
  const auto column = [&](const char* name, double SceneTarget::*member) {
    std::vector<double> values;
    values.reserve(targets.size());
    for (const SceneTarget& target : targets) values.push_back(target.*member);
    h5::write_vector<double>(group.id(), name, shape, values);
  };
  column("range_m", &SceneTarget::range_m);
  column("range_rate_mps", &SceneTarget::range_rate_mps);
  column("azimuth_deg", &SceneTarget::azimuth_deg);
  column("snr_db", &SceneTarget::snr_db);
  std::vector<std::uint8_t> swerling;
  swerling.reserve(targets.size());
  for (const SceneTarget& target : targets) swerling.push_back(target.fluctuation == Fluctuation::swerling1 ? 1 : 0);
  h5::write_vector<std::uint8_t>(group.id(), "swerling", shape, swerling);
}

Expected<void> flush_to_disk(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return runtime_error(path, fmt::format("cannot be opened again: {}", std::strerror(errno)));
  const int status = ::fsync(descriptor);
  const int cause = errno;
  ::close(descriptor);
  if (status != 0) return runtime_error(path, fmt::format("cannot be brought to the disk: {}", std::strerror(cause)));
  return {};
}

tl::unexpected<Error> write_error(const std::string& path, const h5::Hdf5Error& error) {
  const std::string reason = error.system_reason();
  if (reason.empty())
    return runtime_error(path, fmt::format("cannot be written: {}", error.what()), "check folder and permissions");
  return runtime_error(path, fmt::format("cannot be written: {}", reason), "free some space or write to another disk");
}

}  // namespace

Expected<CaptureV1Writer> CaptureV1Writer::create(const std::string& path, const CaptureInfo& info) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->part_path = path + ".part";
  state->layout = info.layout;
  state->shape = info.shape;
  try {
    state->file = h5::create_file(state->part_path);
    const h5::File& file = state->file;
    h5::write_attribute(file.id(), kFormatAttribute, kFormatWord);
    h5::write_attribute(file.id(), kVersionAttribute, kVersion);
    h5::write_attribute(file.id(), "source_format", info.format);
    h5::write_attribute(file.id(), "source_path", info.path);
    h5::write_attribute(file.id(), "cpi_period_s", info.cpi_period_s);
    h5::write_attribute(file.id(), "chain", print_chain(info.suggested_chain));
    state->sample_type = sample_type(info.layout);
    state->samples = create_samples(file, state->sample_type.id(), info.shape);
    h5::write_attribute(state->samples.id(), "axes", "cpi pulse channel sample");
    h5::write_attribute(state->samples.id(), "units", "count");
    h5::write_attribute(state->samples.id(), "zero_level", info.layout.zero_level);
    write_radar(file, info.radar);
    if (info.truth) write_truth(file, *info.truth);
  } catch (const h5::Hdf5Error& error) {
    ::unlink(state->part_path.c_str());
    return write_error(path, error);
  }
  state->canonical.resize(canonical_bytes(info.layout, info.shape));
  return CaptureV1Writer(std::move(state));
}

CaptureV1Writer::CaptureV1Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaptureV1Writer::CaptureV1Writer(CaptureV1Writer&&) noexcept = default;
CaptureV1Writer& CaptureV1Writer::operator=(CaptureV1Writer&&) noexcept = default;

CaptureV1Writer::~CaptureV1Writer() {
  if (state_ == nullptr || !state_->file) return;
  state_->samples.reset();
  state_->file.reset();
  ::unlink(state_->part_path.c_str());
}

std::size_t CaptureV1Writer::cpi_count() const { return state_->start_time_s.size(); }

Expected<void> CaptureV1Writer::append(const RawCpi& cpi) {
  State& state = *state_;
  copy_canonical(cpi, state.layout, state.shape, state.canonical);
  const std::uint64_t index = state.start_time_s.size();
  const std::array<hsize_t, 4> start{index, 0, 0, 0};
  const std::array<hsize_t, 4> count{1, state.shape.pulse_count, state.shape.channel_count, state.shape.sample_count};
  const std::array<hsize_t, 4> extent{index + 1, count[1], count[2], count[3]};
  try {
    h5::checked("extend", kSamples, [&] { return H5Dset_extent(state.samples.id(), extent.data()); });
    h5::write_block(state.samples, state.sample_type.id(), start, count, state.canonical.data(), kSamples);
  } catch (const h5::Hdf5Error& error) {
    return write_error(state.path, error);
  }
  state.start_time_s.push_back(cpi.header.start_time_s);
  state.sensor_time_s.push_back(cpi.header.sensor_time_s);
  for (const GapInterval& gap : cpi.header.gaps)
    state.gaps.insert(state.gaps.end(), {index, gap.pulse, gap.first_sample, gap.sample_count});
  return {};
}

Expected<void> CaptureV1Writer::finish() {
  State& state = *state_;
  try {
    const std::array<hsize_t, 1> cpis{state.start_time_s.size()};
    h5::write_vector<double>(state.file.id(), kStartTime, cpis, state.start_time_s);
    h5::write_vector<double>(state.file.id(), kSensorTime, cpis, state.sensor_time_s);
    if (!state.gaps.empty()) {
      const std::array<hsize_t, 2> rows{state.gaps.size() / 4, 4};
      const h5::Dataset gaps = h5::write_vector<std::uint64_t>(state.file.id(), kGaps, rows, state.gaps);
      h5::write_attribute(gaps.id(), "columns", "cpi pulse first_sample sample_count");
    }
    state.samples.close(kSamples);
    state.sample_type.reset();
    state.file.close(state.path);
  } catch (const h5::Hdf5Error& error) {
    state.samples.reset();
    state.file.reset();
    ::unlink(state.part_path.c_str());
    return write_error(state.path, error);
  }
  if (auto done = flush_to_disk(state.part_path); !done) return done;
  if (std::rename(state.part_path.c_str(), state.path.c_str()) != 0)
    return runtime_error(state.path, fmt::format("cannot be given its name: {}", std::strerror(errno)),
                         fmt::format("the capture is whole in {}", state.part_path));
  return {};
}

}  // namespace cornerturn
