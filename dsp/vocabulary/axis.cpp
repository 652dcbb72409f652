#include "dsp/vocabulary/axis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

bool strictly_monotonic(const std::vector<double>& values) {
  const bool rises = values.size() < 2 || values[1] > values[0];
  for (std::size_t i = 1; i < values.size(); ++i)
    if ((values[i] > values[i - 1]) != rises || values[i] == values[i - 1]) return false;
  return true;
}

}  // namespace

Axis Axis::uniform(std::string name, std::string unit, double start, double step, std::size_t count) {
  Axis axis;
  axis.name_ = std::move(name);
  axis.unit_ = std::move(unit);
  axis.start_ = start;
  axis.step_ = step;
  axis.count_ = count;
  return axis;
}

Axis Axis::listed(std::string name, std::string unit, std::vector<double> values) {
  CORNERTURN_REQUIRE(strictly_monotonic(values));
  Axis axis = uniform(std::move(name), std::move(unit), values.empty() ? 0.0 : values.front(), 1.0, values.size());
  // One value has no step of its own; it is a uniform axis of length one.
  if (values.size() > 1) axis.values_ = std::move(values);
  return axis;
}

Axis Axis::index(std::string name, std::size_t count) { return uniform(std::move(name), "1", 0.0, 1.0, count); }

double Axis::step() const {
  if (is_uniform()) return step_;
  return (values_.back() - values_.front()) / static_cast<double>(count_ - 1);
}

double Axis::coordinate(double index) const {
  if (is_uniform()) return start_ + index * step_;
  // The cell that holds the index; outside the axis the first or last cell is continued.
  const double cell = std::clamp(std::floor(index), 0.0, static_cast<double>(count_ - 2));
  const auto lower = static_cast<std::size_t>(cell);
  return values_[lower] + (index - cell) * (values_[lower + 1] - values_[lower]);
}

double Axis::index_of(double coordinate) const {
  if (is_uniform()) return (coordinate - start_) / step_;
  const bool rises = values_.back() > values_.front();
  const auto after = rises ? std::upper_bound(values_.begin(), values_.end(), coordinate)
                           : std::upper_bound(values_.begin(), values_.end(), coordinate, std::greater<>());
  const auto upper = std::clamp<std::ptrdiff_t>(after - values_.begin(), 1, static_cast<std::ptrdiff_t>(count_) - 1);
  const auto lower = static_cast<std::size_t>(upper - 1);
  return static_cast<double>(lower) + (coordinate - values_[lower]) / (values_[lower + 1] - values_[lower]);
}

std::vector<double> Axis::coordinates() const {
  if (!is_uniform()) return values_;
  std::vector<double> all(count_);
  for (std::size_t i = 0; i < count_; ++i) all[i] = coordinate(static_cast<double>(i));
  return all;
}

Axis Axis::slice(std::size_t first, std::size_t count) const {
  CORNERTURN_REQUIRE(first + count <= count_);
  if (is_uniform()) return uniform(name_, unit_, coordinate(static_cast<double>(first)), step_, count);
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first);
  return listed(name_, unit_, std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count)));
}

}  // namespace cornerturn
