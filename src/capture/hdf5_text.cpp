#include "src/capture/hdf5_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "src/capture/hdf5_inside.h"

namespace cornerturn::h5 {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 20;

std::uint64_t little_endian(std::span<const unsigned char> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// Widths of addresses and lengths in a file, and where its HDF5 part begins.
struct FileSizes {
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
  std::uint64_t base = 0;
};

FileSizes sizes_of(const File& file) {
  const Properties creation(checked("read file", "", [&] { return H5Fget_create_plist(file.id()); }));
  FileSizes sizes;
  hsize_t user_block = 0;
  checked("read sizes", "", [&] { return H5Pget_sizes(creation.id(), &sizes.address_bytes, &sizes.length_bytes); });
  checked("read user block", "", [&] { return H5Pget_userblock(creation.id(), &user_block); });
  sizes.base = user_block;
  return sizes;
}

/// The object `index` of the global heap collection at `at`.
std::optional<std::string> read_heap_object(const ReadOnlyFile& file, const FileSizes& sizes, std::uint64_t at,
                                            std::uint64_t index, std::uint64_t text_length) {
  constexpr std::uint64_t kLargestCollection = std::uint64_t{1} << 26;
  std::array<unsigned char, 16> head{};
  const std::size_t head_bytes = 8 + sizes.length_bytes;
  if (at > file.size_bytes() || file.size_bytes() - at < head_bytes ||
      !file.read_exact(at, std::as_writable_bytes(std::span(head)).first(head_bytes)))
    return std::nullopt;
  const std::uint64_t collection = little_endian(std::span(head).subspan(8, sizes.length_bytes));
  if (std::memcmp(head.data(), "GCOL\x01", 5) != 0 || collection > kLargestCollection ||
      collection > file.size_bytes() - at)
    return std::nullopt;
  std::vector<unsigned char> heap(collection);
  if (!file.read_exact(at, std::as_writable_bytes(std::span(heap)))) return std::nullopt;

  // Objects follow each other: index, references, 4 bytes reserved, size, data padded to 8 bytes. Index 0 is free
  // space.
  const std::size_t object_head = 8 + sizes.length_bytes;
  std::uint64_t offset = head_bytes;
  while (offset + object_head <= collection) {
    const std::span<const unsigned char> object = std::span(heap).subspan(offset);
    const std::uint64_t object_index = little_endian(object.first(2));
    const std::uint64_t size = little_endian(object.subspan(8, sizes.length_bytes));
    if (object_index == 0 || size > collection - offset - object_head) return std::nullopt;
    if (object_index == index) {
      const std::uint64_t length = std::min(size, text_length);
      if (length > kLongestText) return std::nullopt;
      return std::string(reinterpret_cast<const char*>(object.data()) + object_head, length);
    }
    offset += object_head + (size + 7) / 8 * 8;
  }
  return std::nullopt;
}

/// The element of a variable-length dataset is length (4 bytes), address of the collection, and index (4 bytes).
std::optional<std::string> read_variable_text(const File& file, const ReadOnlyFile& bytes, const Dataset& dataset) {
  const auto offset = contiguous_offset(dataset);
  const FileSizes sizes = sizes_of(file);
  if (!offset || sizes.address_bytes > 8 || sizes.length_bytes > 8) return std::nullopt;
  std::array<unsigned char, 16> reference{};
  const std::size_t reference_bytes = 8 + sizes.address_bytes;
  if (*offset > bytes.size_bytes() || bytes.size_bytes() - *offset < reference_bytes ||
      !bytes.read_exact(*offset, std::as_writable_bytes(std::span(reference)).first(reference_bytes)))
    return std::nullopt;
  const std::uint64_t length = little_endian(std::span(reference).first(4));
  const std::uint64_t address = little_endian(std::span(reference).subspan(4, sizes.address_bytes));
  const std::uint64_t index = little_endian(std::span(reference).subspan(4 + sizes.address_bytes, 4));
  if (address > bytes.size_bytes()) return std::nullopt;
  return read_heap_object(bytes, sizes, sizes.base + address, index, length);
}

std::string up_to_nul(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

}  // namespace

std::optional<std::string> read_text_dataset(const File& file, const ReadOnlyFile& bytes, const std::string& path) {
  try {
    const Dataset dataset = open_dataset_inside(file, path);
    const Datatype type = type_of(dataset);
    if (H5Tget_class(type.id()) != H5T_STRING || element_count(shape_of(dataset)) != 1) return std::nullopt;
    if (H5Tis_variable_str(type.id()) > 0) {
      auto text = read_variable_text(file, bytes, dataset);
      return text ? std::optional(up_to_nul(std::move(*text))) : std::nullopt;
    }
    const std::size_t length = H5Tget_size(type.id());
    if (length > kLongestText) return std::nullopt;
    std::string text(length, '\0');
    read_all(dataset, type.id(), text.data(), path);
    return up_to_nul(std::move(text));
  } catch (const Hdf5Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> find_fixed_text_attribute(hid_t object, const std::string& name) {
  if (!has_attribute(object, name)) return std::nullopt;
  {
    const Attribute attribute(
        checked("open attribute", name, [&] { return H5Aopen(object, name.c_str(), H5P_DEFAULT); }));
    const Datatype type(checked("read type", name, [&] { return H5Aget_type(attribute.id()); }));
    if (H5Tis_variable_str(type.id()) > 0)
      throw Hdf5Error("read attribute", name, "it is a text of variable length, fixed length is needed");
  }
  return read_text_attribute(object, name);
}

}  // namespace cornerturn::h5
