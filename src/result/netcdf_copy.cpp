#include "src/result/netcdf_copy.h"

#include <algorithm>

#include <hdf5_hl.h>

namespace cornerturn {
namespace {

std::string name_of(hid_t object) {
  std::string name(256, '\0');
  const ssize_t length = h5::checked("read name", "", [&] { return H5Iget_name(object, name.data(), name.size()); });
  name.resize(static_cast<std::size_t>(length));
  return name;
}

bool is_scale(const h5::Dataset& dataset) {
  return h5::checked("look for scale", "", [&] { return H5DSis_scale(dataset.id()); }) > 0;
}

herr_t keep_scale_name(hid_t, unsigned, hid_t scale, void* out) {
  const std::string path = name_of(scale);
  *static_cast<std::string*>(out) = path.substr(path.rfind('/') + 1);
  return 1;  // one scale an axis
}

std::vector<hsize_t> limits_of(const h5::Dataset& dataset) {
  const h5::Dataspace space(h5::checked("read shape", "", [&] { return H5Dget_space(dataset.id()); }));
  std::vector<hsize_t> limits(h5::shape_of(dataset).size());
  if (!limits.empty())
    h5::checked("read shape", "", [&] { return H5Sget_simple_extent_dims(space.id(), nullptr, limits.data()); });
  return limits;
}

h5::Datatype type_in(hid_t file, const h5::Dataset& dataset) {
  h5::Datatype type = h5::type_of(dataset);
  if (H5Tcommitted(type.id()) <= 0) return type;
  const std::string name = name_of(type.id());
  return h5::Datatype(h5::checked("open type", name, [&] { return H5Topen2(file, name.c_str(), H5P_DEFAULT); }));
}

}  // namespace

std::vector<std::string> dimension_names(const h5::Dataset& dataset, const std::string& name) {
  if (is_scale(dataset)) return {name};
  std::vector<std::string> names(h5::shape_of(dataset).size());
  for (unsigned axis = 0; axis < names.size(); ++axis) {
    h5::checked("read scale", name,
                [&] { return H5DSiterate_scales(dataset.id(), axis, nullptr, keep_scale_name, &names[axis]); });
    if (names[axis].empty()) throw h5::Hdf5Error("read scale", name, "an axis has no dimension scale");
  }
  return names;
}

h5::Dataset clone_dataset(const h5::Dataset& from, hid_t to_file, hid_t to_group, const std::string& name) {
  std::vector<hsize_t> size = h5::shape_of(from);
  const std::vector<hsize_t> limit = limits_of(from);
  for (std::size_t axis = 0; axis < size.size(); ++axis)
    if (limit[axis] == H5S_UNLIMITED) size[axis] = 0;
  const h5::Dataspace space(h5::checked("make dataspace", name, [&] {
    return size.empty() ? H5Screate(H5S_SCALAR)
                        : H5Screate_simple(static_cast<int>(size.size()), size.data(), limit.data());
  }));
  const h5::Properties properties(h5::checked("read storage", name, [&] { return H5Dget_create_plist(from.id()); }));
  h5::Dataset clone = h5::create_dataset(to_group, name, type_in(to_file, from).id(), space, properties.id());
  copy_attributes(from.id(), clone.id());
  return clone;
}

void attach_scales(const h5::Dataset& dataset, hid_t group, const std::string& name,
                   const std::vector<std::string>& dimensions) {
  if (is_scale(dataset)) return;
  for (unsigned axis = 0; axis < dimensions.size(); ++axis) {
    const h5::Dataset scale = h5::open_dataset(group, dimensions[axis]);
    h5::checked("attach scale", name, [&] { return H5DSattach_scale(dataset.id(), scale.id(), axis); });
  }
}

void copy_attributes(hid_t from, hid_t to) {
  const auto copy_one = [](hid_t object, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    static_cast<void>(object);
    return 0;
  };
  std::vector<std::string> names;
  hsize_t position = 0;
  h5::checked("list attributes", "",
              [&] { return H5Aiterate2(from, H5_INDEX_CRT_ORDER, H5_ITER_INC, &position, copy_one, &names); });
  for (const std::string& name : names) {
    if (name == "DIMENSION_LIST" || name == "REFERENCE_LIST") continue;
    const h5::Attribute attribute(
        h5::checked("open attribute", name, [&] { return H5Aopen(from, name.c_str(), H5P_DEFAULT); }));
    const h5::Datatype type(h5::checked("read type", name, [&] { return H5Aget_type(attribute.id()); }));
    const h5::Dataspace space(h5::checked("read shape", name, [&] { return H5Aget_space(attribute.id()); }));
    const hssize_t count = h5::checked("read shape", name, [&] { return H5Sget_simple_extent_npoints(space.id()); });
    std::vector<std::byte> value(static_cast<std::size_t>(count) * H5Tget_size(type.id()));
    h5::checked("read attribute", name, [&] { return H5Aread(attribute.id(), type.id(), value.data()); });
    const h5::Attribute copy(h5::checked("create attribute", name, [&] {
      return H5Acreate2(to, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT);
    }));
    h5::checked("write attribute", name, [&] { return H5Awrite(copy.id(), type.id(), value.data()); });
  }
}

void copy_named_types(hid_t from_file, hid_t to_file) {
  const h5::Group root = h5::open_group(from_file, "/");
  for (const std::string& name : h5::child_names(root.id())) {
    if (h5::child_kind(root.id(), name) != h5::ChildKind::datatype || h5::exists(to_file, name)) continue;
    const h5::Datatype type(
        h5::checked("open type", name, [&] { return H5Topen2(root.id(), name.c_str(), H5P_DEFAULT); }));
    const h5::Datatype copy(h5::checked("copy type", name, [&] { return H5Tcopy(type.id()); }));
    h5::checked("name type", name,
                [&] { return H5Tcommit2(to_file, name.c_str(), copy.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); });
  }
}

bool grows(const h5::Dataset& dataset) {
  const std::vector<hsize_t> limits = limits_of(dataset);
  return !limits.empty() && limits.front() == H5S_UNLIMITED;
}

}  // namespace cornerturn
