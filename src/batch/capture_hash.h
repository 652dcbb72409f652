#pragma once

#include <atomic>
#include <string>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Fingerprint of a file's bytes, "xxh3-128:<32 hex digits>", so that results can be traced to their capture. Not
/// cryptographic. Empty for what is no regular file and in builds without xxhash.
/// Reads the file once; a second reading usually comes from the page cache. `stop` set: gives up, interrupted.
/// Errors: input.
/// Source: Yann Collet, xxHash, XXH3 128-bit variant.
Expected<std::string> hash_capture(const std::string& path, const std::atomic<bool>& stop);

}  // namespace cornerturn
