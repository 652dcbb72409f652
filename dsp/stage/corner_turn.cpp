#include "dsp/stage/corner_turn.h"

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

void corner_turn(MatrixView<const std::complex<float>> lines, std::size_t channel, std::size_t first_pulse,
                 CubeView<std::complex<float>> cube) {
  CORNERTURN_REQUIRE(lines.element_count() == cube.outer_count());
  CORNERTURN_REQUIRE(first_pulse + lines.line_count() <= cube.inner_count());
  // All pulses of a gate are written before the next gate, so that a cache line of the cube is filled in one go.
  const std::size_t pulses = lines.line_count();
  for (std::size_t gate = 0; gate < cube.outer_count(); ++gate) {
    std::complex<float>* out = &cube(gate, channel, first_pulse);
    for (std::size_t pulse = 0; pulse < pulses; ++pulse) out[pulse] = lines(pulse, gate);
  }
}

}  // namespace cornerturn
