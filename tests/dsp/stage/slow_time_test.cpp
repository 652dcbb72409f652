#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/stage/canceller.h"
#include "dsp/stage/corner_turn.h"
#include "dsp/stage/doppler.h"
#include "dsp/stage/integrate.h"
#include "dsp/vocabulary/aligned_buffer.h"

namespace cornerturn {
namespace {

using Complex = std::complex<float>;

std::vector<Complex> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0F, std::sqrt(0.5F));
  std::vector<Complex> values(count);
  for (Complex& value : values) value = {normal(random), normal(random)};
  return values;
}

std::vector<Complex> cancel(Canceller canceller, std::span<const Complex> in) {
  const PulseCanceller stage(canceller, in.size());
  std::vector<Complex> out(stage.output_count());
  stage.process(in, out);
  return out;
}

TEST(CornerTurn, TransposesBlocksOfAnySize) {
  constexpr std::size_t kGates = 5, kChannels = 3, kPulses = 37;
  std::vector<Complex> cube(kGates * kChannels * kPulses);
  const CubeView<Complex> turned(cube.data(), kGates, kChannels, kPulses);
  const auto value = [](std::size_t c, std::size_t p, std::size_t g) {
    return Complex(static_cast<float>(100 * c + p), static_cast<float>(g));
  };
  for (std::size_t channel = 0; channel < kChannels; ++channel)
    for (std::size_t first = 0; first < kPulses; first += kCornerTurnPulses) {
      const std::size_t count = std::min(kCornerTurnPulses, kPulses - first);
      std::vector<Complex> lines(count * (kGates + 2));  // a stride longer than the line
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t g = 0; g < kGates; ++g) lines[p * (kGates + 2) + g] = value(channel, first + p, g);
      corner_turn({lines.data(), count, kGates, kGates + 2}, channel, first, turned);
    }
  for (std::size_t g = 0; g < kGates; ++g)
    for (std::size_t c = 0; c < kChannels; ++c)
      for (std::size_t p = 0; p < kPulses; ++p) ASSERT_EQ(turned(g, c, p), value(c, p, g));
}

// Beyond 32 MiB whole cache lines are written past the cache: the same cube must come out.
TEST(CornerTurn, TurnsCubesThatNoCacheHolds) {
  constexpr std::size_t kGates = 2100, kChannels = 8, kPulses = 264;  // 35 MB; the last block of pulses is a half one
  AlignedBuffer<Complex> cube(kGates * kChannels * kPulses);
  const CubeView<Complex> turned(cube.data(), kGates, kChannels, kPulses);
  AlignedBuffer<Complex> lines(kCornerTurnPulses * kGates);
  const auto value = [](std::size_t c, std::size_t p, std::size_t g) {
    return Complex(static_cast<float>(1000 * c + p), static_cast<float>(g));
  };
  for (std::size_t channel = 0; channel < kChannels; ++channel)
    for (std::size_t first = 0; first < kPulses; first += kCornerTurnPulses) {
      const std::size_t count = std::min(kCornerTurnPulses, kPulses - first);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t g = 0; g < kGates; ++g) lines[p * kGates + g] = value(channel, first + p, g);
      corner_turn({lines.data(), count, kGates}, channel, first, turned);
    }
  std::size_t wrong = 0;
  for (std::size_t g = 0; g < kGates; ++g)
    for (std::size_t c = 0; c < kChannels; ++c)
      for (std::size_t p = 0; p < kPulses; ++p) wrong += turned(g, c, p) != value(c, p, g) ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
}

TEST(PulseCanceller, TakesOutWhatStandsStill) {
  const std::vector<Complex> still(16, Complex(1000.0F, -500.0F));
  for (const Canceller canceller : {Canceller::mean, Canceller::two_pulse, Canceller::three_pulse})
    for (const Complex value : cancel(canceller, still)) EXPECT_EQ(value, Complex(0.0F));
  EXPECT_EQ(cancel(Canceller::none, still), still);
}

TEST(PulseCanceller, GivesTheWeightsOfItsDefinition) {
  std::vector<Complex> impulse(6);
  impulse[2] = 1.0F;
  EXPECT_EQ(cancel(Canceller::two_pulse, impulse), (std::vector<Complex>{0, 1, -1, 0, 0}));
  EXPECT_EQ(cancel(Canceller::three_pulse, impulse), (std::vector<Complex>{1, -2, 1, 0}));
  EXPECT_NEAR(cancel(Canceller::mean, impulse)[2].real(), 5.0F / 6.0F, 1e-7F);
}

