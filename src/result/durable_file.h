#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Writes a whole file under a temporary name, waits until it is on the disk and gives it its name: a file under `path`
/// is always whole. Errors: runtime with the system's reason (disk full ...); nothing is left behind then.
Expected<void> write_durably(const std::string& path, std::span<const std::byte> bytes);

/// Waits until a file written by someone else is on the disk, then renames it, replacing what is at `to`.
Expected<void> publish_durably(const std::string& from, const std::string& to);

/// Fails when `bytes` more do not fit on the disk that holds `directory` or are not allowed; leaves nothing behind.
Expected<void> check_space(const std::string& directory, std::size_t bytes);

}  // namespace cornerturn
