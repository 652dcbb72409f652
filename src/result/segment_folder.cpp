#include "src/result/segment_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/result/durable_file.h"

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = "lock";

bool is_segment_name(const std::string& name) {
  return name.ends_with(".h5") && name.find_first_not_of("0123456789") == name.size() - 3;
}

}  // namespace

SegmentFolder::SegmentFolder(SegmentFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)), next_(other.next_) {}

SegmentFolder& SegmentFolder::operator=(SegmentFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(next_, other.next_);
  return *this;
}

SegmentFolder::~SegmentFolder() {
  if (lock_ >= 0) ::close(lock_);
}

Expected<int> SegmentFolder::lock_folder(const std::string& path) {
  const std::string file = path + "/" + kLockName;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return runtime_error(path, fmt::format("cannot be written: {}", std::strerror(errno)),
                         "choose a directory that you may write to");
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int error = errno;
  if (error != EWOULDBLOCK) return descriptor;  // no locks on this file system: go on without
  ::close(descriptor);
  return usage_error(path, "another process is writing these results", "wait until it ends, or write elsewhere");
}

Expected<SegmentFolder> SegmentFolder::create(const std::string& result_path) {
  const std::string path = path_for(result_path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return runtime_error(result_path, "cannot be written: " + error.message(),
                         "choose a directory that exists or can be made, and that you may write to");
  if (fs::is_directory(result_path, error)) {
    fs::remove(path, error);
    return runtime_error(result_path, "is a directory, not a result file", "name a file that ends in .h5");
  }
  Expected<int> lock = lock_folder(path);
  if (!lock) return unexpected(lock.error());
  SegmentFolder folder(path, *lock);
  if (const std::size_t count = folder.segments().size(); count > 0)
    return usage_error(path, fmt::format("holds {} closed segment(s) of a run that did not end", count),
                       fmt::format("run 'cornerturn recover {}' first, or delete the folder", result_path));
  return folder;
}

Expected<SegmentFolder> SegmentFolder::open(const std::string& result_path) {
  const std::string path = path_for(result_path);
  if (!fs::is_directory(path))
    return input_error(result_path, "has no folder of segments (" + fs::path(path).filename().string() + ")",
                       "nothing to recover: either the run ended cleanly or the path is another");
  Expected<int> lock = lock_folder(path);
  if (!lock) return unexpected(lock.error());
  return SegmentFolder(path, *lock);
}

std::vector<std::string> SegmentFolder::segments() const {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error))
    if (is_segment_name(entry.path().filename().string())) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Expected<void> SegmentFolder::add(std::span<const std::byte> bytes) {
  Expected<void> written = write_durably(fmt::format("{}/{:06}.h5", path_, next_), bytes);
  if (written) ++next_;
  return written;
}

void SegmentFolder::retire(const std::vector<std::string>& joined) {
  // First the folder loses its name, in one step: a crash half-way through the removal must not leave some of the
  // segments where a recovery would take them for the whole run.
  const bool all = joined.size() == segments().size();
  const std::string away = path_ + (all ? ".joined" : ".unreadable");
  std::error_code error;
  fs::remove_all(away, error);
  fs::rename(path_, away, error);
  if (error) return;
  if (all) {
    fs::remove_all(away, error);
  } else {
    for (const std::string& segment : joined) fs::remove(away / fs::path(segment).filename(), error);
  }
  path_ = away;
}

}  // namespace cornerturn
