#include "src/capture/read_only_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cornerturn {

Expected<ReadOnlyFile> ReadOnlyFile::open(const std::string& path) {
  // O_NONBLOCK: a named pipe given as a capture must not hang the program before it is refused.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int cause = errno;
    if (cause == ENOENT || cause == ENOTDIR) return input_error(path, "no such file", "check the path");
    return input_error(path, fmt::format("cannot be opened: {}", std::strerror(cause)), "check its permissions");
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    const bool folder = S_ISDIR(status.st_mode);
    ::close(descriptor);
    return input_error(path, folder ? "is a folder, not a file" : "is not a regular file",
                       "give the capture file itself");
  }
  return ReadOnlyFile(path, descriptor, static_cast<std::uint64_t>(status.st_size));
}

ReadOnlyFile::ReadOnlyFile(std::string path, int descriptor, std::uint64_t size_bytes)
    : path_(std::move(path)), descriptor_(descriptor), size_bytes_(size_bytes) {}

ReadOnlyFile::~ReadOnlyFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ReadOnlyFile::ReadOnlyFile(ReadOnlyFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_) {}

ReadOnlyFile& ReadOnlyFile::operator=(ReadOnlyFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

Expected<void> ReadOnlyFile::read_exact(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return input_error(path_, fmt::format("reading at byte {} failed: {}", offset + done, std::strerror(errno)),
                         "check the disk or copy the file again");
    if (got == 0)
      return input_error(path_,
                         fmt::format("ends at byte {} where {} bytes from byte {} on were expected", offset + done,
                                     out.size(), offset),
                         "the file is shorter than it was or should be: copy it again");
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace cornerturn
