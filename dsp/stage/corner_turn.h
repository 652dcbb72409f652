#pragma once

#include <complex>
#include <cstddef>

#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// Pulses that are turned together: two cache lines of the turned cube, and still few enough for their profiles to
/// stay in cache.
inline constexpr std::size_t kCornerTurnPulses = 16;

/// Turns a few pulses of one channel from fast time to slow time:
/// cube(gate, channel, first_pulse + p) = lines(p, gate). Called once per channel and block of pulses while the block
/// is in cache, it is the transposition (channel, pulse, gate) -> (gate, channel, pulse). Shape: lines (pulse, gate),
/// cube (gate, channel, pulse or longer). Threads: any number, on different blocks.
void corner_turn(MatrixView<const std::complex<float>> lines, std::size_t channel, std::size_t first_pulse,
                 CubeView<std::complex<float>> cube);

}  // namespace cornerturn
