#include "src/result/join_segments.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "src/result/durable_file.h"
#include "src/result/netcdf_copy.h"
#include "src/result/netcdf_group.h"
#include "src/result/result_fault.h"
#include "src/support/hdf5.h"

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{16} << 20;

/// A segment that cannot be read, as opposed to a result that cannot be written.
struct UnreadableSegment {
  std::string reason;
};

template <typename Function> auto reading(Function&& function) {
  try {
    return function();
  } catch (const h5::Hdf5Error& error) {
    throw UnreadableSegment{error.what()};
  }
}

/// "name" at the root, else "group/name".
std::string path_below(const std::string& group, const std::string& name) {
  return group == "/" ? name : fmt::format("{}/{}", group, name);
}

class Joiner {
 public:
  explicit Joiner(const std::string& path) : file_(h5::create_file(path)) {}

  /// Appends a segment, whole or not at all: lengths count only once all of its variables are written.
  void append(const std::string& segment) {
    const h5::File source = reading([&] { return h5::open_file(segment); });
    copy_named_types(source.id(), file_.id());
    added_.clear();
    append_group(source.id(), "/");
    for (const auto& [dimension, count] : added_) length_[dimension] += count;
  }

  void finish(bool complete, const std::string& history) {
    for (const auto& [path, dimension] : growing_) {
      // Variables that the last segments lacked get the length of their dimension here, filled.
      const h5::Dataset dataset = h5::open_dataset(file_.id(), path);
      std::vector<hsize_t> size = h5::shape_of(dataset);
      size.front() = length_.count(dimension) != 0 ? length_.at(dimension) : 0;
      h5::checked("extend", path, [&] { return H5Dset_extent(dataset.id(), size.data()); });
    }
    const h5::Group root = h5::open_group(file_.id(), "/");
    h5::write_attribute(root.id(), "complete", std::int32_t{complete});
    if (!history.empty()) {
      const std::string before = h5::find_text_attribute(root.id(), "history").value_or("");
      h5::write_attribute(root.id(), "history", std::string_view(before.empty() ? history : history + "\n" + before));
    }
    file_.close("result");
  }

  /// Length of a dimension, summed over the groups.
  std::uint64_t total(const std::string& dimension) const {
    std::uint64_t sum = 0;
    for (const auto& [key, count] : length_)
      if (key.second == dimension) sum += count;
    return sum;
  }

 private:
  using Dimension = std::pair<std::string, std::string>;  // group path, name

  void append_group(hid_t source_file, const std::string& path) {
    const h5::Group from = reading([&] { return h5::open_group(source_file, path); });
    h5::Group to;
    if (path == "/" || h5::exists(file_.id(), path)) {
      to = h5::open_group(file_.id(), path);
    } else {
      to = h5::create_group(file_.id(), path);
    }
    if (described_.insert(path).second) copy_attributes(from.id(), to.id());

    std::vector<std::string> names;
    std::vector<std::string> groups;
    for (const std::string& name : reading([&] { return h5::child_names(from.id()); })) {
      const h5::ChildKind kind = h5::child_kind(from.id(), name);
      if (kind == h5::ChildKind::dataset) names.push_back(name);
      if (kind == h5::ChildKind::group) groups.push_back(path_below(path, name));
    }
    define_missing(from.id(), to.id(), path, names);
    for (const std::string& name : names) append_dataset(from.id(), to.id(), path, name);
    for (const std::string& group : groups) append_group(source_file, group);
  }

  void define_missing(hid_t from, hid_t to, const std::string& path, const std::vector<std::string>& names) {
    std::vector<std::string> made;
    for (const std::string& name : names) {
      if (h5::exists(to, name)) continue;
      const h5::Dataset source = reading([&] { return h5::open_dataset(from, name); });
      const h5::Dataset clone = clone_dataset(source, file_.id(), to, name);
      made.push_back(name);
      const std::vector<hsize_t> shape = h5::shape_of(source);
      if (!grows(source)) copy_rows(source, clone, name, shape, 0);
    }
    for (const std::string& name : made) {
      const h5::Dataset source = reading([&] { return h5::open_dataset(from, name); });
      const std::vector<std::string> dimensions = reading([&] { return dimension_names(source, name); });
      const h5::Dataset clone = h5::open_dataset(to, name);
      attach_scales(clone, to, name, dimensions);
      if (grows(source)) growing_[path_below(path, name)] = {path, dimensions.front()};
    }
  }

