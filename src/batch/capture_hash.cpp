#include "src/batch/capture_hash.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef CORNERTURN_HAVE_XXHASH
#define XXH_INLINE_ALL
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false alarms in GCC 12's AVX-512 header, GCC bug 105593
#endif
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

namespace cornerturn {

#ifdef CORNERTURN_HAVE_XXHASH

namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

Expected<std::string> hash_capture(const std::string& path, const std::atomic<bool>& stop) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::string();
  const File file(path);
  if (file.descriptor() < 0) return input_error(path, std::strerror(errno), "check path and permissions");
  constexpr std::size_t kBlockBytes = std::size_t{4} << 20;
  std::vector<char> block(kBlockBytes);
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  while (!stop) {
    const ssize_t count = ::read(file.descriptor(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return input_error(path, std::strerror(errno), "check the disk, copy the capture again");
    if (count == 0) {
      const XXH128_hash_t hash = XXH3_128bits_digest(&state);
      return fmt::format("xxh3-128:{:016x}{:016x}", hash.high64, hash.low64);
    }
    XXH3_128bits_update(&state, block.data(), static_cast<std::size_t>(count));
  }
  return unexpected({ErrorKind::interrupted, path, "interrupted while reading", ""});
}

#else

Expected<std::string> hash_capture(const std::string& /*path*/, const std::atomic<bool>& /*stop*/) {
  return std::string();
}

#endif

}  // namespace cornerturn
