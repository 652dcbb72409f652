#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// An open file that is read by position; owns the descriptor.
/// Threads: read_exact from any.
class ReadOnlyFile {
 public:
  /// Errors: input: missing, a folder, no permission.
  static Expected<ReadOnlyFile> open(const std::string& path);
  ~ReadOnlyFile();
  ReadOnlyFile(ReadOnlyFile&& other) noexcept;
  ReadOnlyFile& operator=(ReadOnlyFile&& other) noexcept;

  const std::string& path() const { return path_; }
  /// Size when it was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// Fills `out` from byte `offset` on. Errors: input, with the byte position, when the file has become shorter.
  Expected<void> read_exact(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  ReadOnlyFile(std::string path, int descriptor, std::uint64_t size_bytes);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace cornerturn
