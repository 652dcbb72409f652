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
/// Time 0 is the reference time of pulse 0 of CPI 0; a target's range is R(t) = range_m + range_rate_mps t, and its
/// delay tau = (R - range_offset_m) / (c propagation_factor). With d = radar.doppler_sign: FMCW: A exp(j 2 pi tau (d fc
/// + |S| u)), u counted from the middle of the sampled part, which is a pulse's reference
///   time (fc is the carrier there); behind a mixer d is the sign of S. The residual video phase is left out.
///   The beat is |S| tau plus the raw Doppler frequency d 2 v / lambda (range-Doppler coupling).
/// pulse: A p(t - tau) exp(j d 2 pi fc tau), p the replica or the LFM exp(j pi B/T (t - T/2)^2), 0 <= t < T; a pulse's
///   reference time is the middle of its echo. Range moves inside a pulse and from pulse to pulse (no stop and go).
/// Each channel adds the phase of ArrayGeometry's steering vector and is divided by its channel calibration.
/// Echoes outside of range_view() are not delivered, as behind an anti-alias filter.
/// Real samples are the real part. Noise is added behind the I/Q imbalance, so I and Q have noise_counts each.
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
