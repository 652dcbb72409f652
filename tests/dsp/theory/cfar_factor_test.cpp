#include "dsp/theory/cfar_factor.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

// The published digits are 8 to 9 figures after rounding to 5 decimals: half a unit of the last one.
constexpr double kLastDigit = 0.5e-5 * 1.001;

TEST(CfarFactor, MeetsOneLookTable) {
  struct Row {
    std::size_t cells;
    double pfa_1e_3, pfa_1e_4, pfa_1e_6;
  };
  for (const Row& row : {Row{8, 10.97099, 17.29822, 36.98731}, Row{16, 8.63882, 12.45247, 21.94198},
                         Row{24, 8.00451, 11.22718, 18.67871}, Row{32, 7.71001, 10.67269, 17.27765},
                         Row{64, 7.29433, 9.90605, 15.42002}}) {
    EXPECT_NEAR(ca_cfar_factor(1e-3, row.cells), row.pfa_1e_3, kLastDigit) << row.cells;
    EXPECT_NEAR(ca_cfar_factor(1e-4, row.cells), row.pfa_1e_4, kLastDigit) << row.cells;
    EXPECT_NEAR(ca_cfar_factor(1e-6, row.cells), row.pfa_1e_6, kLastDigit) << row.cells;
  }
}

TEST(CfarFactor, MeetsTableAfterIntegration) {
  struct Row {
    std::size_t looks;
    double pfa_1e_3, pfa_1e_4, pfa_1e_6;
  };
  for (const Row& row : {Row{2, 5.26007, 6.97792, 10.74846}, Row{4, 3.53323, 4.40328, 6.17134},
                         Row{8, 2.57672, 3.05448, 3.97532}, Row{16, 2.01513, 2.29382, 2.81031}}) {
    EXPECT_NEAR(ca_cfar_factor(1e-3, 16, row.looks), row.pfa_1e_3, kLastDigit) << row.looks;
    EXPECT_NEAR(ca_cfar_factor(1e-4, 16, row.looks), row.pfa_1e_4, kLastDigit) << row.looks;
    EXPECT_NEAR(ca_cfar_factor(1e-6, 16, row.looks), row.pfa_1e_6, kLastDigit) << row.looks;
  }
}

TEST(CfarFactor, IsTheInverseOfTheFalseAlarmProbability) {
  // The logarithm is good to about 1e-15 of the sum of its parts (some hundred here), the factor to a few ulp.
  for (const double pfa : {0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15})
    for (const std::size_t cells :
         {std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{240}, std::size_t{5000}})
      for (const std::size_t looks : {std::size_t{1}, std::size_t{2}, std::size_t{16}, std::size_t{256}})
        EXPECT_NEAR(log_ca_cfar_false_alarm(ca_cfar_factor(pfa, cells, looks), cells, looks), std::log(pfa), 1e-9)
            << pfa << " " << cells << " " << looks;
}

TEST(CfarFactor, ManyLooksDoNotOverflow) {
  const double factor = ca_cfar_factor(1e-6, 1000, 4096);
  // Both sides are nearly normal: 1 + z sqrt((1 + 1/N) / L) with z = 4.7534 to first order.
  EXPECT_NEAR(factor, 1.0 + 4.7534 * std::sqrt(1.001 / 4096.0), 0.003);
}

TEST(CfarFactor, TendsToTheKnownNoiseThreshold) {
  EXPECT_NEAR(known_noise_threshold(1e-6), 13.81551, kLastDigit);
  EXPECT_NEAR(ca_cfar_factor(1e-6, 10'000'000), 13.81551, 2e-5);
}

TEST(CfarFactor, OneLookFactorAfterIntegrationMakesFalseAlarmsVanish) {
  EXPECT_LT(ca_cfar_false_alarm(ca_cfar_factor(1e-3, 16), 16, 4), 1e-7);
}

TEST(CfarFactor, EdgeMistakesShowTheirTelltaleRates) {
  // 24 cells planned, 12 left: the full-window factor on the mean of what is left.
  EXPECT_NEAR(ca_cfar_false_alarm(ca_cfar_factor(1e-3, 24), 12), 2.2e-3, 0.1e-3);
  // The same with outside cells counted as zeros: the mean is halved.
  EXPECT_NEAR(ca_cfar_false_alarm(ca_cfar_factor(1e-3, 24) / 2.0, 12), 3.2e-2, 0.1e-2);
}

TEST(CfarFactor, SwerlingOneLossMeetsTable) {
  const std::array<std::pair<std::size_t, double>, 5> table{
      {{8, 4.27}, {16, 2.01}, {24, 1.31}, {32, 0.97}, {64, 0.48}}};
  for (const auto& [cells, loss_db] : table) EXPECT_NEAR(ca_cfar_loss_db(1e-6, 0.9, cells), loss_db, 0.0051) << cells;
  EXPECT_NEAR(ca_cfar_loss_db(1e-4, 0.9, 16), 1.31, 0.0051);
  EXPECT_NEAR(ca_cfar_loss_db(1e-4, 0.9, 32), 0.64, 0.0051);
}

TEST(CfarFactor, SwerlingDetectionMeetsClosedForms) {
  EXPECT_NEAR(swerling1_detection(1e-6, std::pow(10.0, 1.3)), 0.517178, 0.5e-6);
  EXPECT_NEAR(swerling1_detection(1e-6, std::pow(10.0, 2.1144)), 0.9, 1e-4);
  // One look: (1 + T / (1 + S))^-N with T = factor / N.
  const double snr = 20.0;
  const double t = ca_cfar_factor(1e-4, 16) / 16.0;
  EXPECT_NEAR(swerling_ca_cfar_detection(1e-4, 16, snr), std::pow(1.0 + t / (1.0 + snr), -16.0), 1e-12);
  EXPECT_NEAR(swerling_ca_cfar_detection(1e-4, 16, 0.0, 4), 1e-4, 1e-13);
}

}  // namespace
}  // namespace cornerturn
