#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/raw_layout.h"
#include "src/capture/read_only_file.h"

namespace cornerturn {

/// One element of an array: a scalar, or a complex number as two scalars of one type.
struct ArrayElement {
  SampleFormat format = SampleFormat::int16;
  bool big_endian = false;
  bool complex_pair = false;
  std::size_t scalars = 1;   ///< size of the element in scalars, padding included
  std::size_t i_scalar = 0;  ///< of a complex pair: which scalar is I ...
  std::size_t q_scalar = 0;  ///< ... and which is Q

  std::size_t scalar_bytes() const { return static_cast<std::size_t>(bits_per_scalar(format)) / 8; }
  std::size_t bytes() const { return scalars * scalar_bytes(); }
  bool operator==(const ArrayElement&) const = default;
};

/// A block of an array: along each axis `count` elements from `start` on.
struct ArrayBox {
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;

  std::uint64_t element_count() const;
};

/// An n-dimensional array inside a container (HDF5, .npy, raw bytes): what the container knows, nothing about radar.
/// Sizes have been checked against the file when an object exists.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;

  const std::string& path() const { return path_; }
  const ArrayElement& element() const { return element_; }
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  /// Axes from the slowest in the file to the fastest: 0, 1, 2 ... in C order, reversed in Fortran order. read_box
  /// packs its box in this order, so that long runs of the file stay whole.
  const std::vector<std::size_t>& storage_order() const { return storage_order_; }
  /// For people: "uint16 little-endian, read by file offset".
  virtual std::string describe() const = 0;

  /// Writes the box into `out` (its bytes exactly), packed in storage order. Requires a box inside the shape
  /// (contract). Errors: input, with the position.
  virtual Expected<void> read_box(const ArrayBox& box, std::span<std::byte> out) const = 0;

 protected:
  ArrayFile(std::string path, ArrayElement element, std::vector<std::uint64_t> shape, bool fortran_order);

 private:
  std::string path_;
  ArrayElement element_;
  std::vector<std::uint64_t> shape_;
  std::vector<std::size_t> storage_order_;
};

/// "int16 little-endian", "complex float32 big-endian".
std::string describe(const ArrayElement& element);
/// "1000 x 4 x 256".
std::string describe_shape(std::span<const std::uint64_t> shape);

/// An array whose elements lie one after the other in the file from byte `offset` on: read by position straight into
/// the caller's memory, without any library.
class ContiguousArray final : public ArrayFile {
 public:
  /// Errors: input: a size that is zero or too large to be true, a file shorter than the array (expected and real
  /// size).
  static Expected<std::unique_ptr<ContiguousArray>> make(ReadOnlyFile file, ArrayElement element,
                                                         std::vector<std::uint64_t> shape, bool fortran_order,
                                                         std::uint64_t offset);

  std::uint64_t offset() const { return offset_; }
  std::string describe() const override;
  Expected<void> read_box(const ArrayBox& box, std::span<std::byte> out) const override;

 private:
  ContiguousArray(ReadOnlyFile file, ArrayElement element, std::vector<std::uint64_t> shape, bool fortran_order,
                  std::uint64_t offset);

  ReadOnlyFile file_;
  std::uint64_t offset_ = 0;
};

/// Bytes of an array. Errors: input: a zero axis, or a product that does not fit into 62 bits.
Expected<std::uint64_t> array_bytes(const std::string& path, const ArrayElement& element,
                                    std::span<const std::uint64_t> shape);

}  // namespace cornerturn
