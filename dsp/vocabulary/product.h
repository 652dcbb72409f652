#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/vocabulary/axis.h"
#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/raw_cpi.h"

namespace cornerturn {

enum class ElementType { float32, float64, complex64, int32, uint8 };
std::size_t size_of(ElementType type);

template <typename T> constexpr ElementType element_type_of();
template <> constexpr ElementType element_type_of<float>() { return ElementType::float32; }
template <> constexpr ElementType element_type_of<double>() { return ElementType::float64; }
template <> constexpr ElementType element_type_of<std::complex<float>>() { return ElementType::complex64; }
template <> constexpr ElementType element_type_of<std::int32_t>() { return ElementType::int32; }
template <> constexpr ElementType element_type_of<std::uint8_t>() { return ElementType::uint8; }

/// Hermitian matrices may be stored as their lower half, row by row: (0,0) (1,0) (1,1) (2,0) ...; the last two axes
/// of the product then describe the full matrix and N (N + 1) / 2 elements stand for N * N.
enum class Storage { dense, hermitian_lower };

/// Name and unit of the axis along which detections are listed; its length changes from CPI to CPI.
inline constexpr std::string_view kDetectionAxis = "detection";

/// One named result of a CPI: what it is, along which axes, in which unit, and the bytes.
/// A stage adds a product to a result; it never adds a member to CpiResult.
struct Product {
  std::string name;         ///< "range_doppler_power", "detection_range_m", "covariance" ...
  std::string description;  ///< one line for people and files (long_name)
  std::vector<Axis> axes;   ///< outermost first; C order
  std::string unit;         ///< UDUNITS spelling; power is "count2"
  ElementType type = ElementType::float32;
  Storage storage = Storage::dense;
  std::span<std::byte> bytes;  ///< lives in the result's slot
  /// Meaning of each bit or value of a uint8 flag product ("range_edge doppler_edge ..."); empty otherwise.
  std::string flag_meanings;
  bool flags_are_bits = true;

  std::size_t element_count() const;
  bool is_detection_column() const { return axes.size() == 1 && axes.front().name() == kDetectionAxis; }

  template <typename T> std::span<const T> values() const {
    CORNERTURN_REQUIRE(type == element_type_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), element_count()};
  }
  template <typename T> std::span<T> mutable_values() {
    CORNERTURN_REQUIRE(type == element_type_of<T>());
    return {reinterpret_cast<T*>(bytes.data()), element_count()};
  }
};

/// Counts of what was wrong with the samples of one CPI.
struct SampleQuality {
  std::uint64_t masked_samples = 0;      ///< NaN, Inf and gap samples, set to zero
  std::uint64_t saturated_samples = 0;   ///< at the end of the integer range
  std::uint32_t zero_channels = 0;       ///< channels whose samples are all zero
  std::uint32_t flagged_detections = 0;  ///< detections without a trusted angle
  std::uint32_t dropped_detections = 0;  ///< alarms and detections that found no room
};

/// All results of one CPI.
struct CpiResult {
  CpiHeader header;
  SampleQuality quality;
  std::vector<Product> products;

  const Product* find(std::string_view name) const {
    for (const Product& product : products)
      if (product.name == name) return &product;
    return nullptr;
  }
};

/// Expands Storage::hermitian_lower into the full matrices (outer..., N, N).
std::vector<std::complex<float>> expand_hermitian(const Product& product);

}  // namespace cornerturn
