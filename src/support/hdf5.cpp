#include "src/support/hdf5.h"

#include <algorithm>

namespace cornerturn::h5 {
namespace {

constexpr unsigned kCreationOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

herr_t keep_innermost(unsigned, const H5E_error2_t* entry, void* out) {
  auto& message = *static_cast<std::string*>(out);
  if (message.empty() && entry->desc != nullptr) message = entry->desc;
  return 0;
}

std::string innermost_message() {
  std::string message;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &message);  // upward: from the call that failed first
  H5Eclear2(H5E_DEFAULT);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message.empty() ? "no reason given by HDF5" : message;
}

std::vector<hsize_t> shape_of_space(hid_t space, std::string_view name) {
  const int rank = checked("read rank", name, [&] { return H5Sget_simple_extent_ndims(space); });
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  if (rank > 0) checked("read shape", name, [&] { return H5Sget_simple_extent_dims(space, shape.data(), nullptr); });
  return shape;
}

Dataspace select(const Dataset& dataset, std::span<const hsize_t> start, std::span<const hsize_t> count,
                 std::string_view name) {
  Dataspace space(checked("read shape", name, [&] { return H5Dget_space(dataset.id()); }));
  CORNERTURN_REQUIRE(shape_of_space(space.id(), name).size() == start.size() && start.size() == count.size());
  checked("select part", name, [&] {
    return H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  });
  return space;
}

Attribute open_attribute(hid_t object, const std::string& name) {
  return Attribute(checked("open attribute", name, [&] { return H5Aopen(object, name.c_str(), H5P_DEFAULT); }));
}

bool is_text(hid_t type) { return H5Tget_class(type) == H5T_STRING; }

}  // namespace

Hdf5Error::Hdf5Error(const std::string& operation, const std::string& object, std::string cause)
    : std::runtime_error(operation + (object.empty() ? "" : " '" + object + "'") + ": " + cause),
      cause_(std::move(cause)) {}

std::string Hdf5Error::system_reason() const {
  // "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf = ..."
  constexpr std::string_view kReason = "error message = '";
  const std::size_t start = cause_.find(kReason);
  if (start == std::string::npos) return {};
  const std::size_t begin = start + kReason.size();
  return cause_.substr(begin, cause_.find('\'', begin) - begin);
}

void silence_hdf5() {
  thread_local const bool kSilent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  static_cast<void>(kSilent);
}

void throw_hdf5_error(std::string_view operation, std::string_view object) {
  throw Hdf5Error(std::string(operation), std::string(object), innermost_message());
}

Properties make_properties(hid_t property_class) {
  return Properties(checked("make properties", "", [&] { return H5Pcreate(property_class); }));
}

Properties file_creation_properties() {
  Properties properties = make_properties(H5P_FILE_CREATE);
  checked("order links", "", [&] { return H5Pset_link_creation_order(properties.id(), kCreationOrder); });
  checked("order attributes", "", [&] { return H5Pset_attr_creation_order(properties.id(), kCreationOrder); });
  return properties;
}

Properties file_access_properties() {
  Properties properties = make_properties(H5P_FILE_ACCESS);
  checked("set version bounds", "",
          [&] { return H5Pset_libver_bounds(properties.id(), H5F_LIBVER_V18, H5F_LIBVER_V18); });
  return properties;
}

File open_file(const std::string& path) {
  const Properties access = make_properties(H5P_FILE_ACCESS);
  checked("set file locking", path, [&] { return H5Pset_file_locking(access.id(), false, true); });
  return File(checked("open file", path, [&] { return H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()); }));
}

File create_file(const std::string& path) {
  const Properties creation = file_creation_properties();
  const Properties access = file_access_properties();
  checked("set file locking", path, [&] { return H5Pset_file_locking(access.id(), true, true); });
  return File(
      checked("create file", path, [&] { return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()); }));
}

bool exists(hid_t location, const std::string& path) {
  // H5Lexists needs every group on the way to exist, so that the path is tried piece by piece.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string head = path.substr(0, end);
    if (checked("look for", head, [&] { return H5Lexists(location, head.c_str(), H5P_DEFAULT); }) == 0) return false;
    if (end == std::string::npos) break;
  }
  return checked("look for", path, [&] { return H5Oexists_by_name(location, path.c_str(), H5P_DEFAULT); }) > 0;
}

Group open_group(hid_t location, const std::string& path) {
  return Group(checked("open group", path, [&] { return H5Gopen2(location, path.c_str(), H5P_DEFAULT); }));
}

Group create_group(hid_t location, const std::string& path) {
  const Properties creation = make_properties(H5P_GROUP_CREATE);
  checked("order links", path, [&] { return H5Pset_link_creation_order(creation.id(), kCreationOrder); });
  checked("order attributes", path, [&] { return H5Pset_attr_creation_order(creation.id(), kCreationOrder); });
  return Group(checked("create group", path,
                       [&] { return H5Gcreate2(location, path.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT); }));
}

