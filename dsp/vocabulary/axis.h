#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cornerturn {

/// One axis of a product: name, unit and the coordinate of each index, uniform or listed.
/// Files, cursors, pictures and exports all use this object, so that a coordinate has one meaning everywhere.
/// Threads: immutable after construction.
class Axis {
 public:
  /// coordinate(i) = start + i * step. `step` may be negative (a falling Doppler phase gives a falling velocity axis).
  static Axis uniform(std::string name, std::string unit, double start, double step, std::size_t count);
  /// coordinate(i) = values[i]; values must be strictly monotonic (contract).
  static Axis listed(std::string name, std::string unit, std::vector<double> values);
  /// A plain index axis 0, 1, 2 ... without unit ("channel").
  static Axis index(std::string name, std::size_t count);

  const std::string& name() const { return name_; }
  /// UDUNITS spelling ("m", "m s-1", "degree", "1").
  const std::string& unit() const { return unit_; }
  std::size_t count() const { return count_; }
  bool is_uniform() const { return values_.empty(); }
  /// Step of a uniform axis; of a listed one the mean step.
  double step() const;

  /// Coordinate of a fractional index: linear between indices, extrapolated by half a cell or more with the edge's
  /// step.
  double coordinate(double index) const;
  /// The inverse of coordinate().
  double index_of(double coordinate) const;
  std::vector<double> coordinates() const;
  /// The same axis cut to [first, first + count).
  Axis slice(std::size_t first, std::size_t count) const;

 private:
  Axis() = default;
  std::string name_;
  std::string unit_;
  double start_ = 0.0;
  double step_ = 1.0;
  std::size_t count_ = 0;
  std::vector<double> values_;  // empty when uniform
};

}  // namespace cornerturn
