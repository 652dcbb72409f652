#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/result/netcdf_group.h"
#include "src/result/result_sink.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// A run of CPIs of one configuration as a whole netCDF-4 file, built in memory. A segment and the joined result file
/// have the same layout (docs/result-format.md), so that each segment can be opened by itself.
/// Throws h5::Hdf5Error.
class SegmentFile {
 public:
  /// `group_path`: "/" or the group of a later configuration version.
  SegmentFile(const RunDescription& run, const std::string& group_path, int deflate_level);

  /// True when the result has the products and axes of those before, so that it can go into the same variables.
  bool takes(const CpiResult& result) const;
  /// Contract: takes(result).
  void append(const CpiResult& result);

  std::size_t cpi_count() const { return cpi_count_; }
  /// Size of the results so far, without the file's own structures.
  std::size_t bytes() const { return bytes_; }

  /// Ends the file; this object is empty then.
  h5::MemoryFile::Image finish();

 private:
  /// A one-dimensional variable that grows; kept in memory and written at the end, for it gets few bytes per CPI.
  struct Column {
    std::string name;
    ElementType type = ElementType::float64;
    std::string dimension;
    std::string unit;
    std::string description;
    std::string flag_meanings;
    bool flags_are_bits = true;
    bool wide_integer = false;  ///< int64, which no product is
    std::vector<std::byte> values;

    template <typename T> void add(T value) {
      const auto* begin = reinterpret_cast<const std::byte*>(&value);
      values.insert(values.end(), begin, begin + sizeof(T));
    }
    std::size_t count() const { return values.size() / (wide_integer ? sizeof(std::int64_t) : size_of(type)); }
  };
  /// A variable with one array per CPI.
  struct Variable {
    std::string name;
    std::vector<Axis> axes;
    ElementType type;
    Storage storage;
    h5::Dataset dataset;
    std::vector<hsize_t> shape;  ///< of one CPI
  };

  Column& column(const std::string& name);
  void add_cpi_columns();
  void define_products(const CpiResult& result);
  Variable define_array(const Product& product);
  void append_array(Variable& variable, const Product& product);
  void append_header(const CpiResult& result, std::size_t detection_count);
  std::string axis_dimension(const Axis& axis, const std::string& product_name, std::vector<Axis>& known);
  hid_t file_type(ElementType type);

  h5::MemoryFile file_;
  h5::Datatype complex_type_;
  NetcdfGroup group_;
  int deflate_level_;
  bool defined_ = false;
  std::vector<Column> columns_;
  std::vector<Variable> variables_;
  std::vector<Axis> axes_;
  std::size_t cpi_count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cornerturn