Dataset open_dataset(hid_t location, const std::string& path) {
  return Dataset(checked("open dataset", path, [&] { return H5Dopen2(location, path.c_str(), H5P_DEFAULT); }));
}

std::vector<std::string> child_names(hid_t group) {
  std::vector<std::string> names;
  const auto append = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  silence_hdf5();
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, append, &names) >= 0) return names;
  H5Eclear2(H5E_DEFAULT);
  names.clear();
  checked("list group", "", [&] { return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, append, &names); });
  return names;
}

ChildKind child_kind(hid_t group, const std::string& name) {
  H5O_info_t info{};
  checked("look at", name,
          [&] { return H5Oget_info_by_name2(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT); });
  switch (info.type) {
    case H5O_TYPE_GROUP:
      return ChildKind::group;
    case H5O_TYPE_DATASET:
      return ChildKind::dataset;
    case H5O_TYPE_NAMED_DATATYPE:
      return ChildKind::datatype;
    default:
      return ChildKind::other;
  }
}

std::vector<std::string> dataset_paths(hid_t group) {
  std::vector<std::string> paths;
  checked("list datasets", "", [&] {
    return H5Ovisit2(
        group, H5_INDEX_NAME, H5_ITER_INC,
        [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
          if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->emplace_back(name);
          return 0;
        },
        &paths, H5O_INFO_BASIC);
  });
  return paths;
}

template <> hid_t native_type<std::int8_t>() { return H5T_NATIVE_INT8; }
template <> hid_t native_type<std::uint8_t>() { return H5T_NATIVE_UINT8; }
template <> hid_t native_type<std::int16_t>() { return H5T_NATIVE_INT16; }
template <> hid_t native_type<std::uint16_t>() { return H5T_NATIVE_UINT16; }
template <> hid_t native_type<std::int32_t>() { return H5T_NATIVE_INT32; }
template <> hid_t native_type<std::uint32_t>() { return H5T_NATIVE_UINT32; }
template <> hid_t native_type<std::int64_t>() { return H5T_NATIVE_INT64; }
template <> hid_t native_type<std::uint64_t>() { return H5T_NATIVE_UINT64; }
template <> hid_t native_type<float>() { return H5T_NATIVE_FLOAT; }
template <> hid_t native_type<double>() { return H5T_NATIVE_DOUBLE; }

Datatype pair_type(hid_t scalar_type, const std::string& first, const std::string& second) {
  const std::size_t size = H5Tget_size(scalar_type);
  Datatype type(checked("make compound type", first, [&] { return H5Tcreate(H5T_COMPOUND, 2 * size); }));
  checked("add member", first, [&] { return H5Tinsert(type.id(), first.c_str(), 0, scalar_type); });
  checked("add member", second, [&] { return H5Tinsert(type.id(), second.c_str(), size, scalar_type); });
  return type;
}

std::vector<hsize_t> shape_of(const Dataset& dataset) {
  const Dataspace space(checked("read shape", "", [&] { return H5Dget_space(dataset.id()); }));
  return shape_of_space(space.id(), "");
}

std::size_t element_count(std::span<const hsize_t> shape) {
  std::size_t count = 1;
  for (const hsize_t size : shape) count *= static_cast<std::size_t>(size);
  return count;
}

Datatype type_of(const Dataset& dataset) {
  return Datatype(checked("read type", "", [&] { return H5Dget_type(dataset.id()); }));
}

Dataspace make_space(std::span<const hsize_t> shape) {
  return Dataspace(checked("make dataspace", "", [&] {
    return shape.empty() ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  }));
}

Dataspace make_space(std::initializer_list<hsize_t> shape) {
  return make_space(std::span<const hsize_t>(shape.begin(), shape.size()));
}

std::optional<std::uint64_t> contiguous_offset(const Dataset& dataset) {
  const Properties creation(checked("read storage", "", [&] { return H5Dget_create_plist(dataset.id()); }));
  if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.id()) != 0) return std::nullopt;
  silence_hdf5();
  const haddr_t offset = H5Dget_offset(dataset.id());  // counts the user block, too
  H5Eclear2(H5E_DEFAULT);
  if (offset == HADDR_UNDEF) return std::nullopt;
  return offset;
}

void read_all(const Dataset& dataset, hid_t memory_type, void* out, std::string_view name) {
  checked("read dataset", name, [&] { return H5Dread(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out); });
}

void write_all(const Dataset& dataset, hid_t memory_type, const void* in, std::string_view name) {
  checked("write dataset", name,
          [&] { return H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, in); });
}

void read_block(const Dataset& dataset, hid_t memory_type, std::span<const hsize_t> start,
                std::span<const hsize_t> count, void* out, std::string_view name) {
  const Dataspace file_space = select(dataset, start, count, name);
  const Dataspace memory_space = make_space(count);
  checked("read dataset", name,
          [&] { return H5Dread(dataset.id(), memory_type, memory_space.id(), file_space.id(), H5P_DEFAULT, out); });
}

