#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "dsp/vocabulary/error.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// Told after each CPI (written, and in all, 0 when not known); false stops.
using ConvertProgress = std::function<bool(std::size_t done, std::size_t total)>;

/// Writes every CPI of a source, from where it stands, as capture v1. Returns how many. `path` appears only when all is
/// written. Errors: those of source and writer; interrupted when `progress` said stop.
Expected<std::size_t> convert_capture(CaptureSource& source, const std::string& path,
                                      const ConvertProgress& progress = {});

}  // namespace cornerturn
