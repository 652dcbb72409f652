#include "src/capture/hdf5_element.h"

#include <cstddef>
#include <string>
#include <utility>

#include "src/capture/complex_names.h"

namespace cornerturn {
namespace {

std::optional<ArrayElement> scalar_element(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type);
  const H5T_order_t order = H5Tget_order(type);
  if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) return std::nullopt;
  ArrayElement element;
  element.big_endian = order == H5T_ORDER_BE && bytes > 1;
  if (H5Tget_precision(type) != 8 * bytes || H5Tget_offset(type) != 0) return std::nullopt;
  if (kind == H5T_FLOAT && bytes == 4 && H5Tget_ebias(type) == 127) {
    element.format = SampleFormat::float32;
  } else if (kind == H5T_FLOAT && bytes == 8 && H5Tget_ebias(type) == 1023) {
    element.format = SampleFormat::float64;
  } else if (kind == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4)) {
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    element.format = bytes == 1   ? (is_signed ? SampleFormat::int8 : SampleFormat::uint8)
                     : bytes == 2 ? (is_signed ? SampleFormat::int16 : SampleFormat::uint16)
                                  : (is_signed ? SampleFormat::int32 : SampleFormat::uint32);
  } else {
    return std::nullopt;
  }
  return element;
}

std::string member_name(hid_t type, unsigned index) {
  char* name = H5Tget_member_name(type, index);
  std::string text = name == nullptr ? "" : name;
  H5free_memory(name);
  return text;
}

}  // namespace

std::optional<ArrayElement> element_of_hdf5_type(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND) return scalar_element(type);
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  const h5::Datatype first(H5Tget_member_type(type, 0));
  const h5::Datatype second(H5Tget_member_type(type, 1));
  const auto element = scalar_element(first.id());
  if (!element || element != scalar_element(second.id())) return std::nullopt;
  const std::size_t scalar = element->bytes();
  const std::size_t size = H5Tget_size(type);
  const std::size_t at_first = H5Tget_member_offset(type, 0);
  const std::size_t at_second = H5Tget_member_offset(type, 1);
  if (size % scalar != 0 || at_first % scalar != 0 || at_second % scalar != 0) return std::nullopt;
  ArrayElement pair = *element;
  pair.complex_pair = true;
  pair.scalars = size / scalar;
  pair.i_scalar = at_first / scalar;
  pair.q_scalar = at_second / scalar;
  if (is_quadrature_first(member_name(type, 0), member_name(type, 1))) std::swap(pair.i_scalar, pair.q_scalar);
  return pair;
}

}  // namespace cornerturn
