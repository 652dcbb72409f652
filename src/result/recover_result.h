#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// What recover_result() found.
struct RecoverReport {
  std::string result_path;
  std::size_t segment_count = 0;      ///< joined
  std::uint64_t cpi_count = 0;        ///< in the joined file
  std::uint64_t detection_count = 0;  ///< in the joined file
  std::vector<std::string> skipped;   ///< segments that could not be read, with the reason; they are kept
};

/// Joins the closed segments that an interrupted or killed run left into the result file, and removes them.
/// `path` is the result file ("out.h5") or its folder of segments ("out.h5.parts"). The result file gets the attribute
/// complete = 0. Errors: input when there is nothing to join; usage while a process still writes there; runtime when
/// the disk is full (the segments are kept).
Expected<RecoverReport> recover_result(const std::string& path);

}  // namespace cornerturn
