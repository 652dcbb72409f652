#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// Map (gate, Doppler bin) of independent cells, each the mean of `looks` exponential powers of mean 1: noise behind a
/// square-law detector.
class ExponentialMap {
 public:
  ExponentialMap(std::size_t gate_count, std::size_t bin_count, std::uint64_t seed)
      : gates_(gate_count), bins_(bin_count), cells_(gate_count * bin_count), engine_(seed) {}

  void draw(std::size_t looks = 1) {
    for (float& cell : cells_) {
      // The sum of exponentials is minus the logarithm of the product of uniforms in (0, 1].
      double product = 1.0;
      for (std::size_t look = 0; look < looks; ++look)
        product *= (static_cast<double>(engine_() >> 11) + 1.0) * 0x1p-53;
      cell = static_cast<float>(-std::log(product) / static_cast<double>(looks));
    }
  }

  float& at(std::size_t gate, std::size_t bin) { return cells_[gate * bins_ + bin]; }
  MatrixView<const float> view() const { return {cells_.data(), gates_, bins_}; }

 private:
  std::size_t gates_;
  std::size_t bins_;
  std::vector<float> cells_;
  std::mt19937_64 engine_;
};

}  // namespace cornerturn
