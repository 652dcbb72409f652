#include "src/capture/hdf5_array.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dsp/vocabulary/contract.h"
#include "src/capture/checked_size.h"
#include "src/capture/hdf5_element.h"
#include "src/capture/hdf5_file_check.h"
#include "src/capture/hdf5_inside.h"

namespace cornerturn {
namespace {

/// Chunked or compact data: the library finds and unpacks it; types are left as they are in the file.
class LibraryArray final : public ArrayFile {
 public:
  LibraryArray(std::string path, ArrayElement element, std::vector<std::uint64_t> shape, h5::Dataset dataset,
               std::string name)
      : ArrayFile(std::move(path), element, std::move(shape), false),
        dataset_(std::move(dataset)),
        name_(std::move(name)) {}

  std::string describe() const override {
    return fmt::format("{}, read through the HDF5 library", cornerturn::describe(element()));
  }

  Expected<void> read_box(const ArrayBox& box, std::span<std::byte> out) const override {
    CORNERTURN_REQUIRE(out.size() == box.element_count() * element().bytes());
    try {
      const std::vector<hsize_t> start(box.start.begin(), box.start.end());
      const std::vector<hsize_t> count(box.count.begin(), box.count.end());
      h5::read_block(dataset_, h5::type_of(dataset_).id(), start, count, out.data(), name_);
      return {};
    } catch (const h5::Hdf5Error& error) {
      return input_error(
          path() + ":" + name_,
          fmt::format("elements from {} on cannot be read: {}", fmt::join(box.start, ", "), error.cause()),
          "the file is damaged: copy it again");
    }
  }

 private:
  h5::Dataset dataset_;
  std::string name_;
};

/// Unfiltered chunks that span all axes but the first: each is a run of rows at a file offset of its own.
class RowChunkArray final : public ArrayFile {
 public:
  RowChunkArray(ReadOnlyFile file, ArrayElement element, std::vector<std::uint64_t> shape, std::uint64_t rows_per_chunk,
                std::vector<std::uint64_t> offsets)
      : ArrayFile(file.path(), element, std::move(shape), false),
        file_(std::move(file)),
        rows_per_chunk_(rows_per_chunk),
        offsets_(std::move(offsets)) {}

  std::string describe() const override {
    return fmt::format("{}, read by file offset in blocks of {}", cornerturn::describe(element()), rows_per_chunk_);
  }

  Expected<void> read_box(const ArrayBox& box, std::span<std::byte> out) const override {
    ArrayBox row_box = box;
    row_box.count.front() = 1;
    row_box.start.front() = 0;
    const std::uint64_t row_bytes = row_box.element_count() * element().bytes();
    CORNERTURN_REQUIRE(out.size() == box.count.front() * row_bytes);
    std::vector<std::uint64_t> row_shape(shape().begin() + 1, shape().end());
    const std::uint64_t stored_row_bytes =
        ArrayBox{{}, row_shape}.element_count() * element().bytes();  // sizes were checked when this was made
    const bool whole_rows = row_bytes == stored_row_bytes;
    for (std::uint64_t row = 0; row < box.count.front(); ++row) {
      const std::uint64_t index = box.start.front() + row;
      const std::uint64_t at = offsets_[index / rows_per_chunk_] + index % rows_per_chunk_ * stored_row_bytes;
      const std::span<std::byte> target = out.subspan(row * row_bytes, row_bytes);
      if (auto done = whole_rows ? file_.read_exact(at, target) : read_part(row_box, at, target); !done) return done;
    }
    return {};
  }

 private:
  /// Part of a row: the axes behind the first are those of a contiguous array.
  Expected<void> read_part(const ArrayBox& row_box, std::uint64_t at, std::span<std::byte> target) const {
    auto file = ReadOnlyFile::open(path());
    if (!file) return unexpected(file.error());
    std::vector<std::uint64_t> row_shape = shape();
    row_shape.front() = 1;
    const auto row = ContiguousArray::make(std::move(*file), element(), row_shape, false, at);
    if (!row) return unexpected(row.error());
    return (*row)->read_box(row_box, target);
  }

