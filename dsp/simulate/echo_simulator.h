#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dsp/simulate/scene.h"

namespace cornerturn {

/// Makes the raw int16 samples that a receiver would deliver for a scene: layout make_contiguous_layout(shape, int16,
/// iq or real), so (pulse, channel, sample). Reproducible: sample values depend on scene, seed and CPI index alone.
///
/// FMCW: s = A exp(j 2 pi (2 R(t)/c (f0 + S t)) ...) with the true delay of each pulse, residual video phase left out as
/// behind a dechirp receiver; opening targets have growing phase when radar.doppler_sign is +1.
/// pulse: delayed replica (fractional delay), carrier phase -4 pi R / lambda.
/// Threads: one caller per object.
class EchoSimulator {
 public:
  /// Requires a validated scene (contract).
  explicit EchoSimulator(Scene scene);
  ~EchoSimulator();
  EchoSimulator(EchoSimulator&&) noexcept;
  EchoSimulator& operator=(EchoSimulator&&) noexcept;

  const Scene& scene() const;
  RawLayout layout() const;
  std::size_t cpi_bytes() const;
  /// Time between the starts of two CPIs.
  double cpi_period_s() const;
  /// Fills `samples` (cpi_bytes()/2 values) with CPI `cpi_index`.
  void fill(std::uint64_t cpi_index, std::span<std::int16_t> samples);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cornerturn
