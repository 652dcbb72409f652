#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/config/chain_config.h"
#include "dsp/stage/cfar.h"
#include "dsp/stage/detection.h"
#include "dsp/vocabulary/axis.h"
#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// What the grouper has to know about the map.
struct GroupingGeometry {
  Axis gate_axis = Axis::index("range", 0);
  Axis doppler_axis = Axis::index("range_rate", 0);
  bool doppler_wraps = true;
  double zero_doppler_bin = 0.0;
  /// Range-Doppler coupling: a target at Doppler bin b appears this far beyond its range per bin of
  /// (b - zero_doppler_bin); subtracted from range_m. In the capture's own phase sign: c f_bin / (2 |S|) for FMCW,
  /// -c f_bin T / (2 B) for LFM pulses.
  double range_coupling_m_per_bin = 0.0;
};

/// Turns alarms into detections: alarms that touch (8 neighbours, around the Doppler ends when they wrap) form a group,
/// and each local maximum of a group is one detection. Ties go to the lower index, so a group has one at least.
/// The peak is moved by a parabola through the levels in dB along each axis,
///   d = (l(-1) - l(+1)) / (2 (l(-1) - 2 l(0) + l(+1))),  level = l(0) - d (l(-1) - l(+1)) / 4,
/// |d| <= 1/2; the first and last gate (and bin, where Doppler does not wrap) stay at their bins and are flagged, never
/// dropped. With grouping disabled each alarm is a detection at its bin.
/// Output: in ascending order of (gate, bin); azimuths NaN with kNoAngle until the angle stage fills them.
/// Allocates nothing after construction. Threads: one caller per object.
/// Source: parabola: Smith, Spectral Audio Signal Processing (2011), section "Quadratic Interpolation of Spectral
/// Peaks".
class DetectionGrouper {
 public:
  DetectionGrouper(const ChainConfig::Grouping& config, GroupingGeometry geometry, std::size_t alarm_capacity);

  /// Writes at most `out.size()` and at most max_detections detections and returns their number; when there are more,
  /// the strongest are kept and the others counted in dropped().
  std::size_t process(MatrixView<const float> power, std::span<const CfarAlarm> alarms, std::span<Detection> out);
  /// Detections of the last map that found no room.
  std::size_t dropped() const { return dropped_; }

 private:
  std::uint32_t root_of(std::uint32_t alarm);
  void link(std::span<const CfarAlarm> alarms, std::uint32_t earlier, std::uint32_t later);
  void link_neighbours(std::span<const CfarAlarm> alarms);
  Detection make_detection(MatrixView<const float> power, const CfarAlarm& alarm, std::uint32_t cell_count) const;

  ChainConfig::Grouping config_;
  GroupingGeometry geometry_;
  std::vector<std::uint32_t> parent_;      // per alarm
  std::vector<std::uint32_t> cell_count_;  // per root
  std::vector<std::uint8_t> is_peak_;      // per alarm
  std::vector<std::uint32_t> peaks_;
  std::size_t dropped_ = 0;
};

}  // namespace cornerturn