  ReadOnlyFile file_;
  std::uint64_t rows_per_chunk_;
  std::vector<std::uint64_t> offsets_;
};

Expected<void> check_filters(hid_t properties, const std::string& where) {
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t value_count = 0;
    std::string name(64, '\0');
    const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &value_count, nullptr,
                                               name.size(), name.data(), nullptr);
    h5::silence_hdf5();
    if (filter >= 0 && H5Zfilter_avail(filter) > 0) continue;
    return input_error(
        where, fmt::format("is packed with HDF5 filter {} ({}), which this machine lacks", filter, name.c_str()),
        "install that HDF5 plugin, or unpack with h5repack -f NONE on the machine that wrote it");
  }
  return {};
}

std::uint64_t user_block_bytes(const h5::Dataset& dataset) {
  const h5::File file(h5::checked("find file", "", [&] { return H5Iget_file_id(dataset.id()); }));
  const h5::Properties creation(h5::checked("read file", "", [&] { return H5Fget_create_plist(file.id()); }));
  hsize_t bytes = 0;
  h5::checked("read user block", "", [&] { return H5Pget_userblock(creation.id(), &bytes); });
  return bytes;
}

/// A filtered chunk is unpacked as a whole, however little of it is wanted.
Expected<void> check_chunk(hid_t properties, std::size_t rank, std::size_t element_bytes, const std::string& where) {
  constexpr std::uint64_t kLargestChunk = std::uint64_t{1} << 30;
  std::vector<hsize_t> chunk(rank);
  h5::checked("read chunk", where, [&] { return H5Pget_chunk(properties, static_cast<int>(rank), chunk.data()); });
  const auto bytes = checked_product(element_bytes, std::vector<std::uint64_t>(chunk.begin(), chunk.end()));
  if (bytes && *bytes <= kLargestChunk) return {};
  return input_error(where,
                     fmt::format("is stored in blocks of {}, too large to unpack",
                                 describe_shape(std::vector<std::uint64_t>(chunk.begin(), chunk.end()))),
                     "repack it with h5repack -l CHUNK");
}

/// File offsets of all chunks, when they can be read without the library; empty otherwise.
std::vector<std::uint64_t> row_chunk_offsets(const h5::Dataset& dataset, hid_t properties,
                                             const std::vector<std::uint64_t>& shape, std::uint64_t& rows_per_chunk,
                                             std::uint64_t element_bytes, std::uint64_t file_bytes) {
  std::vector<hsize_t> chunk(shape.size());
  // Chunk addresses do not count a user block before the HDF5 part of the file.
  if (user_block_bytes(dataset) != 0) return {};
  if (H5Pget_nfilters(properties) != 0 ||
      H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()) != static_cast<int>(chunk.size()))
    return {};
  if (!std::equal(chunk.begin() + 1, chunk.end(), shape.begin() + 1, shape.end()) || chunk.front() == 0) return {};
  rows_per_chunk = chunk.front();
  const std::uint64_t chunk_count = (shape.front() + rows_per_chunk - 1) / rows_per_chunk;
  const std::uint64_t chunk_bytes =
      checked_product(element_bytes, std::vector<std::uint64_t>(chunk.begin(), chunk.end())).value_or(UINT64_MAX);
  if (chunk_count > file_bytes / chunk_bytes) return {};  // some were never written: the library fills them
  std::vector<std::uint64_t> offsets;
  offsets.reserve(chunk_count);
  for (std::uint64_t i = 0; i < chunk_count; ++i) {
    std::vector<hsize_t> at(shape.size(), 0);
    at.front() = i * rows_per_chunk;
    unsigned mask = 0;
    haddr_t offset = HADDR_UNDEF;
    hsize_t size = 0;
    h5::silence_hdf5();
    if (H5Dget_chunk_info_by_coord(dataset.id(), at.data(), &mask, &offset, &size) < 0 || offset == HADDR_UNDEF ||
        size != chunk_bytes || offset > file_bytes || size > file_bytes - offset)
      return {};
    offsets.push_back(offset);
  }
  return offsets;
}

