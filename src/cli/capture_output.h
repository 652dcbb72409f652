#pragma once

#include <string>

#include "src/capture/capture_source.h"
#include "src/cli/console.h"

namespace cornerturn {

/// Writes the whole source as capture v1 to `path`, with progress; Ctrl-C ends it and leaves no file.
/// Refuses to write over an existing file unless `overwrite`. Gives the number of CPIs.
Expected<std::size_t> write_capture(CaptureSource& source, const std::string& path, bool overwrite,
                                    const Console& console);

/// "12.3 MB in 1.2 s": size of the written file and how long it took.
std::string describe_written(const std::string& path, double seconds);

}  // namespace cornerturn
