#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// What a joined file holds.
struct JoinReport {
  std::vector<std::string> joined;   ///< paths of the segments in it
  std::vector<std::string> skipped;  ///< "<segment>: <reason>"
  std::uint64_t cpi_count = 0;
  std::uint64_t detection_count = 0;
};

/// Appends result files of one run to each other along their unlimited dimensions, group by group, into `result_path`,
/// which appears whole or not at all. It knows groups, dimensions and variables, not products: whatever a segment holds
/// is kept. `complete` becomes the attribute of that name; `history` is added to the history where not empty.
/// Errors: input when no segment can be read; runtime when the disk is full (needs the size of all segments once more).
Expected<JoinReport> join_segments(const std::vector<std::string>& segments, const std::string& scratch_directory,
                                   const std::string& result_path, bool complete, const std::string& history);

}  // namespace cornerturn
