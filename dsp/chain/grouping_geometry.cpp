#include "dsp/chain/grouping_geometry.h"

#include <cmath>

#include "dsp/vocabulary/units.h"

namespace cornerturn {

GroupingGeometry grouping_geometry(const ChainPlan& plan) {
  GroupingGeometry geometry;
  geometry.gate_axis = plan.gate_axis;
  geometry.doppler_axis = plan.doppler_axis;
  geometry.doppler_wraps = plan.config.cfar.doppler_wraps;
  const std::size_t zero_bin = plan.doppler_fft_length / 2;
  geometry.zero_doppler_bin = static_cast<double>(zero_bin);
  const Waveform& waveform = plan.radar.waveform;
  const double metres_per_second = plan.radar.propagation_factor * kSpeedOfLight_mps;
  if (waveform.kind == WaveformKind::fmcw) {
    // R = c (fb - fd) / (2 |S|), fd in the capture's own sign of phase.
    geometry.range_coupling_m_per_bin = metres_per_second * plan.doppler_step_hz / std::abs(waveform.slope_hz_per_s);
  } else if (waveform.kind == WaveformKind::pulse && waveform.replica.empty() && waveform.bandwidth_hz != 0.0) {
    // The ridge of an LFM's ambiguity function: a Doppler shift fd moves the compressed pulse by -fd T / B.
    geometry.range_coupling_m_per_bin =
        -metres_per_second * plan.doppler_step_hz * waveform.pulse_width_s / waveform.bandwidth_hz;
  }
  return geometry;
}

}  // namespace cornerturn
