#include "dsp/simulate/phase_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

std::complex<double> turn(double cycles) {
  return std::polar(1.0, 2.0 * std::numbers::pi * (cycles - std::round(cycles)));
}

}  // namespace

void fill_phase_line(const QuadraticPhase& phase, std::span<float> real, std::span<float> imag) {
  CORNERTURN_REQUIRE(real.size() == imag.size());
  // Sample n + kLanes follows from sample n by a rotation, which turns itself by a constant one: kLanes independent
  // recurrences, so that the loop vectorises.
  constexpr std::size_t kLanes = 8;
  constexpr auto kStep = static_cast<double>(kLanes);
  std::array<double, kLanes> z_real;
  std::array<double, kLanes> z_imag;
  std::array<double, kLanes> w_real;
  std::array<double, kLanes> w_imag;
  std::complex<double> z = turn(phase.start_cycles);
  std::complex<double> next = turn(phase.slope_cycles + phase.curvature_cycles);  // from lane 0 to lane 1
  const std::complex<double> next_turn = turn(2.0 * phase.curvature_cycles);
  std::complex<double> step = turn(kStep * phase.slope_cycles + kStep * kStep * phase.curvature_cycles);
  const std::complex<double> lane_turn = turn(2.0 * kStep * phase.curvature_cycles);
  const std::complex<double> step_turn = turn(2.0 * kStep * kStep * phase.curvature_cycles);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    z_real[lane] = z.real();
    z_imag[lane] = z.imag();
    w_real[lane] = step.real();
    w_imag[lane] = step.imag();
    z *= next;
    next *= next_turn;
    step *= lane_turn;
  }
  const double q_real = step_turn.real();
  const double q_imag = step_turn.imag();
  for (std::size_t sample = 0; sample < real.size(); sample += kLanes) {
    const std::size_t count = std::min(kLanes, real.size() - sample);
    float* out_real = real.data() + sample;
    float* out_imag = imag.data() + sample;
    for (std::size_t lane = 0; lane < count; ++lane) {
      out_real[lane] = static_cast<float>(z_real[lane]);
      out_imag[lane] = static_cast<float>(z_imag[lane]);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double zr = z_real[lane] * w_real[lane] - z_imag[lane] * w_imag[lane];
      const double zi = z_real[lane] * w_imag[lane] + z_imag[lane] * w_real[lane];
      const double wr = w_real[lane] * q_real - w_imag[lane] * q_imag;
      const double wi = w_real[lane] * q_imag + w_imag[lane] * q_real;
      z_real[lane] = zr;
      z_imag[lane] = zi;
      w_real[lane] = wr;
      w_imag[lane] = wi;
    }
  }
}

}  // namespace cornerturn
