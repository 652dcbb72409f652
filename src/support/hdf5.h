#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "dsp/vocabulary/contract.h"

/// Thin checked handles over the HDF5 C API. Every call is checked; the library prints nothing by itself.
/// HDF5 of Debian is thread-safe by one global lock: readers and writers of different threads wait for each other.
namespace cornerturn::h5 {

/// An HDF5 call failed: "<operation> '<object>': <innermost message of the library>", one line.
class Hdf5Error : public std::runtime_error {
 public:
  Hdf5Error(const std::string& operation, const std::string& object, std::string cause);
  /// The library's own innermost message: "truncated file: eof = 96, ...".
  const std::string& cause() const { return cause_; }
  /// The system's reason in that message ("No space left on device"); empty when the library itself refused.
  std::string system_reason() const;

 private:
  std::string cause_;
};

/// Switches off HDF5's printing of its error stack for the calling thread (the library keeps one stack per thread).
void silence_hdf5();
/// Throws Hdf5Error with the innermost message of the calling thread's error stack.
[[noreturn]] void throw_hdf5_error(std::string_view operation, std::string_view object);

/// Calls `function` with printing off and throws when its result is negative: the one way to call the C API.
template <typename Function> auto checked(std::string_view operation, std::string_view object, Function&& function) {
  silence_hdf5();
  auto result = std::forward<Function>(function)();
  if (result < 0) throw_hdf5_error(operation, object);
  return result;
}

/// Move-only owner of one HDF5 identifier. The destructor closes and never throws; where a failed close means lost data
/// (files), call close() first.
template <herr_t (*Close)(hid_t)> class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  ~Handle() { reset(); }

  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void reset() noexcept {
    if (id_ < 0) return;
    silence_hdf5();
    Close(std::exchange(id_, H5I_INVALID_HID));
  }
  /// Closes and throws Hdf5Error when that fails.
  void close(std::string_view object) {
    if (id_ < 0) return;
    checked("close", object, [&] { return Close(std::exchange(id_, H5I_INVALID_HID)); });
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Datatype = Handle<H5Tclose>;
using Dataspace = Handle<H5Sclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;
using Object = Handle<H5Oclose>;

Properties make_properties(hid_t property_class);
/// Links and attributes keep the order of creation (netCDF lists by it).
Properties file_creation_properties();
/// Version bounds of HDF5 1.8, so that all later versions and every netCDF-4 library read the file.
Properties file_access_properties();

/// Opens an existing file for reading. Takes no file lock: captures lie on read-only and network disks.
/// Throws Hdf5Error; its cause() tells a truncated file ("truncated file: eof = ..., stored_eof = ...") from one that
/// is not HDF5 ("file signature not found").
File open_file(const std::string& path);
/// Creates (or truncates) a file that HDF5 1.8 and all later versions read, links and attributes in creation order.
File create_file(const std::string& path);
/// A file that is built in memory and becomes bytes at the end, so that a full disk meets plain writes, whose cause is
/// known, and never an HDF5 file that cannot be closed.
class MemoryFile {
 public:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  /// The content that the file has on disk.
  struct Image {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0;
    std::span<const std::byte> bytes() const { return {memory.get(), size}; }
  };

  /// Memory grows by `growth_bytes` at a time. Throws Hdf5Error.
  explicit MemoryFile(const std::string& name, std::size_t growth_bytes);
  hid_t id() const { return file_.id(); }
  /// Closes the file and gives its bytes; every other handle into it must have ended.
  Image finish();

 private:
  std::unique_ptr<Image> image_;  // filled by HDF5 when it closes the file; the address stays when this object moves
  File file_;
};

/// True when `path` ("a", "a/b") exists below `location`.
bool exists(hid_t location, const std::string& path);
Group open_group(hid_t location, const std::string& path);
/// A new group that keeps the order of creation.
Group create_group(hid_t location, const std::string& path);
Dataset open_dataset(hid_t location, const std::string& path);
/// Names of what lies directly in a group: in order of creation where the file keeps it, else by name.
std::vector<std::string> child_names(hid_t group);
enum class ChildKind { group, dataset, datatype, other };
ChildKind child_kind(hid_t group, const std::string& name);
/// Paths ("a", "a/b") of all datasets below `group`.
std::vector<std::string> dataset_paths(hid_t group);

/// The memory type of T: fixed-size integers, float, double.
template <typename T> hid_t native_type();
template <> hid_t native_type<std::int8_t>();
template <> hid_t native_type<std::uint8_t>();
template <> hid_t native_type<std::int16_t>();
template <> hid_t native_type<std::uint16_t>();
template <> hid_t native_type<std::int32_t>();
template <> hid_t native_type<std::uint32_t>();
template <> hid_t native_type<std::int64_t>();
template <> hid_t native_type<std::uint64_t>();
template <> hid_t native_type<float>();
template <> hid_t native_type<double>();

/// Compound type {first, second} of two equal scalars, packed: {r, i} is what h5py calls complex.
Datatype pair_type(hid_t scalar_type, const std::string& first = "r", const std::string& second = "i");

/// Size along each axis; empty for a scalar.
std::vector<hsize_t> shape_of(const Dataset& dataset);
/// Elements of a shape (1 for a scalar).
std::size_t element_count(std::span<const hsize_t> shape);
Datatype type_of(const Dataset& dataset);
Dataspace make_space(std::span<const hsize_t> shape);
Dataspace make_space(std::initializer_list<hsize_t> shape);
/// Where the bytes of an unfiltered contiguous dataset lie in its file, counted from the file's first byte; empty for
/// any other storage (chunked, compact, external, not yet allocated).
std::optional<std::uint64_t> contiguous_offset(const Dataset& dataset);

/// Reads or writes the whole dataset; `memory_type` says what lies in memory.
void read_all(const Dataset& dataset, hid_t memory_type, void* out, std::string_view name);
void write_all(const Dataset& dataset, hid_t memory_type, const void* in, std::string_view name);
/// Reads or writes the block [start, start + count) of each axis; in memory it is dense in C order.
void read_block(const Dataset& dataset, hid_t memory_type, std::span<const hsize_t> start,
                std::span<const hsize_t> count, void* out, std::string_view name);
void write_block(const Dataset& dataset, hid_t memory_type, std::span<const hsize_t> start,
                 std::span<const hsize_t> count, const void* in, std::string_view name);

/// Whole dataset as a vector of T, converted by the library when the file's type differs.
template <typename T> std::vector<T> read_vector(hid_t location, const std::string& path) {
  const Dataset dataset = open_dataset(location, path);
  std::vector<T> values(element_count(shape_of(dataset)));
  if (!values.empty()) read_all(dataset, native_type<T>(), values.data(), path);
  return values;
}
/// Creates a contiguous dataset of `shape` and writes it. Contract: shape and values agree.
template <typename T>
Dataset write_vector(hid_t location, const std::string& path, std::span<const hsize_t> shape,
                     std::span<const T> values);

bool has_attribute(hid_t object, const std::string& name);
/// Text of any string attribute (fixed or variable length), without padding.
std::string read_text_attribute(hid_t object, const std::string& name);
std::vector<double> read_number_attribute(hid_t object, const std::string& name);
std::optional<std::string> find_text_attribute(hid_t object, const std::string& name);
/// The first element of a number attribute; empty when the attribute is absent or text.
std::optional<double> find_number_attribute(hid_t object, const std::string& name);

/// Attributes are written once; writing a name again replaces it.
void write_attribute(hid_t object, const std::string& name, std::string_view text);
void write_attribute(hid_t object, const std::string& name, const char* text);
void write_attribute_values(hid_t object, const std::string& name, hid_t memory_type, const void* values,
                            std::size_t count, bool scalar);
template <typename T>
requires std::integral<T> || std::floating_point<T>
void write_attribute(hid_t object, const std::string& name, T value) {
  write_attribute_values(object, name, native_type<T>(), &value, 1, true);
}
template <typename T> void write_attribute(hid_t object, const std::string& name, std::span<const T> values) {
  write_attribute_values(object, name, native_type<T>(), values.data(), values.size(), false);
}

/// Creates a dataset; `properties` may be H5P_DEFAULT.
Dataset create_dataset(hid_t location, const std::string& path, hid_t file_type, const Dataspace& space,
                       hid_t properties = H5P_DEFAULT);

template <typename T>
Dataset write_vector(hid_t location, const std::string& path, std::span<const hsize_t> shape,
                     std::span<const T> values) {
  CORNERTURN_REQUIRE(element_count(shape) == values.size());
  Dataset dataset = create_dataset(location, path, native_type<T>(), make_space(shape));
  if (!values.empty()) write_all(dataset, native_type<T>(), values.data(), path);
  return dataset;
}

}  // namespace cornerturn::h5
