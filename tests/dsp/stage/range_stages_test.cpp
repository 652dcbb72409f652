#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/stage/fmcw_range.h"
#include "dsp/stage/matched_filter.h"
#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {
namespace {

using Complex = std::complex<float>;

std::vector<Complex> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Complex> values(count);
  for (Complex& value : values) value = {normal(random), normal(random)};
  return values;
}

TEST(FmcwRange, ToneOfAnyBinStandsInItsGate) {
  const std::vector<float> window(100, 0.01F);
  const FmcwRange range(window, 200, true);
  EXPECT_EQ(range.gate_count(), 200U);
  AlignedBuffer<Complex> line(200);
  AlignedBuffer<Complex> out(200);
  for (Complex& value : line.span()) value = 1e6F;  // beyond the samples: must not count
  for (std::size_t n = 0; n < 100; ++n)
    line[n] = Complex(std::polar(5.0, 2.0 * std::numbers::pi * 70.0 * static_cast<double>(n) / 200.0));
  range.process(line.span(), out.span());
  EXPECT_NEAR(std::abs(out[70] - Complex(5.0F)), 0.0F, 1e-5F);
}

TEST(FmcwRange, RealAndComplexSamplingAgreeOnTheHalfTheyShare) {
  constexpr std::size_t kSamples = 90;
  const std::vector<float> window(kSamples, 1.0F / kSamples);
  const FmcwRange real(window, kSamples, false);
  const FmcwRange complex(window, kSamples, true);
  AlignedBuffer<float> real_line(kSamples);
  AlignedBuffer<Complex> complex_line(kSamples);
  const auto values = noise(kSamples, 2);
  for (std::size_t n = 0; n < kSamples; ++n) complex_line[n] = real_line[n] = values[n].real();
  AlignedBuffer<Complex> half(real.gate_count());
  AlignedBuffer<Complex> whole(complex.gate_count());
  const Complex factor(0.6F, -0.8F);
  real.process_real(real_line.span(), factor, half.span());
  complex.process(complex_line.span(), whole.span());
  EXPECT_EQ(real.gate_count(), kSamples / 2 + 1);
  for (std::size_t gate = 0; gate < half.size(); ++gate)
    EXPECT_NEAR(std::abs(half[gate] - whole[gate] * factor), 0.0F, 1e-6F);
}

TEST(MatchedFilter, EqualsTheSumOfItsDefinitionOnEveryValidGate) {
  for (const auto& [samples, replica_count] : {std::pair<std::size_t, std::size_t>{200, 37}, {64, 64}, {50, 1}}) {
    const auto replica = noise(replica_count, 1);
    const auto echo = noise(samples, 2);
    const MatchedFilter filter(replica, samples);
    EXPECT_GE(filter.fft_length(), samples);
    ASSERT_EQ(filter.gate_count(), samples - replica_count + 1);
    AlignedBuffer<Complex> line(filter.fft_length());
    AlignedBuffer<Complex> out(filter.fft_length());
    for (Complex& value : line.span()) value = 1e6F;
    std::copy(echo.begin(), echo.end(), line.data());
    filter.process(line.span(), out.span());
    double error = 0.0;
    double norm = 0.0;
    for (std::size_t gate = 0; gate < filter.gate_count(); ++gate) {
      std::complex<double> sum = 0.0;
      for (std::size_t i = 0; i < replica_count; ++i)
        sum += std::complex<double>(echo[gate + i]) * std::conj(std::complex<double>(replica[i]));
      error += std::norm(sum - std::complex<double>(out[gate]));
      norm += std::norm(sum);
    }
    EXPECT_LT(std::sqrt(error / norm), 2e-6) << samples << " " << replica_count;
  }
}

TEST(LfmReplica, SweepsTheBandwidthSymmetrically) {
  const auto replica = make_lfm_replica(2e6, 20e-6, 10e6);
  ASSERT_EQ(replica.size(), 200U);
  const auto frequency_hz = [&](std::size_t i) {
    return std::arg(std::complex<double>(replica[i + 1]) * std::conj(std::complex<double>(replica[i]))) * 10e6 /
           (2.0 * std::numbers::pi);
  };
  // Between samples i and i + 1 the chirp is at B/T ((i + 1/2)/fs - T/2).
  EXPECT_NEAR(frequency_hz(0), -1e6 + 0.5 * 1e4, 5.0);
  EXPECT_NEAR(frequency_hz(99), -0.5 * 1e4, 5.0);
  EXPECT_NEAR(frequency_hz(198), 1e6 - 1.5 * 1e4, 5.0);
  const auto down = make_lfm_replica(-2e6, 20e-6, 10e6);
  for (std::size_t i = 0; i < down.size(); ++i) EXPECT_NEAR(std::abs(down[i] - std::conj(replica[i])), 0.0F, 1e-6F);
}

// Compression gain: noise power after a replica of unit energy stays, the echo grows by TB in power.
TEST(MatchedFilter, CompressionGainIsTheTimeBandwidthProduct) {
  auto replica = make_lfm_replica(1e6, 100e-6, 1e6);  // TB = 100 at one sample per 1/B: 20 dB
  ASSERT_EQ(replica.size(), 100U);
  const MatchedFilter filter(replica, replica.size());
  AlignedBuffer<Complex> line(filter.fft_length());
  AlignedBuffer<Complex> out(filter.fft_length());
  std::copy(replica.begin(), replica.end(), line.data());
  filter.process(line.span(), out.span());
  const double noise_gain = 100.0;  // sum |r|^2
  EXPECT_NEAR(10.0 * std::log10(std::norm(out[0]) / noise_gain), 20.0, 1e-4);
}

}  // namespace
}  // namespace cornerturn
