#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "src/capture/array_source.h"
#include "src/capture/capture_format.h"
#include "src/capture/hdf5_array.h"
#include "src/capture/npy_file.h"
#include "src/capture/radar_tables.h"
#include "src/capture/raw_size.h"
#include "src/config/chain_toml.h"

namespace cornerturn {
namespace {

/// The tables [file] and [samples] of a sidecar.
struct ArrayDescription {
  std::string container;
  std::vector<std::string> datasets;
  std::uint64_t skip_bytes = 0;
  ArrayElement element;              // raw bytes only
  std::vector<std::uint64_t> shape;  // raw bytes only, in samples
  ArrayMeaning meaning;
};

Expected<bool> parse_byte_order(std::string_view text) {
  if (text == "little" || text == "big") return text == "big";
  return usage_error({}, fmt::format("'{}' is no byte order", text), "use little or big");
}

Expected<SampleFormat> parse_array_type(std::string_view text) {
  auto format = parse_sample_format(text);
  if (format && *format == SampleFormat::int12_packed)
    return usage_error({}, "packed 12-bit samples are no array of whole bytes", "unpack them to int16 first");
  return format;
}

void read_file_table(TomlReader& root, const CaptureRequest& request, ArrayDescription& description) {
  TomlReader file = root.table("file");
  const std::string found = request.is_hdf5 ? "hdf5" : (request.is_npy ? "npy" : "raw");
  description.container = file.text("container", found);
  if (description.container != "hdf5" && description.container != "npy" && description.container != "raw")
    file.fail("container", fmt::format("'{}' is no container", description.container), "use hdf5, npy or raw");
  if (file.has("datasets")) {
    description.datasets = file.texts("datasets");
    if (description.datasets.size() != 2)
      file.fail("datasets", fmt::format("names {} datasets", description.datasets.size()),
                "name that of I and that of Q");
  } else if (description.container == "hdf5") {
    description.datasets = {file.required_text("dataset")};
  }
  if (description.container == "raw") description.skip_bytes = file.size("skip_bytes", 0);
}

void read_samples_table(TomlReader& root, ArrayDescription& description) {
  TomlReader samples = root.table("samples");
  for (const std::string& word : samples.texts("axes")) {
    const auto role = parse_axis_role(word);
    if (!role) samples.fail("axes", role.error().what, role.error().remedy);
    description.meaning.axes.push_back(role.value_or(AxisRole::one));
  }
  if (description.meaning.axes.empty()) samples.fail("axes", "is missing", "name each axis, outermost first");
  if (samples.has("iq")) description.meaning.iq_order = samples.choice<IqOrder>("iq", IqOrder::iq, parse_iq_order);
  if (samples.has("zero_level")) description.meaning.zero_level = samples.number("zero_level", 0.0);
  description.meaning.second_array_is_q = description.datasets.size() == 2;
  if (description.container != "raw") return;

  if (!samples.has("type")) samples.fail("type", "is missing", "say int16, float32 ... for raw bytes");
  description.element.format = samples.choice<SampleFormat>("type", SampleFormat::int16, parse_array_type);
  description.element.big_endian = samples.choice<bool>("byte_order", false, parse_byte_order);
  const std::vector<double> lengths = samples.numbers("shape");
  if (lengths.size() != description.meaning.axes.size())
    samples.fail("shape", fmt::format("has {} numbers for {} axes", lengths.size(), description.meaning.axes.size()),
                 "give one length per axis; the first may be 0: as many as the file holds");
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    constexpr double kLongest = 1e15;
    const double least = axis == 0 ? 0.0 : 1.0;
    if (lengths[axis] < least || lengths[axis] > kLongest ||
        lengths[axis] != static_cast<double>(static_cast<std::uint64_t>(lengths[axis]))) {
      samples.fail("shape", fmt::format("{} is no length", lengths[axis]), "give whole numbers of at least 1");
      return;
    }
    description.shape.push_back(static_cast<std::uint64_t>(lengths[axis]));
  }
}

/// Orders along the sample axis take two scalars a sample; the shape of a sidecar counts samples.
void widen_for_iq(ArrayDescription& description) {
  const auto& axes = description.meaning.axes;
  const IqOrder order = description.meaning.iq_order.value_or(IqOrder::real);
  if (order == IqOrder::real || std::find(axes.begin(), axes.end(), AxisRole::iq) != axes.end()) return;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis] == AxisRole::sample) description.shape[axis] *= 2;
}

