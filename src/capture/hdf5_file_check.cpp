#include "src/capture/hdf5_file_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "src/capture/read_only_file.h"

namespace cornerturn {
namespace {

constexpr std::array<unsigned char, 8> kSignature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/// Where the superblock begins: byte 0, or after a user block of 512, 1024, 2048 ... bytes.
std::optional<std::uint64_t> find_superblock(const ReadOnlyFile& file) {
  constexpr std::uint64_t kLastUserBlock = 1U << 26;
  for (std::uint64_t at = 0; at + 8 <= file.size_bytes() && at <= kLastUserBlock; at = at == 0 ? 512 : 2 * at) {
    std::array<unsigned char, 8> bytes{};
    if (!file.read_exact(at, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    if (bytes == kSignature) return at;
  }
  return std::nullopt;
}

/// Size of the whole file as its superblock states it; nothing when that is cut or of an unknown version.
std::optional<std::uint64_t> stated_size(const ReadOnlyFile& file, std::uint64_t superblock) {
  std::array<unsigned char, 64> bytes{};
  const std::uint64_t there = std::min<std::uint64_t>(bytes.size(), file.size_bytes() - superblock);
  if (!file.read_exact(superblock, std::as_writable_bytes(std::span(bytes)).first(there))) return std::nullopt;
  const unsigned version = bytes[8];
  if (version > 3) return std::nullopt;
  const std::size_t address_bytes = version < 2 ? bytes[13] : bytes[9];
  if (address_bytes != 4 && address_bytes != 8) return std::nullopt;
  const std::size_t addresses = version < 2 ? (version == 0 ? 24 : 28) : 12;  // base, extension or free space, end
  const std::size_t at = addresses + 2 * address_bytes;
  if (at + address_bytes > there) return std::nullopt;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < address_bytes; ++i) size |= std::uint64_t{bytes[at + i]} << (8 * i);
  return size == UINT64_MAX ? std::nullopt : std::optional(size);
}

bool is_text(std::span<const unsigned char> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) {
    return byte >= 32 ? byte != 127 : byte == '\n' || byte == '\r' || byte == '\t';
  });
}

Error not_hdf5(const ReadOnlyFile& file) {
  std::array<unsigned char, 64> start{};
  const std::size_t there = std::min<std::uint64_t>(start.size(), file.size_bytes());
  const bool readable = file.read_exact(0, std::as_writable_bytes(std::span(start)).first(there)).has_value();
  const bool text = readable && is_text(std::span(start).first(there));
  return {ErrorKind::input, file.path(),
          fmt::format("is not an HDF5 file but {} ({} bytes)", text ? "text" : "something else", file.size_bytes()),
          text ? "a capture was expected: check which file this is" : "check which file this is, or copy it again"};
}

}  // namespace

bool looks_like_hdf5(const std::string& path) {
  const auto file = ReadOnlyFile::open(path);
  return file && find_superblock(*file).has_value();
}

Expected<h5::File> open_hdf5_checked(const std::string& path) {
  const auto file = ReadOnlyFile::open(path);
  if (!file) return unexpected(file.error());
  if (file->size_bytes() == 0)
    return input_error(path, "is empty (0 bytes)", "the copy or the recording failed: do it again");
  const auto superblock = find_superblock(*file);
  if (!superblock) return unexpected(not_hdf5(*file));
  const auto expected = stated_size(*file, *superblock);
  if (!expected)
    return input_error(path, fmt::format("is cut inside its HDF5 header: {} bytes", file->size_bytes()),
                       "copy the file again");
  if (file->size_bytes() < *expected) {
    constexpr std::uint64_t kHeaderOnly = 2048;
    if (file->size_bytes() <= kHeaderOnly)
      return input_error(path,
                         fmt::format("is cut right after its HDF5 header: {} bytes on disk, {} expected",
                                     file->size_bytes(), *expected),
                         "nothing can be read from it: copy the file again");
    return input_error(path,
                       fmt::format("is cut: {} bytes on disk, {} expected, {} missing", file->size_bytes(), *expected,
                                   *expected - file->size_bytes()),
                       "copy the file again");
  }
  try {
    return h5::open_file(path);
  } catch (const h5::Hdf5Error& error) {
    const bool unclosed = error.cause().find("already open") != std::string::npos ||
                          error.cause().find("consistency flags") != std::string::npos;
    return input_error(path,
                       unclosed ? "is still being written, or its writer was stopped before it closed the file"
                                : fmt::format("is damaged: {}", error.cause()),
                       unclosed ? "wait for the writer, or run h5clear -s on a copy" : "copy the file again");
  }
}

}  // namespace cornerturn
