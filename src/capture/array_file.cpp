#include "src/capture/array_file.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dsp/vocabulary/contract.h"
#include "src/capture/checked_size.h"

namespace cornerturn {
namespace {

/// Reads short runs through a window, so that a gather of single elements does not become one system call each.
class WindowReader {
 public:
  WindowReader(const ReadOnlyFile& file, std::uint64_t end) : file_(file), end_(end) {}

  Expected<void> read(std::uint64_t offset, std::span<std::byte> out) {
    if (out.size() >= kDirectBytes) return file_.read_exact(offset, out);
    if (offset < window_start_ || offset + out.size() > window_start_ + window_.size()) {
      window_start_ = offset;
      window_.resize(
          std::max(out.size(), static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, end_ - offset))));
      if (auto done = file_.read_exact(offset, window_); !done) return done;
    }
    std::memcpy(out.data(), window_.data() + (offset - window_start_), out.size());
    return {};
  }

 private:
  static constexpr std::size_t kDirectBytes = 16384;
  static constexpr std::size_t kWindowBytes = 1U << 20;

  const ReadOnlyFile& file_;
  std::uint64_t end_;
  std::uint64_t window_start_ = 0;
  std::vector<std::byte> window_;
};

/// An axis of a box in storage order: how often, and how far apart in the file.
struct BoxAxis {
  std::uint64_t count = 1;
  std::uint64_t step_bytes = 0;
};

}  // namespace

std::uint64_t ArrayBox::element_count() const {
  return std::accumulate(count.begin(), count.end(), std::uint64_t{1}, std::multiplies<>());
}

ArrayFile::ArrayFile(std::string path, ArrayElement element, std::vector<std::uint64_t> shape, bool fortran_order)
    : path_(std::move(path)), element_(element), shape_(std::move(shape)), storage_order_(shape_.size()) {
  std::iota(storage_order_.begin(), storage_order_.end(), std::size_t{0});
  if (fortran_order) std::reverse(storage_order_.begin(), storage_order_.end());
}

std::string describe(const ArrayElement& element) {
  const bool one_byte = element.scalar_bytes() == 1;
  return fmt::format("{}{}{}", element.complex_pair ? "complex " : "", to_string(element.format),
                     one_byte ? "" : (element.big_endian ? " big-endian" : " little-endian"));
}

std::string describe_shape(std::span<const std::uint64_t> shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

Expected<std::uint64_t> array_bytes(const std::string& path, const ArrayElement& element,
                                    std::span<const std::uint64_t> shape) {
  if (std::find(shape.begin(), shape.end(), std::uint64_t{0}) != shape.end())
    return input_error(path, fmt::format("holds no samples: its array is {}", describe_shape(shape)),
                       "record again or choose another dataset");
  const auto bytes = checked_product(element.bytes(), shape);
  if (!bytes || *bytes >> 62 != 0)
    return input_error(path, fmt::format("claims an array of {}, more than any file can hold", describe_shape(shape)),
                       "the file's header is damaged: copy it again");
  return *bytes;
}

Expected<std::unique_ptr<ContiguousArray>> ContiguousArray::make(ReadOnlyFile file, ArrayElement element,
                                                                 std::vector<std::uint64_t> shape, bool fortran_order,
                                                                 std::uint64_t offset) {
  const auto bytes = array_bytes(file.path(), element, shape);
  if (!bytes) return unexpected(bytes.error());
  const auto end = checked_add(offset, *bytes);
  if (!end || *end > file.size_bytes())
    return input_error(
        file.path(),
        fmt::format("is too short: {} bytes on disk, {} expected ({} of {} from byte {} on)", file.size_bytes(),
                    end.value_or(*bytes), describe_shape(shape), cornerturn::describe(element), offset),
        "copy the file again, or correct its shape");
  return std::unique_ptr<ContiguousArray>(
      new ContiguousArray(std::move(file), element, std::move(shape), fortran_order, offset));
}

ContiguousArray::ContiguousArray(ReadOnlyFile file, ArrayElement element, std::vector<std::uint64_t> shape,
                                 bool fortran_order, std::uint64_t offset)
    : ArrayFile(file.path(), element, std::move(shape), fortran_order), file_(std::move(file)), offset_(offset) {}

std::string ContiguousArray::describe() const {
  return fmt::format("{}, read by file offset from byte {} on", cornerturn::describe(element()), offset_);
}

Expected<void> ContiguousArray::read_box(const ArrayBox& box, std::span<std::byte> out) const {
  CORNERTURN_REQUIRE(box.start.size() == shape().size() && box.count.size() == shape().size());
  CORNERTURN_REQUIRE(out.size() == box.element_count() * element().bytes());

  // From the fastest axis outwards: the run that lies in one piece, then the axes that jump.
  std::uint64_t step = element().bytes();
  std::uint64_t first = offset_;
  std::uint64_t run = element().bytes();
  std::vector<BoxAxis> jumps;
  bool whole = true;
  for (auto axis = storage_order().rbegin(); axis != storage_order().rend(); ++axis) {
    CORNERTURN_REQUIRE(box.start[*axis] + box.count[*axis] <= shape()[*axis]);
    first += box.start[*axis] * step;
    if (whole)
      run *= box.count[*axis];
    else if (box.count[*axis] > 1)
      jumps.push_back({box.count[*axis], step});
    whole = whole && box.count[*axis] == shape()[*axis];
    step *= shape()[*axis];
  }
  std::uint64_t end = first + run;
  for (const BoxAxis& jump : jumps) end += (jump.count - 1) * jump.step_bytes;

  WindowReader reader(file_, end);
  std::vector<std::uint64_t> index(jumps.size(), 0);
  std::uint64_t at = first;
  for (std::size_t written = 0; written < out.size(); written += run) {
    if (auto done = reader.read(at, out.subspan(written, run)); !done) return done;
    for (std::size_t axis = 0; axis < jumps.size(); ++axis) {
      at += jumps[axis].step_bytes;
      if (++index[axis] < jumps[axis].count) break;
      at -= jumps[axis].count * jumps[axis].step_bytes;
      index[axis] = 0;
    }
  }
  return {};
}

}  // namespace cornerturn
