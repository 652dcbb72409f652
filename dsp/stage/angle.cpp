#include "dsp/stage/angle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dsp/stage/covariance.h"
#include "dsp/stage/spatial_solver.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {

namespace {

using Complex = std::complex<double>;

/// A pivot this small beside the mean diagonal is rounding of the elements' own precision.
template <typename Real> constexpr double kSingular = 4.0 * static_cast<double>(std::numeric_limits<Real>::epsilon());

/// Index of the highest value.
std::size_t peak_index(std::span<const double> spectrum) {
  return static_cast<std::size_t>(std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin());
}

bool at_grid_end(std::span<const double> spectrum) {
  const std::size_t peak = peak_index(spectrum);
  return peak == 0 || peak + 1 == spectrum.size();
}

}  // namespace

double peak_azimuth_deg(std::span<const double> azimuths_deg, std::span<const double> spectrum) {
  CORNERTURN_REQUIRE(azimuths_deg.size() == spectrum.size() && !spectrum.empty());
  const std::size_t peak = peak_index(spectrum);
  if (!(spectrum[peak] > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  if (peak == 0 || peak + 1 == spectrum.size()) return azimuths_deg[peak];
  // Levels no lower than 200 dB below the peak: a perfect null next to it has no finite level.
  const auto level_db = [&](std::size_t index) {
    return power_to_db(std::max(spectrum[index], 1e-20 * spectrum[peak]));
  };
  const double left_db = level_db(peak - 1);
  const double right_db = level_db(peak + 1);
  const double curvature = left_db - 2.0 * level_db(peak) + right_db;
  const double offset = curvature < 0.0 ? std::clamp(0.5 * (left_db - right_db) / curvature, -0.5, 0.5) : 0.0;
  const double step =
      offset < 0.0 ? azimuths_deg[peak] - azimuths_deg[peak - 1] : azimuths_deg[peak + 1] - azimuths_deg[peak];
  return azimuths_deg[peak] + offset * step;
}

struct AngleSpectrum::State {
  State(const ArrayGeometry& array, double wavelength_m, std::vector<double> azimuths_deg)
      : steering(array, wavelength_m, std::move(azimuths_deg)),
        solver(steering),
        matrix(packed_size(steering.channel_count())) {
    live.reserve(steering.channel_count());
  }

  template <typename Real>
  AngleQuality process(std::span<const std::complex<Real>> packed, std::span<double> bartlett,
                       std::span<double> capon) {
    const std::size_t channels = steering.channel_count();
    CORNERTURN_REQUIRE(packed.size() == packed_size(channels));
    CORNERTURN_REQUIRE(bartlett.size() == steering.azimuths_deg().size() && capon.size() == bartlett.size());
    live.clear();
    for (std::size_t channel = 0; channel < channels; ++channel)
      if (packed[packed_index(channel, channel)].real() > Real{0}) live.push_back(channel);
    if (live.size() < 2) {
      std::fill(bartlett.begin(), bartlett.end(), 0.0);
      std::fill(capon.begin(), capon.end(), 0.0);
      return AngleQuality::no_data;
    }
    const auto reduced = std::span(matrix).first(packed_size(live.size()));
    for (std::size_t row = 0; row < live.size(); ++row)
      for (std::size_t column = 0; column <= row; ++column)
        reduced[packed_index(row, column)] = Complex(packed[packed_index(live[row], live[column])]);

    solver.use_channels(live);
    const bool regular = solver.set_matrix(reduced, 0.0, kSingular<Real>);
    solver.bartlett(reduced, bartlett);
    solver.capon(capon);
    const bool trusted = regular && live.size() == channels && !at_grid_end(capon);
    return trusted ? AngleQuality::good : AngleQuality::doubtful;
  }

  SteeringTable steering;
  SpatialSolver solver;
  std::vector<Complex> matrix;
  std::vector<std::size_t> live;
};

AngleSpectrum::AngleSpectrum(const ArrayGeometry& array, double wavelength_m, std::vector<double> azimuths_deg)
    : state_(std::make_unique<State>(array, wavelength_m, std::move(azimuths_deg))) {}
AngleSpectrum::~AngleSpectrum() = default;
AngleSpectrum::AngleSpectrum(AngleSpectrum&&) noexcept = default;
AngleSpectrum& AngleSpectrum::operator=(AngleSpectrum&&) noexcept = default;

std::span<const double> AngleSpectrum::azimuths_deg() const { return state_->steering.azimuths_deg(); }

AngleQuality AngleSpectrum::process(std::span<const std::complex<float>> packed, std::span<double> bartlett,
                                    std::span<double> capon) {
  return state_->process(packed, bartlett, capon);
}

AngleQuality AngleSpectrum::process(std::span<const std::complex<double>> packed, std::span<double> bartlett,
                                    std::span<double> capon) {
  return state_->process(packed, bartlett, capon);
}

}  // namespace cornerturn
