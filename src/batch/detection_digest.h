#pragma once

#include <cstdint>
#include <vector>

#include "dsp/stage/detection.h"
#include "src/result/result_sink.h"

namespace cornerturn {

/// What a run found, small enough to show: totals, and the detections of the CPI that had the most signal.
struct DetectionDigest {
  std::uint64_t cpi_count = 0;
  std::uint64_t detection_count = 0;
  SampleQuality quality;  ///< summed over the CPIs; zero_channels is the most of any CPI

  bool shown = false;  ///< there is a CPI with detections
  std::uint64_t shown_cpi =
      0;  ///< index of the CPI shown: the one whose detections have the most power together, as in the picture
  double shown_time_s = 0.0;
  std::vector<Detection> detections;  ///< of that CPI, strongest first, kShownCount at most
  std::size_t shown_cpi_detection_count = 0;

  static constexpr std::size_t kShownCount = 10;
};

/// Collects the digest while a run goes on.
class DetectionDigestSink final : public ResultSink {
 public:
  std::string name() const override { return "digest"; }
  Expected<void> begin(const RunDescription& run) override;
  Expected<void> accept(const CpiResult& result) override;
  Expected<void> finish(bool complete) override;
  /// After finish().
  const DetectionDigest& digest() const { return digest_; }

 private:
  DetectionDigest digest_;
  double shown_power_ = 0.0;
};

}  // namespace cornerturn
