#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "dsp/simulate/echo_simulator.h"

namespace cornerturn::test {

/// A target this strong over noise this weak leaves rounding as the only error: amplitude 4472.1 counts.
inline constexpr double kQuietNoiseCounts = 1e-3;
inline constexpr double kLoudSnrDb = 130.0;

inline Scene fmcw_scene() {
  Scene scene;
  scene.name = "test";
  scene.shape = {4, 16, 128};
  scene.receiver.noise_counts = kQuietNoiseCounts;
  Waveform& waveform = scene.radar.waveform;
  waveform.kind = WaveformKind::fmcw;
  waveform.carrier_hz = 77e9;
  waveform.sample_rate_hz = 10e6;
  waveform.slope_hz_per_s = 30e12;
  waveform.pri_s = 60e-6;
  scene.radar.array = ArrayGeometry::uniform_line(4, 0.5 * waveform.wavelength_m());
  return scene;
}

inline Scene pulse_scene() {
  Scene scene;
  scene.name = "test";
  scene.shape = {2, 8, 256};
  scene.receiver.noise_counts = kQuietNoiseCounts;
  scene.radar.doppler_sign = -1.0;
  Waveform& waveform = scene.radar.waveform;
  waveform.kind = WaveformKind::pulse;
  waveform.carrier_hz = 3e9;
  waveform.sample_rate_hz = 2.5e6;
  waveform.pri_s = 250e-6;
  waveform.bandwidth_hz = 2e6;
  waveform.pulse_width_s = 20e-6;
  waveform.receive_start_s = 20e-6;
  scene.radar.array = ArrayGeometry::uniform_line(2, 0.5 * waveform.wavelength_m());
  return scene;
}

/// One CPI as complex numbers (real samples: imaginary part 0), C order (pulse, channel, sample).
class SimulatedCpi {
 public:
  SimulatedCpi(const Scene& scene, std::uint64_t cpi_index) : shape_(scene.shape) {
    EchoSimulator simulator(scene);
    raw_.resize(simulator.cpi_bytes() / sizeof(std::int16_t));
    simulator.fill(cpi_index, raw_);
    complex_ = scene.complex_samples;
  }
  std::complex<double> operator()(std::size_t pulse, std::size_t channel, std::size_t sample) const {
    const std::size_t index = (pulse * shape_.channel_count + channel) * shape_.sample_count + sample;
    return complex_ ? std::complex<double>(raw_[2 * index], raw_[2 * index + 1]) : std::complex<double>(raw_[index]);
  }
  std::vector<std::complex<double>> line(std::size_t pulse, std::size_t channel) const {
    std::vector<std::complex<double>> values(shape_.sample_count);
    for (std::size_t sample = 0; sample < values.size(); ++sample) values[sample] = (*this)(pulse, channel, sample);
    return values;
  }
  std::vector<std::complex<double>> slow_line(std::size_t channel, std::size_t sample) const {
    std::vector<std::complex<double>> values(shape_.pulse_count);
    for (std::size_t pulse = 0; pulse < values.size(); ++pulse) values[pulse] = (*this)(pulse, channel, sample);
    return values;
  }
  double mean_power() const {
    double sum = 0.0;
    for (const std::int16_t value : raw_) sum += static_cast<double>(value) * value;
    return sum / static_cast<double>(shape_.samples());
  }
  std::span<const std::int16_t> raw() const { return raw_; }

 private:
  CpiShape shape_;
  bool complex_ = true;
  std::vector<std::int16_t> raw_;
};

/// Hann-windowed DFT at a frequency in cycles per sample, a tone of amplitude A reads |A|.
inline std::complex<double> spectrum_at(std::span<const std::complex<double>> line, double cycles) {
  std::complex<double> sum;
  double weight_sum = 0.0;
  for (std::size_t n = 0; n < line.size(); ++n) {
    const double position = static_cast<double>(n) / static_cast<double>(line.size());
    const double weight = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * position);
    sum += weight * line[n] * std::polar(1.0, -2.0 * std::numbers::pi * cycles * static_cast<double>(n));
    weight_sum += weight;
  }
  return sum / weight_sum;
}

/// Frequency of the strongest tone in [from, to), cycles per sample: a scan in quarter bins, then golden section.
inline double peak_cycles(std::span<const std::complex<double>> line, double from = 0.0, double to = 1.0) {
  const double step = 0.25 / static_cast<double>(line.size());
  double best = from;
  for (double cycles = from; cycles < to; cycles += step)
    if (std::norm(spectrum_at(line, cycles)) > std::norm(spectrum_at(line, best))) best = cycles;
  double low = best - step;
  double high = best + step;
  while (high - low > 1e-9) {
    const double left = low + 0.382 * (high - low);
    const double right = low + 0.618 * (high - low);
    if (std::norm(spectrum_at(line, left)) > std::norm(spectrum_at(line, right)))
      high = right;
    else
      low = left;
  }
  return 0.5 * (low + high);
}

}  // namespace cornerturn::test
