#pragma once

#include <cstdint>
#include <vector>

#include "dsp/simulate/echo_line.h"
#include "dsp/simulate/scene.h"

namespace cornerturn {

/// All scatterers of a scene, CPI by CPI: targets first, then clutter.
///
/// Target: constant amplitude (Swerling 0), or a complex Gaussian one drawn anew for each CPI (Swerling 1), so that its
/// power is exponential with the mean that snr_db says. A constant phase is drawn per target.
/// Clutter: ranges uniform, azimuths uniform in sine, range rates normal, complex Gaussian amplitudes, drawn once per
/// scene and scaled so that their summed power is cnr_db over noise in each sample that clutter reaches. A scatterer's
/// phase goes on from CPI to CPI by its range rate; its range starts anew, so that clutter does not drift apart.
/// Threads: one caller per object.
class Scatterers {
 public:
  explicit Scatterers(const Scene& scene);
  /// Valid until the next call.
  const std::vector<PointEcho>& at_cpi(std::uint64_t cpi_index);

 private:
  void make_targets(const Scene& scene);
  void make_clutter(const Scene& scene);

  std::uint64_t seed_;
  double cpi_period_s_;
  double phase_cycles_per_m_;  // of the raw phase
  std::vector<SceneTarget> targets_;
  std::vector<PointEcho> initial_;  // at time 0, unfaded
  std::vector<PointEcho> current_;
};

}  // namespace cornerturn
