#include "src/cli/capture_output.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "src/batch/output_files.h"
#include "src/capture/convert_capture.h"
#include "src/cli/interrupt.h"
#include "src/cli/progress.h"
#include "src/cli/quantity.h"

namespace cornerturn {

Expected<std::size_t> write_capture(CaptureSource& source, const std::string& path, bool overwrite,
                                    const Console& console) {
  std::error_code ignored;
  if (std::filesystem::equivalent(source.info().path, path, ignored))
    return usage_error(path, "is the capture itself", "give another file to write");
  if (const Expected<void> is_free = check_free({path}, overwrite); !is_free) return unexpected(is_free.error());
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (const Expected<void> ready = prepare_directory(directory.empty() ? "." : directory); !ready)
    return unexpected(ready.error());
  const InterruptGuard interrupt;
  Progress progress(console, path);
  return convert_capture(source, path, [&](std::size_t done, std::size_t total) {
    progress.update(done, total);
    return !interrupt.requested();
  });
}

std::string describe_written(const std::string& path, double seconds) {
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
  return fmt::format("{} in {}", format_bytes(static_cast<double>(bytes)), format_seconds(seconds));
}

}  // namespace cornerturn
