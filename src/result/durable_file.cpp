#include "src/result/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporarySuffix = ".partial";

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// Network disks report a failed write only here.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

std::string remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or write to another disk";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f) or write less per file";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a directory that you may write to";
    default:
      return "check the disk, or write to another directory";
  }
}

tl::unexpected<Error> system_error(const std::string& path, const std::string& what, int error) {
  return runtime_error(path, fmt::format("{}: {}", what, std::strerror(error)), remedy_for(error));
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;  // one write() takes less than 2 GiB
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kPiece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

Expected<void> publish_durably(const std::string& from, const std::string& to) {
  {
    Descriptor file(from, O_RDONLY);
    if (file.number() < 0 || ::fsync(file.number()) != 0 || file.close() != 0)
      return system_error(from, "cannot be brought to the disk", errno);
  }
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error(to, "cannot be named", errno);
  // Some file systems have no fsync for folders; the name is then as safe as they make it.
  const Descriptor folder(folder_of(to), O_RDONLY | O_DIRECTORY);
  if (folder.number() >= 0) ::fsync(folder.number());
  return {};
}

Expected<void> write_durably(const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = path + kTemporarySuffix;
  {
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.number() < 0) return system_error(path, "cannot be created", errno);
    if (!write_all(file.number(), bytes) || file.close() != 0) {
      const int error = errno;
      ::unlink(temporary.c_str());
      return system_error(path, fmt::format("cannot write {:.1f} MB", 1e-6 * static_cast<double>(bytes.size())), error);
    }
  }
  Expected<void> published = publish_durably(temporary, path);
  if (!published) ::unlink(temporary.c_str());
  return published;
}

Expected<void> check_space(const std::string& directory, std::size_t bytes) {
  const std::string probe = directory + "/space" + kTemporarySuffix;
  Descriptor file(probe, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.number() < 0) return system_error(directory, "no file can be created", errno);
  // The kernel's call, not posix_fallocate: glibc would write the whole file where the file system cannot reserve.
  const int result = bytes == 0 ? 0 : ::fallocate(file.number(), 0, 0, static_cast<off_t>(bytes));
  const int error = errno;
  ::unlink(probe.c_str());
  if (result == 0 || error == EOPNOTSUPP || error == ENOSYS) return {};
  return system_error(directory, fmt::format("no room for {:.1f} MB", 1e-6 * static_cast<double>(bytes)), error);
}

}  // namespace cornerturn
