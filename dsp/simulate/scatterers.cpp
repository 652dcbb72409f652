#include "dsp/simulate/scatterers.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include "dsp/simulate/random.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

std::complex<double> normal_amplitude(DrawStream& draws) {
  const double real = draws.normal();
  return std::complex<double>(real, draws.normal()) * std::numbers::sqrt2 * 0.5;
}

std::vector<std::complex<float>> channel_response(const Scene& scene, double azimuth_deg) {
  std::vector<std::complex<double>> response(scene.shape.channel_count, 1.0);
  if (!scene.radar.array.elements.empty())
    response = steering_vector(scene.radar.array, scene.radar.waveform.wavelength_m(), azimuth_deg);
  std::vector<std::complex<float>> divided(response.size());
  for (std::size_t channel = 0; channel < response.size(); ++channel) {
    if (!scene.radar.channel_calibration.empty())
      response[channel] /= std::complex<double>(scene.radar.channel_calibration[channel]);
    divided[channel] = std::complex<float>(response[channel]);
  }
  return divided;
}

/// Share of the samples reached by clutter at all that one scatterer reaches: 1 for FMCW, where each reaches all.
double filling_of_one(const Scene& scene) {
  const Waveform& waveform = scene.radar.waveform;
  if (waveform.kind != WaveformKind::pulse) return 1.0;
  const double path_speed_mps = kSpeedOfLight_mps * scene.radar.propagation_factor;
  const double width_s = pulse_width_s(waveform);
  return width_s / (width_s + (scene.clutter.max_range_m - scene.clutter.min_range_m) / path_speed_mps);
}

}  // namespace

Scatterers::Scatterers(const Scene& scene)
    : seed_(scene.seed),
      cpi_period_s_(cornerturn::cpi_period_s(scene)),
      phase_cycles_per_m_(scene.radar.doppler_sign /
                          (scene.radar.waveform.wavelength_m() * scene.radar.propagation_factor)),
      targets_(scene.targets) {
  make_targets(scene);
  if (has_clutter(scene)) make_clutter(scene);
  current_ = initial_;
}

void Scatterers::make_targets(const Scene& scene) {
  for (std::size_t index = 0; index < targets_.size(); ++index) {
    const SceneTarget& target = targets_[index];
    DrawStream draws(stream_key(seed_, DrawPurpose::target, index));
    initial_.push_back(
        {target.range_m, target.range_rate_mps,
         std::polar(echo_amplitude_counts(target.snr_db, scene.receiver), 2.0 * std::numbers::pi * draws.uniform()),
         channel_response(scene, target.azimuth_deg)});
  }
}

void Scatterers::make_clutter(const Scene& scene) {
  const SceneClutter& clutter = scene.clutter;
  DrawStream draws(stream_key(seed_, DrawPurpose::clutter, 0));
  double power_sum = 0.0;
  for (std::size_t index = 0; index < clutter.scatterer_count; ++index) {
    PointEcho echo;
    echo.range_m = clutter.min_range_m + (clutter.max_range_m - clutter.min_range_m) * draws.uniform();
    echo.range_rate_mps = clutter.range_rate_spread_mps * draws.normal();
    const double sine = 2.0 * draws.uniform() - 1.0;
    echo.channel_response = channel_response(scene, rad_to_deg(std::asin(sine)));
    echo.amplitude_counts = normal_amplitude(draws);
    power_sum += std::norm(echo.amplitude_counts);
    initial_.push_back(std::move(echo));
  }
  const double amplitude = echo_amplitude_counts(clutter.cnr_db, scene.receiver);
  const double scale = amplitude / std::sqrt(power_sum * filling_of_one(scene));
  for (std::size_t index = targets_.size(); index < initial_.size(); ++index) initial_[index].amplitude_counts *= scale;
}

const std::vector<PointEcho>& Scatterers::at_cpi(std::uint64_t cpi_index) {
  const double time_s = static_cast<double>(cpi_index) * cpi_period_s_;
  for (std::size_t index = 0; index < initial_.size(); ++index) {
    const PointEcho& start = initial_[index];
    PointEcho& echo = current_[index];
    if (index < targets_.size()) {
      echo.range_m = start.range_m + start.range_rate_mps * time_s;
      if (targets_[index].fluctuation == Fluctuation::swerling1) {
        DrawStream draws(stream_key(seed_, DrawPurpose::fluctuation, cpi_index, index));
        echo.amplitude_counts = start.amplitude_counts * normal_amplitude(draws);
      }
    } else {
      const double cycles = phase_cycles_per_m_ * start.range_rate_mps * time_s;
      echo.amplitude_counts =
          start.amplitude_counts * std::polar(1.0, 2.0 * std::numbers::pi * (cycles - std::round(cycles)));
    }
  }
  return current_;
}

}  // namespace cornerturn
