#include "src/capture/raw_size.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "src/capture/checked_size.h"

namespace cornerturn {

std::string describe_size(std::uint64_t size_bytes) {
  std::string factors;
  std::uint64_t rest = size_bytes;
  // Radar sizes are products of small primes; what is left above them is shown as one factor.
  for (std::uint64_t prime = 2; prime <= 97 && rest > 1; ++prime) {
    int power = 0;
    for (; rest % prime == 0; rest /= prime) ++power;
    if (power > 0)
      factors += fmt::format("{}{}{}", factors.empty() ? "" : " x ", prime, power > 1 ? fmt::format("^{}", power) : "");
  }
  if (rest > 1 || factors.empty()) factors += fmt::format("{}{}", factors.empty() ? "" : " x ", rest);
  return fmt::format("{} bytes = {}", size_bytes, factors);
}

Expected<RawArray> open_raw_array(const std::string& path, const ArrayElement& element,
                                  std::vector<std::uint64_t> shape, std::uint64_t skip_bytes) {
  auto file = ReadOnlyFile::open(path);
  if (!file) return unexpected(file.error());
  if (file->size_bytes() <= skip_bytes)
    return input_error(path, fmt::format("has {} bytes, and {} are to be skipped", file->size_bytes(), skip_bytes),
                       "copy the file again, or correct skip_bytes");
  const std::uint64_t payload = file->size_bytes() - skip_bytes;
  const auto row_bytes = checked_product(element.bytes(), std::span(shape).subspan(1));
  if (!row_bytes || *row_bytes == 0)
    return input_error(path, fmt::format("cannot have the shape {}", describe_shape(shape)), "correct the shape");

  RawArray raw;
  const bool open_ended = shape.front() == 0;
  if (open_ended) {
    shape.front() = payload / *row_bytes;
    if (shape.front() == 0)
      return input_error(path,
                         fmt::format("is too short: {} bytes on disk, one entry of the first axis takes {}",
                                     file->size_bytes(), *row_bytes),
                         "copy the file again, or correct the shape");
    if (payload % *row_bytes != 0)
      raw.doubts.push_back({"the file does not hold a whole number of entries of the described size",
                            fmt::format("{} of {} bytes each and {} bytes more ({})", shape.front(), *row_bytes,
                                        payload % *row_bytes, describe_size(payload)),
                            "check channels, samples and type; the rest is left out"});
  }
  const std::uint64_t size_bytes = file->size_bytes();
  auto array = ContiguousArray::make(std::move(*file), element, std::move(shape), false, skip_bytes);
  if (!array) {
    Error error = array.error();
    error.remedy = "copy the file again, or give 0 as the first number of the shape to read what is there";
    return unexpected(error);
  }
  const std::uint64_t used = array_bytes(path, element, (*array)->shape()).value_or(payload);
  if (!open_ended && payload != used)
    raw.doubts.push_back({"the file is larger than described",
                          fmt::format("{} bytes on disk, {} described: {:.6g} times", size_bytes, used + skip_bytes,
                                      static_cast<double>(payload) / static_cast<double>(used)),
                          "check frames, chirps, channels and samples (docs/capture-format.md)"});
  raw.array = std::move(*array);
  return raw;
}

}  // namespace cornerturn