TEST(PulseCanceller, CountsWhatIsLeft) {
  EXPECT_EQ(PulseCanceller::output_count(Canceller::none, 1), 1U);
  EXPECT_EQ(PulseCanceller::output_count(Canceller::mean, 1), 0U);
  EXPECT_EQ(PulseCanceller::output_count(Canceller::two_pulse, 128), 127U);
  EXPECT_EQ(PulseCanceller::output_count(Canceller::three_pulse, 128), 126U);
  EXPECT_EQ(PulseCanceller::output_count(Canceller::three_pulse, 2), 0U);
}

TEST(PulseCanceller, NoisePowerGainIsTheSumOfSquaredTaps) {
  const auto gain = [](Canceller canceller) {
    const auto out = cancel(canceller, noise(100'000, 1));
    double power = 0.0;
    for (const Complex value : out) power += std::norm(value);
    return power / static_cast<double>(out.size());
  };
  // Unit noise, 1e5 pulses, neighbours correlated: standard deviation below 1.5 / sqrt(1e5) of the mean; 4 sigma.
  EXPECT_NEAR(gain(Canceller::two_pulse), 2.0, 2.0 * 0.02);
  EXPECT_NEAR(gain(Canceller::three_pulse), 6.0, 6.0 * 0.02);
}

TEST(PulseCanceller, WorksInPlace) {
  const std::vector<Complex> in = noise(20, 4);
  for (const Canceller canceller : {Canceller::mean, Canceller::two_pulse, Canceller::three_pulse}) {
    std::vector<Complex> line = in;
    const PulseCanceller stage(canceller, line.size());
    stage.process(line, std::span(line).first(stage.output_count()));
    line.resize(stage.output_count());
    EXPECT_EQ(line, cancel(canceller, in));
  }
}

TEST(DopplerTransform, ZeroDopplerLiesAtHalfTheLengthEvenOrOdd) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{8}, std::size_t{9}, std::size_t{15}})
    for (const int bin_offset : {0, 1, -2}) {
      if (length == 1 && bin_offset != 0) continue;
      constexpr std::size_t kChannels = 2;
      AlignedBuffer<Complex> lines(kChannels * length);
      AlignedBuffer<Complex> out(kChannels * length);
      const double cycles = static_cast<double>(bin_offset) / static_cast<double>(length);
      for (std::size_t c = 0; c < kChannels; ++c)
        for (std::size_t p = 0; p < length; ++p)
          lines[c * length + p] =
              std::polar(1.0F, static_cast<float>(2.0 * std::numbers::pi * cycles * static_cast<double>(p)));
      const std::vector<float> window(length, 1.0F / static_cast<float>(length));
      DopplerTransform(window, length, kChannels)
          .process({lines.data(), kChannels, length}, {out.data(), kChannels, length});
      const auto peak = static_cast<std::size_t>(static_cast<int>(length / 2) + bin_offset);
      for (std::size_t c = 0; c < kChannels; ++c)
        for (std::size_t bin = 0; bin < length; ++bin)
          EXPECT_NEAR(std::abs(out[c * length + bin]), bin == peak ? 1.0F : 0.0F, 1e-6F) << length << " " << bin;
    }
}

TEST(DopplerTransform, PadsFewerPulsesWithZeros) {
  constexpr std::size_t kLength = 8;
  AlignedBuffer<Complex> lines(kLength);
  AlignedBuffer<Complex> out(kLength);
  for (Complex& value : lines.span()) value = 1.0F;  // beyond the pulses: garbage that must not count
  const std::vector<float> window(6, 1.0F);
  DopplerTransform(window, kLength, 1).process({lines.data(), 1, kLength}, {out.data(), 1, kLength});
  EXPECT_NEAR(std::abs(out[4] - Complex(6.0F)), 0.0F, 1e-6F);
}

// Parseval: with w = 1 the spectra hold L times the power of the pulses.
TEST(DopplerTransform, KeepsThePower) {
  constexpr std::size_t kLength = 64;
  AlignedBuffer<Complex> lines(kLength);
  AlignedBuffer<Complex> out(kLength);
  const auto pulses = noise(kLength, 8);
  std::copy(pulses.begin(), pulses.end(), lines.data());
  DopplerTransform(std::vector<float>(kLength, 1.0F), kLength, 1)
      .process({lines.data(), 1, kLength}, {out.data(), 1, kLength});
  double in_power = 0.0;
  double out_power = 0.0;
  for (std::size_t i = 0; i < kLength; ++i) in_power += std::norm(pulses[i]), out_power += std::norm(out[i]);
  EXPECT_NEAR(out_power / (kLength * in_power), 1.0, 1e-6);
}

TEST(IntegratePower, AveragesOverChannels) {
  const std::vector<Complex> spectra = {{3, 4}, {1, 0}, {0, 0}, {0, 2}};  // two channels, two bins
  std::vector<float> power(2, 99.0F);
  integrate_power({spectra.data(), 2, 2}, power);
  EXPECT_EQ(power, (std::vector<float>{12.5F, 2.5F}));
}

}  // namespace
}  // namespace cornerturn
