#include "dsp/theory/cfar_factor.h"

#include <algorithm>
#include <cmath>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {

double log_ca_cfar_false_alarm(double factor, std::size_t cells, std::size_t looks) {
  CORNERTURN_REQUIRE(factor >= 0.0 && cells >= 1 && looks >= 1);
  const double ratio = factor / static_cast<double>(cells);
  const double shape = static_cast<double>(cells) * static_cast<double>(looks);
  const double one_minus_y = ratio / (1.0 + ratio);
  // All terms are positive: no cancellation. They are rescaled because the sum alone may pass the largest double.
  double term = 1.0;
  double sum = 1.0;
  double log_scale = 0.0;
  for (std::size_t j = 1; j < looks; ++j) {
    const auto order = static_cast<double>(j);
    term *= (shape + order - 1.0) / order * one_minus_y;
    sum += term;
    if (sum > 1e200) {
      sum *= 1e-200;
      term *= 1e-200;
      log_scale += 200.0 * std::log(10.0);
    }
  }
  return std::min(0.0, -shape * std::log1p(ratio) + std::log(sum) + log_scale);
}

double ca_cfar_false_alarm(double factor, std::size_t cells, std::size_t looks) {
  return std::exp(log_ca_cfar_false_alarm(factor, cells, looks));
}

double ca_cfar_factor(double pfa, std::size_t cells, std::size_t looks) {
  CORNERTURN_REQUIRE(pfa > 0.0 && pfa < 1.0 && cells >= 1 && looks >= 1);
  const double log_pfa = std::log(pfa);
  const auto count = static_cast<double>(cells);
  const double one_look = count * std::expm1(-log_pfa / count);
  if (looks == 1) return one_look;

  // ln Pfa falls strictly with the factor: bracket the root, then Newton steps, halving where one leaves the bracket.
  double low = 0.0;
  double high = std::max(1.0, one_look);
  while (log_ca_cfar_false_alarm(high, cells, looks) > log_pfa) {
    low = high;
    high *= 2.0;
  }
  double factor = 0.5 * (low + high);
  for (int step = 0; step < 200; ++step) {
    const double error = log_ca_cfar_false_alarm(factor, cells, looks) - log_pfa;
    (error > 0.0 ? low : high) = factor;
    const double increment = 1e-6 * factor;
    const double slope = (log_ca_cfar_false_alarm(factor + increment, cells, looks) - log_pfa - error) / increment;
    double next = factor - error / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool settled = std::abs(next - factor) <= 1e-13 * factor || high - low <= 1e-13 * high;
    factor = next;
    if (settled) break;
  }
  return factor;
}

double known_noise_threshold(double pfa) {
  CORNERTURN_REQUIRE(pfa > 0.0 && pfa < 1.0);
  return -std::log(pfa);
}

double swerling_ca_cfar_detection(double pfa, std::size_t cells, double snr, std::size_t looks) {
  CORNERTURN_REQUIRE(snr >= 0.0);
  return ca_cfar_false_alarm(ca_cfar_factor(pfa, cells, looks) / (1.0 + snr), cells, looks);
}

double swerling1_detection(double pfa, double snr) {
  CORNERTURN_REQUIRE(snr >= 0.0);
  return std::exp(-known_noise_threshold(pfa) / (1.0 + snr));
}

double ca_cfar_loss_db(double pfa, double pd, std::size_t cells) {
  CORNERTURN_REQUIRE(pd > pfa && pd < 1.0);
  // Both detection formulas solved for the SNR.
  const double snr_known = std::log(pfa) / std::log(pd) - 1.0;
  const double snr_ca = ca_cfar_factor(pfa, cells) / ca_cfar_factor(pd, cells) - 1.0;
  return power_to_db(snr_ca / snr_known);
}

}  // namespace cornerturn
