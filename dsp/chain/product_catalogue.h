#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "dsp/config/chain_config.h"
#include "dsp/vocabulary/product.h"

namespace cornerturn {

/// The products of the chain, in the order in which a result lists them.
enum class ProductKind { map, detections, covariance, range_profiles, doppler_cube };
inline constexpr std::array kProductKinds = {ProductKind::map, ProductKind::detections, ProductKind::covariance,
                                             ProductKind::range_profiles, ProductKind::doppler_cube};

/// Detections are made only where the plan has a detector.
bool is_wanted(const ProductSet& products, ProductKind kind);

/// Bytes of one product in a result.
std::size_t product_bytes(const ChainPlan& plan, ProductKind kind);

/// The product with its axes and unit over `storage` (product_bytes, 64-byte aligned); detections are several columns.
///   map            range_doppler_power (range, range_rate) float32 count2
///   covariance     (range, channel_row, channel_column) complex64 count2, lower half
///   range_profiles (channel, time, range) complex64 count
///   doppler_cube   (range, channel, range_rate) complex64 count
std::vector<Product> make_products(const ChainPlan& plan, ProductKind kind, std::span<std::byte> storage);

/// Cells over threshold that one CPI may have before the farthest are left out.
std::size_t alarm_capacity(const ChainPlan& plan);
/// Memory of detector and grouping.
std::size_t detection_work_bytes(const ChainPlan& plan);

}  // namespace cornerturn
