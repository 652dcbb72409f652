#include "dsp/chain/product_catalogue.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "dsp/stage/cfar.h"
#include "dsp/stage/covariance.h"
#include "dsp/stage/detection.h"

namespace cornerturn {
namespace {

Product make_dense(const char* name, const char* description, std::vector<Axis> axes, const char* unit,
                   ElementType type, std::span<std::byte> storage) {
  Product product;
  product.name = name;
  product.description = description;
  product.axes = std::move(axes);
  product.unit = unit;
  product.type = type;
  product.bytes = storage;
  return product;
}

}  // namespace

bool is_wanted(const ProductSet& products, ProductKind kind) {
  switch (kind) {
    case ProductKind::map:
      return products.map;
    case ProductKind::detections:
      return products.detections;
    case ProductKind::covariance:
      return products.covariance;
    case ProductKind::range_profiles:
      return products.range_profiles;
    case ProductKind::doppler_cube:
      return products.doppler_cube;
  }
  return false;
}

std::size_t product_bytes(const ChainPlan& plan, ProductKind kind) {
  const std::size_t cells = plan.gate_count * plan.doppler_fft_length;
  switch (kind) {
    case ProductKind::map:
      return cells * sizeof(float);
    case ProductKind::detections:
      return plan.config.cfar.enabled ? detection_column_bytes(plan.config.grouping.max_detections) : 0;
    case ProductKind::covariance:
      return plan.gate_count * packed_size(plan.shape.channel_count) * sizeof(std::complex<float>);
    case ProductKind::range_profiles:
      return plan.shape.channel_count * plan.shape.pulse_count * plan.gate_count * sizeof(std::complex<float>);
    case ProductKind::doppler_cube:
      return cells * plan.shape.channel_count * sizeof(std::complex<float>);
  }
  return 0;
}

std::vector<Product> make_products(const ChainPlan& plan, ProductKind kind, std::span<std::byte> storage) {
  switch (kind) {
    case ProductKind::map:
      return {make_dense("range_doppler_power", "power over range and range rate, mean over channels",
                         {plan.gate_axis, plan.doppler_axis}, "count2", ElementType::float32, storage)};
    case ProductKind::detections:
      if (!plan.config.cfar.enabled) return {};
      return make_detection_columns(storage, plan.config.grouping.max_detections);
    case ProductKind::covariance: {
      Product product = make_dense("covariance", "sample covariance of the channels over the pulses of each gate",
                                   {plan.gate_axis, Axis::index("channel_row", plan.shape.channel_count),
                                    Axis::index("channel_column", plan.shape.channel_count)},
                                   "count2", ElementType::complex64, storage);
      product.storage = Storage::hermitian_lower;
      return {std::move(product)};
    }
    case ProductKind::range_profiles:
      return {make_dense("range_profiles", "complex range profiles of each channel and pulse",
                         {plan.channel_axis, plan.pulse_axis, plan.gate_axis}, "count", ElementType::complex64,
                         storage)};
    case ProductKind::doppler_cube:
      return {make_dense("doppler_cube", "complex range-Doppler spectra of each channel",
                         {plan.gate_axis, plan.channel_axis, plan.doppler_axis}, "count", ElementType::complex64,
                         storage)};
  }
  return {};
}

std::size_t alarm_capacity(const ChainPlan& plan) {
  constexpr std::size_t kMostAlarms = std::size_t{1} << 17;
  return std::min(plan.gate_count * plan.doppler_fft_length, kMostAlarms);
}

std::size_t detection_work_bytes(const ChainPlan& plan) {
  // One bit a cell for the detector; for each alarm itself, its parent, its cell count, its peak flag and its place.
  constexpr std::size_t kGroupingBytesPerAlarm = 13;
  return plan.gate_count * ((plan.doppler_fft_length + 63) / 64) * 8 +
         alarm_capacity(plan) * (sizeof(CfarAlarm) + kGroupingBytesPerAlarm) +
         plan.config.grouping.max_detections * sizeof(Detection);
}

}  // namespace cornerturn
