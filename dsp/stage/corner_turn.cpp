#include "dsp/stage/corner_turn.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dsp/vocabulary/contract.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cornerturn {
namespace {

// A cube beyond this is out of every cache before it is read again. Its cache lines are then written past the cache,
// which spares reading each of them first: a third of the corner turn's memory traffic.
constexpr std::size_t kCacheBytes = std::size_t{32} << 20;

// All pulses of a gate are written before the next gate, so that cache lines of the cube are filled in one go.
// PulseCount: std::integral_constant for whole blocks, whose inner loop then unrolls; std::size_t for the rest.
template <typename PulseCount>
void turn(MatrixView<const std::complex<float>> lines, PulseCount pulse_count, std::complex<float>* out,
          std::size_t gate_stride) {
  for (std::size_t gate = 0; gate < lines.element_count(); ++gate, out += gate_stride)
    for (std::size_t pulse = 0; pulse < pulse_count; ++pulse)
      std::memcpy(&out[pulse], &lines(pulse, gate), sizeof *out);  // one move; g++ copies a complex part by part
}

#if defined(__SSE2__)
void turn_past_cache(MatrixView<const std::complex<float>> lines, std::complex<float>* out, std::size_t gate_stride) {
  const auto as_double = [&](std::size_t pulse, std::size_t gate) {  // a complex float as one word of 8 bytes
    return reinterpret_cast<const double*>(&lines(pulse, gate));
  };
  for (std::size_t gate = 0; gate < lines.element_count(); ++gate, out += gate_stride)
    for (std::size_t pulse = 0; pulse < kCornerTurnPulses; pulse += 2)
      _mm_stream_pd(reinterpret_cast<double*>(out + pulse),
                    _mm_loadh_pd(_mm_load_sd(as_double(pulse, gate)), as_double(pulse + 1, gate)));
  _mm_sfence();  // such stores are visible to other threads only behind a fence
}
#else
void turn_past_cache(MatrixView<const std::complex<float>> lines, std::complex<float>* out, std::size_t gate_stride) {
  turn(lines, std::integral_constant<std::size_t, kCornerTurnPulses>{}, out, gate_stride);
}
#endif

// Whole cache lines, from the first gate on.
bool fills_cache_lines(const std::complex<float>* out, std::size_t gate_stride) {
  constexpr std::size_t kLine = 64;
  return reinterpret_cast<std::uintptr_t>(out) % kLine == 0 && gate_stride * sizeof *out % kLine == 0;
}

}  // namespace

void corner_turn(MatrixView<const std::complex<float>> lines, std::size_t channel, std::size_t first_pulse,
                 CubeView<std::complex<float>> cube) {
  CORNERTURN_REQUIRE(lines.element_count() == cube.outer_count());
  CORNERTURN_REQUIRE(first_pulse + lines.line_count() <= cube.inner_count());
  std::complex<float>* out = &cube(0, channel, first_pulse);
  const std::size_t gate_stride = cube.middle_count() * cube.inner_count();
  const bool is_whole = lines.line_count() == kCornerTurnPulses;
  if (is_whole && cube.size() * sizeof *out > kCacheBytes && fills_cache_lines(out, gate_stride))
    turn_past_cache(lines, out, gate_stride);
  else if (is_whole)
    turn(lines, std::integral_constant<std::size_t, kCornerTurnPulses>{}, out, gate_stride);
  else
    turn(lines, lines.line_count(), out, gate_stride);
}

}  // namespace cornerturn
