#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// The folder "<result>.parts" of closed segments 000000.h5, 000001.h5 ... of a run that has not ended cleanly yet.
/// Its owner holds a lock that ends with the process, so that no other run and no recovery touch a folder in use.
class SegmentFolder {
 public:
  static std::string path_for(const std::string& result_path) { return result_path + ".parts"; }

  /// Makes the folder for a new run. Errors: runtime when it cannot be made; usage when it holds segments of an earlier
  /// run, or another process writes there.
  static Expected<SegmentFolder> create(const std::string& result_path);
  /// Opens what a run left. Errors: input when there is none; usage while the run still goes on.
  static Expected<SegmentFolder> open(const std::string& result_path);

  SegmentFolder(SegmentFolder&& other) noexcept;
  SegmentFolder& operator=(SegmentFolder&& other) noexcept;
  /// Gives up the lock; segments stay.
  ~SegmentFolder();

  const std::string& path() const { return path_; }
  /// Closed segments in order.
  std::vector<std::string> segments() const;
  /// Adds a closed segment. Errors: runtime (disk full ...); the segments before are untouched.
  Expected<void> add(std::span<const std::byte> bytes);
  /// Removes the segments that are in the joined file now; others are kept in a folder "<result>.parts.unreadable".
  void retire(const std::vector<std::string>& joined);

 private:
  SegmentFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  static Expected<int> lock_folder(const std::string& path);

  std::string path_;
  int lock_ = -1;
  std::size_t next_ = 0;
};

}  // namespace cornerturn
