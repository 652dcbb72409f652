#include "src/result/netcdf_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <hdf5_hl.h>

namespace cornerturn {
namespace {

h5::Properties creation_properties(const NetcdfStorage& storage, hid_t type, const std::string& name) {
  h5::Properties properties = h5::make_properties(H5P_DATASET_CREATE);
  h5::checked("order attributes", name, [&] {
    return H5Pset_attr_creation_order(properties.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  });
  if (!storage.chunk.empty()) {
    h5::checked("set chunks", name, [&] {
      return H5Pset_chunk(properties.id(), static_cast<int>(storage.chunk.size()), storage.chunk.data());
    });
    if (storage.deflate_level > 0) {
      h5::checked("set shuffle", name, [&] { return H5Pset_shuffle(properties.id()); });
      h5::checked("set deflate", name,
                  [&] { return H5Pset_deflate(properties.id(), static_cast<unsigned>(storage.deflate_level)); });
    }
  }
  if (storage.nan_fill) {
    const double nan[2] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    const float nan_f[2] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
    const bool wide = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(double);
    const void* fill = wide ? static_cast<const void*>(nan) : static_cast<const void*>(nan_f);
    h5::checked("set fill value", name, [&] { return H5Pset_fill_value(properties.id(), type, fill); });
  }
  return properties;
}

std::string bare_dimension_name(hsize_t size) { return fmt::format("{}{:10}", kNoVariable, size); }

}  // namespace

h5::Dataset NetcdfGroup::create(const std::string& name, hid_t type, const std::vector<NetcdfDimension>& dimensions,
                                const NetcdfStorage& storage) {
  std::vector<hsize_t> size;
  std::vector<hsize_t> limit;
  for (const NetcdfDimension& dimension : dimensions) {
    size.push_back(dimension.size);
    limit.push_back(dimension.unlimited ? H5S_UNLIMITED : dimension.size);
  }
  const h5::Dataspace space(h5::checked("make dataspace", name, [&] {
    return H5Screate_simple(static_cast<int>(size.size()), size.data(), limit.data());
  }));
  return h5::create_dataset(id(), name, type, space, creation_properties(storage, type, name).id());
}

void NetcdfGroup::define_dimension(const NetcdfDimension& dimension) {
  NetcdfStorage storage;
  if (dimension.unlimited) storage.chunk = {1024};
  Scale scale{create(dimension.name, H5T_IEEE_F32BE, {dimension}, storage), dimension};
  const std::string label = bare_dimension_name(dimension.size);
  h5::checked("set scale", dimension.name, [&] { return H5DSset_scale(scale.dataset.id(), label.c_str()); });
  scales_.emplace(dimension.name, std::move(scale));
}

void NetcdfGroup::define_axis(const Axis& axis, const std::string& name) {
  const std::vector<double> coordinates = axis.coordinates();
  const NetcdfDimension dimension{name, axis.count(), false};
  const bool counts = axis.unit() == "1" && std::all_of(coordinates.begin(), coordinates.end(),
                                                        [](double value) { return value == std::trunc(value); });
  Scale scale{create(name, counts ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, {dimension}, {}), dimension};
  h5::checked("set scale", name, [&] { return H5DSset_scale(scale.dataset.id(), name.c_str()); });
  if (!coordinates.empty()) h5::write_all(scale.dataset, H5T_NATIVE_DOUBLE, coordinates.data(), name);
  std::string long_name = axis.name();
  for (char& letter : long_name)
    if (letter == '_') letter = ' ';
  if (axis.name() == "range_rate") long_name += ", positive when the range grows";
  describe_variable(scale.dataset, axis.unit(), long_name);
  scales_.emplace(name, std::move(scale));
}

h5::Dataset NetcdfGroup::define_unlimited_coordinate(const std::string& name, hid_t type, hsize_t chunk) {
  const NetcdfDimension dimension{name, 0, true};
  Scale scale{create(name, type, {dimension}, {.chunk = {chunk}}), dimension};
  h5::checked("set scale", name, [&] { return H5DSset_scale(scale.dataset.id(), name.c_str()); });
  scales_.emplace(name, std::move(scale));
  return h5::open_dataset(id(), name);
}

h5::Dataset NetcdfGroup::define_variable(const std::string& name, hid_t type,
                                         const std::vector<std::string>& dimensions, const NetcdfStorage& storage) {
  std::vector<NetcdfDimension> axes;
  axes.reserve(dimensions.size());
  for (const std::string& dimension : dimensions) axes.push_back(scales_.at(dimension).dimension);
  h5::Dataset dataset = create(name, type, axes, storage);
  for (unsigned axis = 0; axis < dimensions.size(); ++axis)
    h5::checked("attach scale", name,
                [&] { return H5DSattach_scale(dataset.id(), scales_.at(dimensions[axis]).dataset.id(), axis); });
  return dataset;
}

bool is_bare_dimension(const h5::Dataset& dataset) {
  const auto name = h5::find_text_attribute(dataset.id(), "NAME");
  return name && name->starts_with(kNoVariable);
}

void describe_variable(const h5::Dataset& dataset, const std::string& unit, const std::string& long_name) {
  if (!long_name.empty()) h5::write_attribute(dataset.id(), "long_name", std::string_view(long_name));
  if (!unit.empty()) h5::write_attribute(dataset.id(), "units", std::string_view(unit));
}

}  // namespace cornerturn
