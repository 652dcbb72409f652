#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/stage/angle.h"
#include "dsp/stage/covariance.h"
#include "dsp/theory/source_covariance.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

const ArrayGeometry kEight = ArrayGeometry::uniform_line(8, 0.5);  // half a wavelength of 1 m

struct Spectra {
  std::vector<double> azimuths_deg, bartlett, capon;
  AngleQuality quality = AngleQuality::good;
  double bartlett_db(double azimuth_deg) const { return power_to_db(bartlett[index(azimuth_deg)]); }
  double capon_db(double azimuth_deg) const { return power_to_db(capon[index(azimuth_deg)]); }
  std::size_t index(double azimuth_deg) const {
    return static_cast<std::size_t>(
        std::ranges::find_if(azimuths_deg, [&](double a) { return std::abs(a - azimuth_deg) < 1e-9; }) -
        azimuths_deg.begin());
  }
};

template <typename Real>
Spectra spectra_of(const std::vector<std::complex<Real>>& packed, std::vector<double> azimuths_deg) {
  Spectra spectra;
  spectra.azimuths_deg = azimuths_deg;
  spectra.bartlett.resize(azimuths_deg.size());
  spectra.capon.resize(azimuths_deg.size());
  AngleSpectrum stage(kEight, 1.0, std::move(azimuths_deg));
  spectra.quality = stage.process(std::span<const std::complex<Real>>(packed), spectra.bartlett, spectra.capon);
  return spectra;
}

std::vector<std::complex<float>> in_single(const std::vector<std::complex<double>>& values) {
  std::vector<std::complex<float>> single;
  for (const auto& value : values)
    single.emplace_back(static_cast<float>(value.real()), static_cast<float>(value.imag()));
  return single;
}

TEST(AngleSpectrum, TwoSourcesMeetTable) {
  const std::array<PlaneWave, 2> sources{{{-10.0, 100.0}, {25.0, 100.0}}};
  const auto packed = packed_lower(source_covariance(kEight, 1.0, sources, 1.0, false), 8);
  const auto spectra = spectra_of(packed, azimuth_grid_deg(-60.0, 60.0, 0.5));
  EXPECT_EQ(spectra.quality, AngleQuality::good);
  for (const double azimuth_deg : {-10.0, 25.0}) {
    EXPECT_NEAR(spectra.capon_db(azimuth_deg), 20.0055, 0.5e-4);
    EXPECT_NEAR(spectra.bartlett_db(azimuth_deg), 20.0959, 0.5e-4);
  }
  EXPECT_NEAR(spectra.capon_db(0.0), -8.090, 0.5e-3);
  EXPECT_NEAR(spectra.bartlett_db(0.0), 12.3985, 0.5e-4);

  // Single precision input: condition number 917, so 917 * 6e-8 of the small eigenvalues, 2e-4 dB.
  const auto single = spectra_of(in_single(packed), spectra.azimuths_deg);
  for (std::size_t i = 0; i < spectra.capon.size(); ++i) {
    EXPECT_NEAR(power_to_db(single.capon[i] / spectra.capon[i]), 0.0, 1e-3);
    EXPECT_NEAR(power_to_db(single.bartlett[i] / spectra.bartlett[i]), 0.0, 1e-3);
  }
}

TEST(AngleSpectrum, OptimumBeamformerMeetsClosedForm) {
  struct Case {
    double azimuth_deg, inr_db, mvdr_db, conventional_db;
  };
  for (const Case& c :
       {Case{20.0, 30.0, 8.8082, -16.999}, Case{5.0, 30.0, 4.3077, -28.216}, Case{40.0, 40.0, 8.9399, -23.168}}) {
    const std::array<PlaneWave, 1> jammer{{{c.azimuth_deg, db_to_power(c.inr_db)}}};
    const auto packed = packed_lower(source_covariance(kEight, 1.0, jammer, 1.0, false), 8);
    const auto spectra = spectra_of(packed, {-30.0, 0.0, c.azimuth_deg, 60.0});
    // A signal of 0 dB at broadside: s^H R^-1 s, and 1 / (s^H R s / M^2).
    EXPECT_NEAR(-spectra.capon_db(0.0), c.mvdr_db, 1e-3);
    EXPECT_NEAR(-spectra.bartlett_db(0.0), c.conventional_db, 1e-3);
  }
}

TEST(AngleSpectrum, PeakIsRefinedBetweenGridPoints) {
  const std::array<PlaneWave, 1> source{{{10.23, 100.0}}};
  const auto packed = packed_lower(source_covariance(kEight, 1.0, source, 1.0, false), 8);
  const auto spectra = spectra_of(packed, azimuth_grid_deg(-60.0, 60.0, 0.5));
  // The parabola's own error: the beam is 12.8 degrees wide, its skewness over half a degree costs under 1e-2 degrees;
  // the Capon peak is 1 / sqrt(M SNR) times as wide, half a degree, where a parabola is good to a tenth of the step.
  EXPECT_NEAR(peak_azimuth_deg(spectra.azimuths_deg, spectra.bartlett), 10.23, 0.01);
  EXPECT_NEAR(peak_azimuth_deg(spectra.azimuths_deg, spectra.capon), 10.23, 0.05);
}

