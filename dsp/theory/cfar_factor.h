#pragma once

#include <cstddef>

namespace cornerturn {

/// False-alarm probability of a cell-averaging CFAR: Pfa = P(x > factor * z), x the mean of `looks` unit exponential
/// powers, z the mean of `cells` such means. Exact for independent cells:
///   y = cells / (cells + factor), a = looks * cells,
///   Pfa = I_y(a, looks) = y^a sum_{j < looks} (a)_j / j! (1 - y)^j
/// which for one look is (1 + factor / cells)^-cells. Requires cells >= 1, looks >= 1.
/// Source: the ratio is F distributed with (2 looks, 2 looks cells) degrees of freedom; Abramowitz & Stegun, Handbook
/// of Mathematical Functions (1964), 26.5 and 26.6; one look: Finn & Johnson, RCA Review 29 (1968).
double ca_cfar_false_alarm(double factor, std::size_t cells, std::size_t looks = 1);

/// Natural logarithm of ca_cfar_false_alarm, accurate where the probability itself underflows.
double log_ca_cfar_false_alarm(double factor, std::size_t cells, std::size_t looks = 1);

/// Factor on the mean of `cells` training cells that gives the false-alarm probability `pfa`; the inverse of
/// ca_cfar_false_alarm, so the upper pfa quantile of the F distribution. One look: cells (pfa^(-1/cells) - 1).
/// Requires 0 < pfa < 1, cells >= 1, looks >= 1. Relative error below 1e-12 for pfa >= 1e-15.
double ca_cfar_factor(double pfa, std::size_t cells, std::size_t looks = 1);

/// Threshold over the known noise power for one look: -ln(pfa).
double known_noise_threshold(double pfa);

/// Detection probability behind a cell-averaging CFAR of a target whose power fluctuates exponentially and
/// independently from look to look (Swerling 2; one look: Swerling 1 as well): Pfa(factor / (1 + snr)).
/// `snr` is the mean power ratio per look.
/// Source: Swerling, "Probability of Detection for Fluctuating Targets", IRE Trans. IT-6 (1960); Richards, Fundamentals
/// of Radar Signal Processing, chapter on CFAR detection.
double swerling_ca_cfar_detection(double pfa, std::size_t cells, double snr, std::size_t looks = 1);

/// The same for one look with the noise power known: pfa^(1 / (1 + snr)).
double swerling1_detection(double pfa, double snr);

/// Loss of a one-look cell-averaging CFAR in dB: mean SNR that a Swerling 1 target needs for `pd`, over the SNR needed
/// with the noise power known.
double ca_cfar_loss_db(double pfa, double pd, std::size_t cells);

}  // namespace cornerturn
