#pragma once

#include <complex>
#include <span>

#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// Non-coherent integration of one gate: power[b] = (1/M) sum_channel |X[channel][b]|^2; as many looks as channels.
/// Shape: in (channel, bin), out (bin). Units: counts squared. Threads: any number, on different gates.
/// Source: Richards, Fundamentals of Radar Signal Processing (2014), section 6.3.
void integrate_power(MatrixView<const std::complex<float>> spectra, std::span<float> power);

}  // namespace cornerturn
