#include "src/result/segment_file.h"

#include <algorithm>
#include <limits>

#include "src/result/run_attributes.h"

namespace cornerturn {
namespace {

constexpr const char* kCpi = "cpi";
constexpr const char* kGap = "gap";
constexpr const char* kComplexTypeName = "complex64";
constexpr std::size_t kMemoryGrowth = std::size_t{4} << 20;
constexpr hsize_t kColumnChunk = 1024;
// Chunks hold one CPI, but small arrays are put together, for each chunk costs an index entry and a seek, and large
// ones are cut, for a reader's chunk cache has to hold what it reads.
constexpr std::size_t kSmallestChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kLargestChunkBytes = std::size_t{16} << 20;

const std::string kDetection{kDetectionAxis};

hid_t memory_type(ElementType type, hid_t complex_type) {
  switch (type) {
    case ElementType::float32:
      return H5T_NATIVE_FLOAT;
    case ElementType::float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::complex64:
      return complex_type;
    case ElementType::int32:
      return H5T_NATIVE_INT32;
    case ElementType::uint8:
      return H5T_NATIVE_UINT8;
  }
  return H5I_INVALID_HID;
}

bool is_float(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64 || type == ElementType::complex64;
}

bool same_axis(const Axis& a, const Axis& b) {
  if (a.name() != b.name() || a.unit() != b.unit() || a.count() != b.count()) return false;
  if (a.is_uniform() != b.is_uniform()) return false;
  if (!a.is_uniform()) return a.coordinates() == b.coordinates();
  return a.coordinate(0.0) == b.coordinate(0.0) && a.step() == b.step();
}

/// Chunk of (cpi, axes...) for one CPI of `shape`.
std::vector<hsize_t> choose_chunk(const std::vector<hsize_t>& shape, std::size_t element_bytes) {
  std::vector<hsize_t> chunk{1};
  std::size_t bytes = element_bytes;
  for (const hsize_t size : shape) {
    chunk.push_back(std::max<hsize_t>(size, 1));
    bytes *= chunk.back();
  }
  for (std::size_t axis = 1; axis < chunk.size() && bytes > kLargestChunkBytes;) {
    if (chunk[axis] == 1) {
      ++axis;
      continue;
    }
    bytes /= chunk[axis];
    chunk[axis] = (chunk[axis] + 1) / 2;
    bytes *= chunk[axis];
  }
  chunk[0] = std::clamp<hsize_t>(kSmallestChunkBytes / bytes, 1, kColumnChunk);
  return chunk;
}

/// flag_masks for bits, flag_values for an enumeration; CF's spelling in both cases.
void describe_flags(const h5::Dataset& dataset, const std::string& meanings, bool bits) {
  const auto words = static_cast<std::size_t>(std::count(meanings.begin(), meanings.end(), ' ')) + 1;
  std::vector<std::uint8_t> values;
  for (std::size_t word = 0; word < words; ++word)
    values.push_back(static_cast<std::uint8_t>(bits ? std::size_t{1} << word : word));
  h5::write_attribute<std::uint8_t>(dataset.id(), bits ? "flag_masks" : "flag_values", values);
  h5::write_attribute(dataset.id(), "flag_meanings", std::string_view(meanings));
}

h5::Group make_group(hid_t file, const std::string& path) {
  return path == "/" ? h5::open_group(file, path) : h5::create_group(file, path);
}

}  // namespace

SegmentFile::SegmentFile(const RunDescription& run, const std::string& group_path, int deflate_level)
    : file_("segment", kMemoryGrowth), group_(make_group(file_.id(), group_path)), deflate_level_(deflate_level) {
  write_run_attributes(group_.id(), run);
  group_.define_unlimited_coordinate(kCpi, H5T_NATIVE_INT64, kColumnChunk);
  group_.define_dimension({kDetection, 0, true});
  group_.define_dimension({kGap, 0, true});
  add_cpi_columns();
}

SegmentFile::Column& SegmentFile::column(const std::string& name) {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  CORNERTURN_REQUIRE(found != columns_.end());
  return *found;
}

void SegmentFile::add_cpi_columns() {
  const auto add = [&](const char* name, const std::string& dimension, const char* unit, const char* description,
                       bool integer) {
    Column& added = columns_.emplace_back();
    added.name = name;
    added.dimension = dimension;
    added.unit = unit;
    added.description = description;
    added.wide_integer = integer;
  };
  add(kCpi, kCpi, "1", "index of the CPI in the capture, dropped ones counted", true);
  add("start_time_s", kCpi, "s", "start of the CPI since the start of the capture", false);
  add("sensor_time_s", kCpi, "s", "start of the CPI by the sensor's own clock, NaN where it has none", false);
  add("detection_count", kCpi, "1", "detections of the CPI", true);
  add("masked_samples", kCpi, "1", "samples set to zero: NaN, Inf, or missing", true);
  add("saturated_samples", kCpi, "1", "samples at the end of the converter's range", true);
  add("zero_channels", kCpi, "1", "channels whose samples are all zero", true);
  add("flagged_detections", kCpi, "1", "detections without a trusted angle", true);
  add("gap_count", kCpi, "1", "intervals of missing samples", true);
  add("gap_cpi", kGap, "1", "CPI of the gap, a value of the coordinate cpi", true);
  add("gap_pulse", kGap, "1", "pulse with missing samples", true);
  add("gap_first_sample", kGap, "1", "first missing sample of the pulse", true);
  add("gap_sample_count", kGap, "1", "missing samples", true);
  add("detection_cpi", kDetection, "1", "CPI of the detection, a value of the coordinate cpi", true);
}

hid_t SegmentFile::file_type(ElementType type) {
  if (type == ElementType::complex64 && !complex_type_) {
    // netCDF drops variables of a compound type that has no name; at the root every group of the file sees it.
    complex_type_ = h5::pair_type(H5T_NATIVE_FLOAT);
    const h5::Group root = h5::open_group(file_.id(), "/");
    h5::checked("name type", kComplexTypeName, [&] {
      return H5Tcommit2(root.id(), kComplexTypeName, complex_type_.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    });
  }
  return memory_type(type, complex_type_.id());
}

std::string SegmentFile::axis_dimension(const Axis& axis, const std::string& product_name, std::vector<Axis>& known) {
  for (const Axis& other : known)
    if (same_axis(axis, other)) return axis.name();
  // Two products may cut one axis differently: the second one gets a name of its own.
  const bool taken = group_.has_dimension(axis.name());
  std::string name = taken ? axis.name() + "_of_" + product_name : axis.name();
  if (!group_.has_dimension(name)) group_.define_axis(axis, name);
  if (!taken) known.push_back(axis);
  return name;
}

SegmentFile::Variable SegmentFile::define_array(const Product& product) {
  Variable variable{product.name, product.axes, product.type, product.storage, {}, {}};
  std::vector<std::string> dimensions{kCpi};
  for (const Axis& axis : product.axes) {
    dimensions.push_back(axis_dimension(axis, product.name, axes_));
    variable.shape.push_back(axis.count());
  }
  const NetcdfStorage storage{choose_chunk(variable.shape, size_of(product.type)), deflate_level_,
                              is_float(product.type)};
  variable.dataset = group_.define_variable(product.name, file_type(product.type), dimensions, storage);
  describe_variable(variable.dataset, product.unit, product.description);
  if (!product.flag_meanings.empty()) describe_flags(variable.dataset, product.flag_meanings, product.flags_are_bits);
  return variable;
}

void SegmentFile::define_products(const CpiResult& result) {
  for (const Product& product : result.products) {
    if (!product.is_detection_column()) {
      variables_.push_back(define_array(product));
      continue;
    }
    Column& added = columns_.emplace_back();
    added.name = product.name;
    added.type = product.type;
    added.dimension = kDetection;
    added.unit = product.unit;
    added.description = product.description;
    added.flag_meanings = product.flag_meanings;
    added.flags_are_bits = product.flags_are_bits;
  }
  defined_ = true;
}

bool SegmentFile::takes(const CpiResult& result) const {
  if (!defined_) return true;
  std::size_t arrays = 0;
  std::size_t columns = 0;
  const auto first_column = std::find_if(columns_.begin(), columns_.end(),
                                         [](const Column& column) { return column.name == "detection_cpi"; });
  for (const Product& product : result.products) {
    if (product.is_detection_column()) {
      const auto match =
          std::find_if(first_column, columns_.end(), [&](const Column& column) { return column.name == product.name; });
      if (match == columns_.end() || match->type != product.type) return false;
      ++columns;
      continue;
    }
    const auto match = std::find_if(variables_.begin(), variables_.end(),
                                    [&](const Variable& variable) { return variable.name == product.name; });
    if (match == variables_.end() || match->type != product.type || match->storage != product.storage) return false;
    if (!std::equal(match->axes.begin(), match->axes.end(), product.axes.begin(), product.axes.end(), same_axis))
      return false;
    ++arrays;
  }
  return arrays == variables_.size() && columns + 1 == static_cast<std::size_t>(columns_.end() - first_column);
}

void SegmentFile::append_array(Variable& variable, const Product& product) {
  std::vector<hsize_t> size{cpi_count_ + 1};
  std::vector<hsize_t> start{cpi_count_};
  std::vector<hsize_t> count{1};
  for (const hsize_t axis : variable.shape) {
    size.push_back(axis);
    start.push_back(0);
    count.push_back(axis);
  }
  h5::checked("extend", variable.name, [&] { return H5Dset_extent(variable.dataset.id(), size.data()); });
  const std::size_t elements = h5::element_count(variable.shape);
  bytes_ += elements * size_of(variable.type);
  if (elements == 0) return;
  const hid_t type = memory_type(variable.type, complex_type_.id());
  if (product.storage == Storage::hermitian_lower) {
    const std::vector<std::complex<float>> full = expand_hermitian(product);
    h5::write_block(variable.dataset, type, start, count, full.data(), variable.name);
  } else {
    h5::write_block(variable.dataset, type, start, count, product.bytes.data(), variable.name);
  }
}

void SegmentFile::append_header(const CpiResult& result, std::size_t detection_count) {
  const CpiHeader& header = result.header;
  const SampleQuality& quality = result.quality;
  const auto index = static_cast<std::int64_t>(header.index);
  column(kCpi).add(index);
  column("start_time_s").add(header.start_time_s);
  column("sensor_time_s").add(header.sensor_time_s);
  column("detection_count").add(static_cast<std::int64_t>(detection_count));
  column("masked_samples").add(static_cast<std::int64_t>(quality.masked_samples));
  column("saturated_samples").add(static_cast<std::int64_t>(quality.saturated_samples));
  column("zero_channels").add(std::int64_t{quality.zero_channels});
  column("flagged_detections").add(std::int64_t{quality.flagged_detections});
  column("gap_count").add(static_cast<std::int64_t>(header.gaps.size()));
  for (const GapInterval& gap : header.gaps) {
    column("gap_cpi").add(index);
    column("gap_pulse").add(std::int64_t{gap.pulse});
    column("gap_first_sample").add(std::int64_t{gap.first_sample});
    column("gap_sample_count").add(std::int64_t{gap.sample_count});
  }
  Column& detection_cpi = column("detection_cpi");
  for (std::size_t i = 0; i < detection_count; ++i) detection_cpi.add(index);
}

void SegmentFile::append(const CpiResult& result) {
  if (!defined_) define_products(result);
  std::size_t detections = 0;
  for (const Product& product : result.products) {
    if (product.is_detection_column()) {
      detections = product.element_count();
      const std::span<const std::byte> used = product.bytes.first(detections * size_of(product.type));
      Column& into = column(product.name);
      into.values.insert(into.values.end(), used.begin(), used.end());
      bytes_ += used.size();
    } else {
      const auto variable = std::find_if(variables_.begin(), variables_.end(),
                                         [&](const Variable& candidate) { return candidate.name == product.name; });
      append_array(*variable, product);
    }
  }
  append_header(result, detections);
  constexpr std::size_t kHeaderBytes = 9 * sizeof(double);
  bytes_ += kHeaderBytes;
  ++cpi_count_;
}

h5::MemoryFile::Image SegmentFile::finish() {
  for (const Column& column : columns_) {
    const hid_t type = column.wide_integer ? H5T_NATIVE_INT64 : file_type(column.type);
    h5::Dataset dataset =
        column.name == kCpi
            ? h5::open_dataset(group_.id(), kCpi)
            : group_.define_variable(column.name, type, {column.dimension},
                                     {.chunk = {kColumnChunk}, .deflate_level = deflate_level_, .nan_fill = false});
    describe_variable(dataset, column.unit, column.description);
    if (!column.flag_meanings.empty()) describe_flags(dataset, column.flag_meanings, column.flags_are_bits);
    const hsize_t count = column.count();
    h5::checked("extend", column.name, [&] { return H5Dset_extent(dataset.id(), &count); });
    if (count > 0) h5::write_all(dataset, type, column.values.data(), column.name);
    if (column.name == "detection_cpi" || column.name == "gap_cpi") {
      // The dataset of a dimension without coordinates has the dimension's size, too.
      const h5::Dataset scale = h5::open_dataset(group_.id(), column.dimension);
      h5::checked("extend", column.dimension, [&] { return H5Dset_extent(scale.id(), &count); });
    }
  }
  variables_.clear();
  group_ = NetcdfGroup(h5::Group{});
  complex_type_.reset();
  return file_.finish();
}

}  // namespace cornerturn
