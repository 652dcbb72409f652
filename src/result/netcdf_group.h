#pragma once

#include <map>
#include <string>
#include <vector>

#include "dsp/vocabulary/axis.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// One axis of a netCDF variable.
struct NetcdfDimension {
  std::string name;
  hsize_t size = 0;  ///< now; an unlimited one grows
  bool unlimited = false;
};

/// How a variable is stored.
struct NetcdfStorage {
  std::vector<hsize_t> chunk;  ///< empty: contiguous; needed when a dimension is unlimited
  int deflate_level = 0;
  bool nan_fill = false;  ///< elements never written read as NaN
};

/// One group of a netCDF-4 file that is written through HDF5: dimensions are dimension scales, and every axis of every
/// variable has one, because netCDF invents names for axes without. Throws h5::Hdf5Error.
class NetcdfGroup {
 public:
  explicit NetcdfGroup(h5::Group group) : group_(std::move(group)) {}

  hid_t id() const { return group_.id(); }
  bool has_dimension(const std::string& name) const { return scales_.count(name) != 0; }
  const NetcdfDimension& dimension(const std::string& name) const { return scales_.at(name).dimension; }

  /// A dimension without coordinates.
  void define_dimension(const NetcdfDimension& dimension);
  /// A dimension with its coordinates: a variable of the same name, float64 (int32 where the axis only counts).
  void define_axis(const Axis& axis, const std::string& name);
  /// A coordinate variable along its own unlimited dimension, to be filled by the caller.
  h5::Dataset define_unlimited_coordinate(const std::string& name, hid_t type, hsize_t chunk);
  /// A variable along dimensions defined before.
  h5::Dataset define_variable(const std::string& name, hid_t type, const std::vector<std::string>& dimensions,
                              const NetcdfStorage& storage);

 private:
  struct Scale {
    h5::Dataset dataset;
    NetcdfDimension dimension;
  };
  h5::Dataset create(const std::string& name, hid_t type, const std::vector<NetcdfDimension>& dimensions,
                     const NetcdfStorage& storage);

  h5::Group group_;
  std::map<std::string, Scale> scales_;
};

/// The value of the attribute NAME of a dimension without coordinates, by which netCDF knows it.
inline constexpr const char* kNoVariable = "This is a netCDF dimension but not a netCDF variable.";
/// True for the dataset of a dimension without coordinates.
bool is_bare_dimension(const h5::Dataset& dataset);

/// Sets the attributes units and long_name.
void describe_variable(const h5::Dataset& dataset, const std::string& unit, const std::string& long_name);

}  // namespace cornerturn