std::string names_there(const h5::File& file) {
  try {
    std::vector<std::string> names = h5::dataset_paths(file.id());
    constexpr std::size_t kShown = 8;
    const bool more = names.size() > kShown;
    names.resize(std::min(names.size(), kShown));
    return names.empty() ? "the file has no datasets"
                         : fmt::format("there are: {}{}", fmt::join(names, ", "), more ? ", ..." : "");
  } catch (const h5::Hdf5Error&) {
    return "list them with h5ls -r";
  }
}

}  // namespace

Expected<std::unique_ptr<ArrayFile>> open_hdf5_array(const std::string& path, const std::string& dataset) {
  const auto file = open_hdf5_checked(path);
  if (!file) return unexpected(file.error());
  return open_hdf5_array(path, *file, dataset);
}

Expected<std::unique_ptr<ArrayFile>> open_hdf5_array(const std::string& path, const h5::File& file,
                                                     const std::string& name) {
  const std::string where = path + ":" + name;
  bool refused = false;
  h5::Dataset dataset;
  try {
    dataset = h5::open_dataset_inside(file, name, refused);
  } catch (const h5::Hdf5Error&) {
    if (refused)
      return input_error(where, "lies in another file (external link), which is not followed",
                         "copy it into one file with h5copy or h5repack");
    return input_error(where, "there is no such dataset", names_there(file));
  }
  try {
    const h5::Datatype type = h5::type_of(dataset);
    const auto element = element_of_hdf5_type(type.id());
    if (!element)
      return input_error(where, "holds no plain numbers and no pairs of equal numbers",
                         "choose a dataset of int8 to int32, float32, float64 or complex");
    const std::vector<hsize_t> extents = h5::shape_of(dataset);
    const std::vector<std::uint64_t> shape(extents.begin(), extents.end());
    if (shape.empty()) return input_error(where, "is a single value, not an array", names_there(file));
    if (auto bytes = array_bytes(where, *element, shape); !bytes) return unexpected(bytes.error());

    const h5::Properties creation(h5::checked("read storage", name, [&] { return H5Dget_create_plist(dataset.id()); }));
    const H5D_layout_t layout = H5Pget_layout(creation.id());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.id()) > 0)
      return input_error(where,
                         "takes its samples from other files (virtual or external storage), which is not followed",
                         "copy it into one file with h5repack");
    if (auto done = check_filters(creation.id(), where); !done) return unexpected(done.error());

    auto plain = ReadOnlyFile::open(path);
    if (!plain) return unexpected(plain.error());
    if (const auto offset = h5::contiguous_offset(dataset)) {
      auto array = ContiguousArray::make(std::move(*plain), *element, shape, false, *offset);
      if (!array) return unexpected(array.error());
      return std::unique_ptr<ArrayFile>(std::move(*array));
    }
    if (layout == H5D_CHUNKED) {
      std::uint64_t rows = 1;
      auto offsets = row_chunk_offsets(dataset, creation.id(), shape, rows, element->bytes(), plain->size_bytes());
      if (offsets.empty()) {
        if (auto done = check_chunk(creation.id(), shape.size(), element->bytes(), where); !done)
          return unexpected(done.error());
      } else {
        return std::unique_ptr<ArrayFile>(
            std::make_unique<RowChunkArray>(std::move(*plain), *element, shape, rows, std::move(offsets)));
      }
    }
    return std::unique_ptr<ArrayFile>(std::make_unique<LibraryArray>(path, *element, shape, std::move(dataset), name));
  } catch (const h5::Hdf5Error& error) {
    return input_error(where, fmt::format("cannot be read: {}", error.cause()), "the file is damaged: copy it again");
  }
}

}  // namespace cornerturn
