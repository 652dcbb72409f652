#include "dsp/chain/grouping_geometry.h"

#include <cmath>

#include "dsp/vocabulary/units.h"

namespace cornerturn {

GroupingGeometry grouping_geometry(const ChainPlan& plan) {
  GroupingGeometry geometry;
  geometry.gate_axis = plan.gate_axis;
  geometry.doppler_axis = plan.doppler_axis;
  geometry.doppler_wraps = plan.config.cfar.doppler_wraps;
  geometry.zero_doppler_bin = static_cast<double>(plan.doppler_fft_length / 2);
  const Waveform& waveform = plan.radar.waveform;
  // R = c (fb - fd) / (2 |S|), fd in the capture's own sign of phase.
  if (waveform.kind == WaveformKind::fmcw)
    geometry.range_coupling_m_per_bin =
        plan.radar.propagation_factor * kSpeedOfLight_mps * plan.doppler_step_hz / std::abs(waveform.slope_hz_per_s);
  return geometry;
}

}  // namespace cornerturn