  void append_dataset(hid_t from, hid_t to, const std::string& path, const std::string& name) {
    const h5::Dataset source = reading([&] { return h5::open_dataset(from, name); });
    const h5::Dataset target = h5::open_dataset(to, name);
    const std::vector<hsize_t> shape = h5::shape_of(source);
    std::vector<hsize_t> size = h5::shape_of(target);
    if (!std::equal(shape.begin() + (grows(source) ? 1 : 0), shape.end(), size.begin() + (grows(source) ? 1 : 0),
                    size.end()))
      throw UnreadableSegment{"variable '" + name + "' has another shape than in the segments before"};
    if (!grows(source)) return;
    const Dimension dimension = growing_.at(path_below(path, name));
    const hsize_t offset = length_.count(dimension) != 0 ? length_.at(dimension) : 0;
    added_[dimension] = std::max<hsize_t>(added_[dimension], shape.front());
    size.front() = offset + shape.front();
    h5::checked("extend", name, [&] { return H5Dset_extent(target.id(), size.data()); });
    if (!is_bare_dimension(source)) copy_rows(source, target, name, shape, offset);
  }

  /// Copies all of `source` to the rows of `target` from `offset` on, in blocks.
  void copy_rows(const h5::Dataset& source, const h5::Dataset& target, const std::string& name,
                 const std::vector<hsize_t>& shape, hsize_t offset) {
    const h5::Datatype type = h5::type_of(source);
    if (h5::element_count(shape) == 0) return;
    const std::size_t row_bytes = h5::element_count(std::span(shape).subspan(1)) * H5Tget_size(type.id());
    const hsize_t rows_at_once = std::max<hsize_t>(kBlockBytes / row_bytes, 1);
    std::vector<hsize_t> from(shape.size(), 0);
    std::vector<hsize_t> to(shape.size(), 0);
    std::vector<hsize_t> count = shape;
    for (hsize_t row = 0; row < shape.front(); row += rows_at_once) {
      count.front() = std::min(rows_at_once, shape.front() - row);
      from.front() = row;
      to.front() = offset + row;
      buffer_.resize(count.front() * row_bytes);
      reading([&] { h5::read_block(source, type.id(), from, count, buffer_.data(), name); });
      h5::write_block(target, type.id(), to, count, buffer_.data(), name);
    }
  }

  h5::File file_;
  std::map<Dimension, hsize_t> length_;       // rows so far
  std::map<Dimension, hsize_t> added_;        // by the segment in work
  std::map<std::string, Dimension> growing_;  // path of a variable -> its first dimension
  std::set<std::string> described_;
  std::vector<std::byte> buffer_;
};

/// A segment that turned out to be damaged when part of it had been copied already.
struct DamagedSegment {
  std::string path;
  std::string reason;
};

/// One attempt to join all segments but those in `damaged`. Throws DamagedSegment for the first other one.
JoinReport try_join(const std::string& path, const std::vector<std::string>& segments,
                    const std::map<std::string, std::string>& damaged, bool complete, const std::string& history) {
  JoinReport report;
  Joiner joiner(path);
  for (const std::string& segment : segments) {
    if (const auto known = damaged.find(segment); known != damaged.end()) {
      report.skipped.push_back(segment + ": " + known->second);
      continue;
    }
    try {
      joiner.append(segment);
      report.joined.push_back(segment);
    } catch (const UnreadableSegment& unreadable) {
      report.skipped.push_back(segment + ": " + unreadable.reason);
    } catch (const h5::Hdf5Error& error) {
      // The system has a reason when writing fails; what the library alone refuses is the segment's damage.
      if (!error.system_reason().empty()) throw;
      throw DamagedSegment{segment, error.what()};
    }
  }
  joiner.finish(complete, history);
  report.cpi_count = joiner.total("cpi");
  report.detection_count = joiner.total("detection");
  return report;
}

/// Joins what can be read: each damaged segment costs one more attempt, because part of it lies in the joined file.
JoinReport join_into(const std::string& path, const std::vector<std::string>& segments, bool complete,
                     const std::string& history) {
  std::map<std::string, std::string> damaged;
  for (;;) {
    try {
      return try_join(path, segments, damaged, complete, history);
    } catch (const DamagedSegment& segment) {
      damaged[segment.path] = segment.reason;
    }
  }
}

}  // namespace

Expected<JoinReport> join_segments(const std::vector<std::string>& segments, const std::string& scratch_directory,
                                   const std::string& result_path, bool complete, const std::string& history) {
  std::size_t bytes = 0;
  std::error_code ignored;
  for (const std::string& segment : segments) bytes += static_cast<std::size_t>(fs::file_size(segment, ignored));
  // Asked for beforehand, because an HDF5 file on a full disk cannot even be closed.
  if (Expected<void> space = check_space(scratch_directory, bytes); !space) return unexpected(space.error());

  const std::string scratch = scratch_directory + "/joined.partial";
  try {
    JoinReport report = join_into(scratch, segments, complete, history);
    if (report.joined.empty()) {
      fs::remove(scratch, ignored);
      const std::string reason = report.skipped.empty() ? "there is no closed segment" : report.skipped.front();
      return input_error(scratch_directory, "no segment can be read: " + reason, "nothing can be recovered");
    }
    if (Expected<void> published = publish_durably(scratch, result_path); !published)
      return unexpected(published.error());
    return report;
  } catch (const h5::Hdf5Error& error) {
    fs::remove(scratch, ignored);
    return result_fault(result_path, error);
  }
}

}  // namespace cornerturn
