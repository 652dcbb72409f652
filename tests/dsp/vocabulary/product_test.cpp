#include "dsp/vocabulary/product.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(Product, HermitianHalfExpandsToTheFullMatrix) {
  std::vector<std::complex<float>> packed{{1, 0}, {2, 3}, {4, 0}};
  Product product;
  product.axes = {Axis::index("range", 1), Axis::index("channel_row", 2), Axis::index("channel_column", 2)};
  product.type = ElementType::complex64;
  product.storage = Storage::hermitian_lower;
  product.bytes = std::as_writable_bytes(std::span(packed));
  EXPECT_EQ(product.element_count(), 3u);
  const auto full = expand_hermitian(product);
  EXPECT_EQ(full, (std::vector<std::complex<float>>{{1, 0}, {2, -3}, {2, 3}, {4, 0}}));
}

}  // namespace
}  // namespace cornerturn
