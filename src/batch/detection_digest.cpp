#include "src/batch/detection_digest.h"

#include <algorithm>
#include <utility>

namespace cornerturn {

Expected<void> DetectionDigestSink::begin(const RunDescription& /*run*/) { return {}; }

Expected<void> DetectionDigestSink::accept(const CpiResult& result) {
  ++digest_.cpi_count;
  digest_.quality.masked_samples += result.quality.masked_samples;
  digest_.quality.saturated_samples += result.quality.saturated_samples;
  digest_.quality.zero_channels = std::max(digest_.quality.zero_channels, result.quality.zero_channels);
  digest_.quality.flagged_detections += result.quality.flagged_detections;

  std::vector<Detection> detections = read_detections(result);
  digest_.detection_count += detections.size();
  if (detections.empty()) return {};
  std::stable_sort(detections.begin(), detections.end(),
                   [](const Detection& a, const Detection& b) { return a.power_db > b.power_db; });
  const double power = detected_power(result);
  if (digest_.shown && power <= shown_power_) return {};
  shown_power_ = power;
  digest_.shown = true;
  digest_.shown_cpi = result.header.index;
  digest_.shown_time_s = result.header.start_time_s;
  digest_.shown_cpi_detection_count = detections.size();
  detections.resize(std::min(detections.size(), DetectionDigest::kShownCount));
  digest_.detections = std::move(detections);
  return {};
}

Expected<void> DetectionDigestSink::finish(bool /*complete*/) { return {}; }

}  // namespace cornerturn
