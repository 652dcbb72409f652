#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cornerturn {

/// a * b, or nothing when it does not fit: sizes in files are claims of a stranger and multiply to anything.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a + b, or nothing when it does not fit.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// Product of all factors times `first`, or nothing when it does not fit.
inline std::optional<std::uint64_t> checked_product(std::uint64_t first, std::span<const std::uint64_t> factors) {
  std::optional<std::uint64_t> product = first;
  for (const std::uint64_t factor : factors) {
    product = checked_multiply(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

}  // namespace cornerturn
