#include "dsp/vocabulary/product.h"

namespace cornerturn {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
    case ElementType::int32:
      return 4;
    case ElementType::float64:
    case ElementType::complex64:
      return 8;
    case ElementType::uint8:
      return 1;
  }
  return 0;
}

std::size_t Product::element_count() const {
  std::size_t count = 1;
  const std::size_t dense_axes = storage == Storage::hermitian_lower ? axes.size() - 2 : axes.size();
  for (std::size_t i = 0; i < dense_axes; ++i) count *= axes[i].count();
  if (storage == Storage::hermitian_lower) count *= axes.back().count() * (axes.back().count() + 1) / 2;
  return count;
}

std::vector<std::complex<float>> expand_hermitian(const Product& product) {
  CORNERTURN_REQUIRE(product.storage == Storage::hermitian_lower && product.axes.size() >= 2);
  const std::span<const std::complex<float>> packed = product.values<std::complex<float>>();
  const std::size_t order = product.axes.back().count();
  const std::size_t packed_size = order * (order + 1) / 2;
  const std::size_t matrix_count = packed.size() / packed_size;

  std::vector<std::complex<float>> full(matrix_count * order * order);
  for (std::size_t matrix = 0; matrix < matrix_count; ++matrix) {
    const std::complex<float>* lower = packed.data() + matrix * packed_size;
    std::complex<float>* out = full.data() + matrix * order * order;
    for (std::size_t row = 0; row < order; ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        const std::complex<float> value = *lower++;
        out[row * order + column] = value;
        out[column * order + row] = row == column ? value : std::conj(value);
      }
    }
  }
  return full;
}

}  // namespace cornerturn
