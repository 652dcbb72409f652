#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/capture/array_file.h"
#include "src/capture/capture_source.h"
#include "src/capture/cpi_cut.h"

namespace cornerturn {

/// What stands beside the samples of each CPI.
struct CpiTimes {
  double frame_period_s = 0.0;  ///< from the start of one frame to the next
  double pri_s = 0.0;
  /// Start of each frame, empty: multiples of the frame period.
  std::vector<double> start_time_s;
  /// The sensor's clock at each frame, empty when it has none.
  std::vector<double> sensor_time_s;
  /// Missing samples by frame, pulses counted in the frame.
  std::map<std::uint64_t, std::vector<GapInterval>> gaps;
};

/// A capture whose samples are arrays of a container (two when I and Q are stored apart), cut into CPIs.
class ArraySource final : public CaptureSource {
 public:
  /// Fills the sizes of `info` (layout, shape, slot_bytes, cpi_count, cpi_period_s) from the cut and adds how the
  /// samples lie to what was understood.
  ArraySource(std::vector<std::unique_ptr<ArrayFile>> arrays, CpiCut cut, CpiTimes times, CaptureInfo info);

  const CaptureInfo& info() const override { return info_; }
  Expected<Fill> fill(WriteLease& slot) override;
  Expected<void> seek(std::size_t cpi_index) override;

 private:
  std::vector<std::unique_ptr<ArrayFile>> arrays_;
  CpiCut cut_;
  std::vector<GapInterval> gaps_of(std::size_t cpi) const;

  CpiTimes times_;
  CaptureInfo info_;
  std::size_t next_ = 0;
};

}  // namespace cornerturn
