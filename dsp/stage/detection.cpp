#include "dsp/stage/detection.h"

#include <cmath>
#include <string>

#include "dsp/vocabulary/units.h"

namespace cornerturn {

namespace {

/// One column: how it is named and described, and which member it holds.
struct Column {
  const char* name;
  const char* description;
  const char* unit;
  ElementType type;
  double Detection::*real = nullptr;
  std::int32_t Detection::*integer = nullptr;
};

constexpr std::size_t kAlignment = 64;

// Flags come last and are treated apart, being the one column of bytes.
constexpr std::array<Column, 11> kColumns = {{
    {"detection_range_m", "range of the interpolated peak", "m", ElementType::float64, &Detection::range_m},
    {"detection_range_rate_mps", "range rate of the interpolated peak, positive when opening", "m s-1",
     ElementType::float64, &Detection::range_rate_mps},
    {"detection_power_db", "power of the interpolated peak relative to 1 count squared", "dB", ElementType::float64,
     &Detection::power_db},
    {"detection_snr_db", "power of the interpolated peak over the mean of the training cells", "dB",
     ElementType::float64, &Detection::snr_db},
    {"detection_azimuth_deg", "azimuth, adaptive (Capon) estimate", "degree", ElementType::float64,
     &Detection::azimuth_deg},
    {"detection_azimuth_bartlett_deg", "azimuth, conventional (Bartlett) estimate", "degree", ElementType::float64,
     &Detection::azimuth_bartlett_deg},
    {"detection_gate_position", "interpolated index along the range axis", "1", ElementType::float64,
     &Detection::gate_position},
    {"detection_doppler_position", "interpolated index along the Doppler axis", "1", ElementType::float64,
     &Detection::doppler_position},
    {"detection_gate", "index of the peak cell along the range axis", "1", ElementType::int32, nullptr,
     &Detection::gate},
    {"detection_doppler_bin", "index of the peak cell along the Doppler axis", "1", ElementType::int32, nullptr,
     &Detection::doppler_bin},
    {"detection_cell_count", "cells above the threshold in the peak's group", "1", ElementType::int32, nullptr,
     &Detection::cell_count},
}};
constexpr const char* kFlagsName = "detection_flags";

std::size_t padded_bytes(std::size_t capacity, ElementType type) {
  return (capacity * size_of(type) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::size_t detection_column_bytes(std::size_t capacity) {
  std::size_t bytes = padded_bytes(capacity, ElementType::uint8);
  for (const Column& column : kColumns) bytes += padded_bytes(capacity, column.type);
  return bytes;
}

std::vector<Product> make_detection_columns(std::span<std::byte> storage, std::size_t capacity) {
  CORNERTURN_REQUIRE(storage.size() >= detection_column_bytes(capacity));
  std::vector<Product> products;
  products.reserve(kColumns.size() + 1);
  std::size_t offset = 0;
  const auto add = [&](const char* name, const char* description, const char* unit, ElementType type) -> Product& {
    Product& product = products.emplace_back();
    product.name = name;
    product.description = description;
    product.axes = {Axis::index(std::string(kDetectionAxis), 0)};
    product.unit = unit;
    product.type = type;
    product.bytes = storage.subspan(offset, capacity * size_of(type));
    offset += padded_bytes(capacity, type);
    return product;
  };
  for (const Column& column : kColumns) add(column.name, column.description, column.unit, column.type);
  add(kFlagsName, "what to know about the detection", "1", ElementType::uint8).flag_meanings =
      "range_edge doppler_edge no_angle angle_doubtful";
  return products;
}

void write_detection_columns(std::span<Product> columns, std::span<const Detection> detections) {
  CORNERTURN_REQUIRE(columns.size() == kColumns.size() + 1);
  for (Product& product : columns) {
    CORNERTURN_REQUIRE(product.bytes.size() >= detections.size() * size_of(product.type));
    product.axes.front() = Axis::index(std::string(kDetectionAxis), detections.size());
  }
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const Column& column = kColumns[c];
    if (column.real != nullptr) {
      const auto values = columns[c].mutable_values<double>();
      for (std::size_t i = 0; i < detections.size(); ++i) values[i] = detections[i].*column.real;
    } else {
      const auto values = columns[c].mutable_values<std::int32_t>();
      for (std::size_t i = 0; i < detections.size(); ++i) values[i] = detections[i].*column.integer;
    }
  }
  const auto flags = columns.back().mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < detections.size(); ++i) flags[i] = detections[i].flags;
}

double detected_power(const CpiResult& result) {
  const Product* power_db = result.find("detection_power_db");
  double sum = 0.0;
  if (power_db == nullptr) return sum;
  for (const double level_db : power_db->values<double>()) sum += db_to_power(level_db);
  return std::isfinite(sum) ? sum : 0.0;
}

std::vector<Detection> read_detections(const CpiResult& result) {
  std::vector<Detection> detections;
  const auto fill = [&](const Product* product, auto type_tag, auto member) {
    if (product == nullptr) return;
    const auto values = product->values<decltype(type_tag)>();
    if (detections.size() < values.size()) detections.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) detections[i].*member = values[i];
  };
  for (const Column& column : kColumns) {
    if (column.real != nullptr) {
      fill(result.find(column.name), double{}, column.real);
    } else {
      fill(result.find(column.name), std::int32_t{}, column.integer);
    }
  }
  fill(result.find(kFlagsName), std::uint8_t{}, &Detection::flags);
  return detections;
}

}  // namespace cornerturn