Expected<std::vector<std::unique_ptr<ArrayFile>>> open_arrays(const std::string& path,
                                                              const ArrayDescription& description,
                                                              std::vector<Doubt>& doubts) {
  std::vector<std::unique_ptr<ArrayFile>> arrays;
  if (description.container == "raw") {
    auto raw = open_raw_array(path, description.element, description.shape, description.skip_bytes);
    if (!raw) return unexpected(raw.error());
    doubts = std::move(raw->doubts);
    arrays.push_back(std::move(raw->array));
  } else if (description.container == "npy") {
    auto array = open_npy(path);
    if (!array) return unexpected(array.error());
    arrays.push_back(std::move(*array));
  } else {
    for (const std::string& dataset : description.datasets) {
      auto array = open_hdf5_array(path, dataset);
      if (!array) return unexpected(array.error());
      arrays.push_back(std::move(*array));
    }
  }
  if (arrays.size() == 2 && (arrays[0]->shape() != arrays[1]->shape() || arrays[0]->element() != arrays[1]->element()))
    return input_error(
        path,
        fmt::format("the datasets of I and Q differ: {} of {} and {} of {}", describe_shape(arrays[0]->shape()),
                    describe(arrays[0]->element()), describe_shape(arrays[1]->shape()), describe(arrays[1]->element())),
        "name two datasets of the same shape and type");
  return arrays;
}

/// "samples.axes" as "sidecar.toml:7:samples.axes".
Error locate(Error error, TomlReader& root) {
  const std::size_t dot = error.where.find('.');
  error.where = root.table(error.where.substr(0, dot)).where(error.where.substr(dot + 1));
  return error;
}

}  // namespace

Expected<std::unique_ptr<CaptureSource>> open_array_capture(const CaptureRequest& request) {
  if (request.sidecar == nullptr)
    return input_error(request.path, "has no sidecar", "describe it in " + sidecar_path(request.path));
  TomlReader& root = request.sidecar->reader;
  ArrayDescription description;
  read_file_table(root, request, description);
  read_samples_table(root, description);
  TomlReader cpi = root.table("cpi");
  description.meaning.pulses_per_cpi = cpi.size("pulses", 0);
  CpiTimes times;
  times.frame_period_s = cpi.number("frame_period_s", 0.0, kPositive);
  if (request.options.pulses_per_cpi != 0) description.meaning.pulses_per_cpi = request.options.pulses_per_cpi;
  if (request.options.iq_order) description.meaning.iq_order = request.options.iq_order;
  if (auto done = root.check(); !done) return unexpected(done.error());
  if (description.container == "raw") widen_for_iq(description);

  CaptureInfo info;
  info.path = request.path;
  info.format = fmt::format("array in {}", description.container);
  auto arrays = open_arrays(request.path, description, info.doubts);
  if (!arrays) return unexpected(arrays.error());
  const ArrayFile& first = *arrays->front();
  auto cut = make_cpi_cut(first.element(), first.shape(), first.storage_order(), description.meaning);
  if (!cut) return unexpected(locate(cut.error(), root));

  info.radar = read_radar_tables(root, cut->shape.sample_count);
  read_array_table(root, info.radar, cut->shape.channel_count);
  times.pri_s = info.radar.waveform.pri_s;
  ChainSettings chain;
  TomlReader chain_table = root.table("chain");
  read_chain_table(chain_table, chain);
  if (auto done = root.finish(); !done) return unexpected(done.error());
  info.suggested_chain = chain.config;
  info.understood.push_back("axes and radar parameters from " + request.sidecar->path);
  return std::unique_ptr<CaptureSource>(
      std::make_unique<ArraySource>(std::move(*arrays), std::move(*cut), std::move(times), std::move(info)));
}

}  // namespace cornerturn