TEST(AngleSpectrum, PeakAtGridEndIsTheEndAndDoubtful) {
  const std::array<PlaneWave, 1> source{{{50.0, 100.0}}};
  const auto packed = packed_lower(source_covariance(kEight, 1.0, source, 1.0, false), 8);
  const auto spectra = spectra_of(packed, azimuth_grid_deg(-40.0, 40.0, 1.0));
  EXPECT_EQ(spectra.quality, AngleQuality::doubtful);
  EXPECT_DOUBLE_EQ(peak_azimuth_deg(spectra.azimuths_deg, spectra.bartlett), 40.0);
}

TEST(AngleSpectrum, MatrixOfNonsenseEndsFinite) {
  std::vector<std::complex<float>> packed(packed_size(8), {1.0F, 0.0F});
  packed[packed_index(5, 2)] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
  const auto spectra = spectra_of(packed, azimuth_grid_deg(-40.0, 40.0, 1.0));
  EXPECT_EQ(spectra.quality, AngleQuality::doubtful);
  for (const double value : spectra.capon) EXPECT_TRUE(std::isfinite(value));
}

// BL-08: singular covariance stops the DOA step. Cells of 16 snapshots of a 20 dB source at 10 degrees; three spoiled.
enum class Spoil { none, all_zero, identical_snapshots, dead_channel };

std::vector<std::complex<float>> snapshots_of_cell(unsigned seed, Spoil spoil) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
  const auto complex_normal = [&] { return std::complex<double>(normal(engine), normal(engine)); };
  const auto response = steering_vector(kEight, 1.0, 10.0);
  std::vector<std::complex<float>> x(8 * 16);
  for (std::size_t k = 0; k < 16; ++k) {
    const auto signal = 10.0 * complex_normal();
    for (std::size_t m = 0; m < 8; ++m) x[m * 16 + k] = std::complex<float>(signal * response[m] + complex_normal());
  }
  for (std::size_t m = 0; m < 8; ++m)
    for (std::size_t k = 0; k < 16; ++k) {
      if (spoil == Spoil::all_zero || (spoil == Spoil::dead_channel && m == 3)) x[m * 16 + k] = 0.0F;
      if (spoil == Spoil::identical_snapshots) x[m * 16 + k] = x[m * 16];
    }
  return x;
}

struct Cell {
  AngleQuality quality;
  double azimuth_deg;
  std::vector<double> capon;
};

std::vector<Cell> run_cells(const std::vector<Spoil>& spoils) {
  CovarianceStage covariance(8, 16, {}, 1);
  AngleSpectrum stage(kEight, 1.0, azimuth_grid_deg(-60.0, 60.0, 0.5));
  std::vector<std::complex<float>> packed(packed_size(8));
  std::vector<double> bartlett(stage.azimuths_deg().size());
  std::vector<double> capon(bartlett.size());
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    covariance.process({snapshots_of_cell(static_cast<unsigned>(i), spoils[i]).data(), 8, 16}, packed, 0);
    const auto quality = stage.process(std::span<const std::complex<float>>(packed), bartlett, capon);
    cells.push_back({quality, peak_azimuth_deg(stage.azimuths_deg(), capon), capon});
    for (std::size_t a = 0; a < capon.size(); ++a) {
      EXPECT_TRUE(std::isfinite(capon[a])) << "cell " << i;
      EXPECT_TRUE(std::isfinite(bartlett[a])) << "cell " << i;
    }
  }
  return cells;
}

TEST(Bl08, SpoiledMatricesAreFlaggedAndTheOthersUnchanged) {
  std::vector<Spoil> spoils(103, Spoil::none);
  const auto clean = run_cells(spoils);
  spoils[20] = Spoil::all_zero;
  spoils[50] = Spoil::identical_snapshots;
  spoils[80] = Spoil::dead_channel;
  const auto spoiled = run_cells(spoils);
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    if (spoils[i] != Spoil::none) continue;
    EXPECT_EQ(spoiled[i].capon, clean[i].capon) << "cell " << i;
    EXPECT_EQ(spoiled[i].quality, AngleQuality::good);
    EXPECT_NEAR(spoiled[i].azimuth_deg, 10.0, 0.5);
  }
  EXPECT_EQ(spoiled[20].quality, AngleQuality::no_data);
  EXPECT_TRUE(std::isnan(spoiled[20].azimuth_deg));
  EXPECT_EQ(spoiled[50].quality, AngleQuality::doubtful);
  EXPECT_EQ(spoiled[80].quality, AngleQuality::doubtful);
  EXPECT_NEAR(spoiled[80].azimuth_deg, 10.0, 0.5);
  // One snapshot of 20 dB: the bound is 0.3 degrees, and this seed lies inside the report's half degree.
  EXPECT_NEAR(spoiled[50].azimuth_deg, 10.0, 0.5);
}

}  // namespace
}  // namespace cornerturn
