#include "src/result/recover_result.h"

#include <filesystem>

#include <fmt/format.h>

#include "src/result/join_segments.h"
#include "src/result/run_attributes.h"
#include "src/result/segment_folder.h"

namespace cornerturn {

Expected<RecoverReport> recover_result(const std::string& path) {
  RecoverReport report;
  report.result_path = path;
  while (report.result_path.ends_with('/')) report.result_path.pop_back();
  const std::string suffix = SegmentFolder::path_for("");
  if (report.result_path.ends_with(suffix)) report.result_path.resize(report.result_path.size() - suffix.size());

  Expected<SegmentFolder> folder = SegmentFolder::open(report.result_path);
  if (!folder) return unexpected(folder.error());
  const std::vector<std::string> segments = folder->segments();
  if (segments.empty())
    return input_error(folder->path(), "holds no closed segment", "nothing to recover; the folder can be deleted");
  const std::string history =
      fmt::format("{} cornerturn: joined {} segments of an interrupted run", utc_now(), segments.size());
  Expected<JoinReport> joined = join_segments(segments, folder->path(), report.result_path, false, history);
  if (!joined) return unexpected(joined.error());
  folder->retire(joined->joined);
  report.segment_count = joined->joined.size();
  report.cpi_count = joined->cpi_count;
  report.detection_count = joined->detection_count;
  report.skipped = std::move(joined->skipped);
  return report;
}

}  // namespace cornerturn