void write_block(const Dataset& dataset, hid_t memory_type, std::span<const hsize_t> start,
                 std::span<const hsize_t> count, const void* in, std::string_view name) {
  const Dataspace file_space = select(dataset, start, count, name);
  const Dataspace memory_space = make_space(count);
  checked("write dataset", name,
          [&] { return H5Dwrite(dataset.id(), memory_type, memory_space.id(), file_space.id(), H5P_DEFAULT, in); });
}

bool has_attribute(hid_t object, const std::string& name) {
  return checked("look for attribute", name, [&] { return H5Aexists(object, name.c_str()); }) > 0;
}

std::string read_text_attribute(hid_t object, const std::string& name) {
  const Attribute attribute = open_attribute(object, name);
  const Datatype type(checked("read type", name, [&] { return H5Aget_type(attribute.id()); }));
  const Dataspace space(checked("read shape", name, [&] { return H5Aget_space(attribute.id()); }));
  if (!is_text(type.id())) throw Hdf5Error("read attribute", name, "is not text");
  const hssize_t count = checked("read shape", name, [&] { return H5Sget_simple_extent_npoints(space.id()); });
  if (count == 0) return {};
  if (count != 1) throw Hdf5Error("read attribute", name, "is an array, not one text");
  if (H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    checked("read attribute", name, [&] { return H5Aread(attribute.id(), type.id(), &text); });
    std::string result = text == nullptr ? "" : text;
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, &text);
    return result;
  }
  std::string text(H5Tget_size(type.id()), '\0');
  checked("read attribute", name, [&] { return H5Aread(attribute.id(), type.id(), text.data()); });
  if (H5Tget_strpad(type.id()) == H5T_STR_SPACEPAD) {
    text.erase(text.find_last_not_of(' ') + 1);
  } else {
    text.resize(std::min(text.size(), text.find('\0')));
  }
  return text;
}

std::vector<double> read_number_attribute(hid_t object, const std::string& name) {
  const Attribute attribute = open_attribute(object, name);
  const Dataspace space(checked("read shape", name, [&] { return H5Aget_space(attribute.id()); }));
  const hssize_t count = checked("read shape", name, [&] { return H5Sget_simple_extent_npoints(space.id()); });
  std::vector<double> values(static_cast<std::size_t>(count));
  if (count > 0)
    checked("read attribute", name, [&] { return H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, values.data()); });
  return values;
}

std::optional<std::string> find_text_attribute(hid_t object, const std::string& name) {
  if (!has_attribute(object, name)) return std::nullopt;
  return read_text_attribute(object, name);
}

std::optional<double> find_number_attribute(hid_t object, const std::string& name) {
  if (!has_attribute(object, name)) return std::nullopt;
  {
    const Attribute attribute = open_attribute(object, name);
    const Datatype type(checked("read type", name, [&] { return H5Aget_type(attribute.id()); }));
    if (is_text(type.id())) return std::nullopt;
  }
  const std::vector<double> values = read_number_attribute(object, name);
  if (values.empty()) return std::nullopt;
  return values.front();
}

void write_attribute(hid_t object, const std::string& name, std::string_view text) {
  // Fixed length: netCDF shows it as plain characters. HDF5 has no strings of length 0; a lone NUL reads back as "".
  const Datatype type(checked("make text type", name, [&] { return H5Tcopy(H5T_C_S1); }));
  const std::string padded(text.empty() ? std::string_view("\0", 1) : text);
  checked("set text size", name, [&] { return H5Tset_size(type.id(), padded.size()); });
  checked("set text padding", name, [&] { return H5Tset_strpad(type.id(), H5T_STR_NULLPAD); });
  checked("set character set", name, [&] { return H5Tset_cset(type.id(), H5T_CSET_UTF8); });
  write_attribute_values(object, name, type.id(), padded.data(), 1, true);
}

void write_attribute(hid_t object, const std::string& name, const char* text) {
  write_attribute(object, name, std::string_view(text));
}

void write_attribute_values(hid_t object, const std::string& name, hid_t memory_type, const void* values,
                            std::size_t count, bool scalar) {
  if (has_attribute(object, name)) checked("replace attribute", name, [&] { return H5Adelete(object, name.c_str()); });
  const hsize_t size = count;
  const Dataspace space = scalar ? make_space({}) : make_space({size});
  const Attribute attribute(checked("create attribute", name, [&] {
    return H5Acreate2(object, name.c_str(), memory_type, space.id(), H5P_DEFAULT, H5P_DEFAULT);
  }));
  if (count > 0) checked("write attribute", name, [&] { return H5Awrite(attribute.id(), memory_type, values); });
}

Dataset create_dataset(hid_t location, const std::string& path, hid_t file_type, const Dataspace& space,
                       hid_t properties) {
  return Dataset(checked("create dataset", path, [&] {
    return H5Dcreate2(location, path.c_str(), file_type, space.id(), H5P_DEFAULT, properties, H5P_DEFAULT);
  }));
}

}  // namespace cornerturn::h5
