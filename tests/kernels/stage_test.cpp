// Single kernels against sums in double precision.
#include <cmath>
#include <numbers>

#include "kernels/stage/cfar.h"
#include "kernels/stage/covariance.h"
#include "kernels/stage/doppler_power.h"
#include "kernels/stage/matched_filter.h"
#include "tests/kernels/stage_fixture.h"

namespace cornerturn {
namespace {

using namespace cuda;  // NOLINT: tests of that module
using std::numbers::pi;
using test::noise;
using test::poisoned;
using test::RelativeL2;
using test::to_device;
using test::to_host;
using test::wide;

// What an FFT stage may be off (relative L2): the goal, not the 2e-6 that must be held.
constexpr double kTolerance = 5e-7;

class Stage : public test::Gpu {};

std::complex<double> turn(double cycles) { return std::polar(1.0, 2.0 * pi * (cycles - std::floor(cycles))); }

/// conj(FFT(replica)) / length.
std::vector<std::complex<double>> spectrum_of(const std::vector<float2>& replica, std::size_t length) {
  std::vector<std::complex<double>> spectrum(length);
  for (std::size_t k = 0; k < length; ++k) {
    for (std::size_t n = 0; n < replica.size(); ++n)
      spectrum[k] += wide(replica[n]) * turn(-static_cast<double>(n * k % length) / static_cast<double>(length));
    spectrum[k] = std::conj(spectrum[k]) / static_cast<double>(length);
  }
  return spectrum;
}

std::complex<double> correlation(const float2* samples, const std::vector<float2>& replica, std::size_t lag) {
  std::complex<double> sum;
  for (std::size_t n = 0; n < replica.size(); ++n) sum += wide(samples[lag + n]) * std::conj(wide(replica[n]));
  return sum;
}

class MatchedFilterKernel : public test::Gpu, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(MatchedFilterKernel, CorrelatesLinesOfEachLength) {
  const std::uint32_t samples = GetParam();
  const std::size_t lines = 3;
  const std::size_t length = matched_filter_length(samples);
  if (length == 0) GTEST_SKIP() << "no room in this GPU's shared memory";
  const std::vector<float2> replica = noise(samples < 40 ? 5 : 40, 1);
  const std::size_t stride = samples + 3;
  const std::vector<float2> input = noise(lines * stride, 2);
  const auto gates = static_cast<std::uint32_t>(samples - replica.size() + 1);
  const std::uint32_t first = gates / 7;
  const auto in = to_device(input);
  const auto out = poisoned<float2>(lines * stride);
  const auto spectrum = to_device(matched_filter_spectrum(spectrum_of(replica, length)));
  const auto twiddles = to_device(matched_filter_twiddles(length));
  MatchedFilterJob job;
  job.lines = in.data();
  job.in_stride = stride;
  job.line_count = lines;
  job.sample_count = samples;
  job.length = static_cast<std::uint32_t>(length);
  job.spectrum = spectrum.data();
  job.twiddles = twiddles.data();
  job.out = out.data() + first;
  job.out_stride = stride;
  job.first_output = first;
  job.output_count = gates - first;
  launch_matched_filter(job, nullptr);
  const std::vector<float2> found = to_host(out);
  RelativeL2 distance;
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t lag = first; lag < gates; ++lag)
      distance.add(wide(found[line * stride + lag]), correlation(input.data() + line * stride, replica, lag));
    // Nothing but what was asked for is written.
    EXPECT_TRUE(std::isnan(found[line * stride + gates].x));
    if (first > 0) {
      EXPECT_TRUE(std::isnan(found[line * stride + first - 1].x));
    }
  }
  EXPECT_LT(distance.value(), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Lengths, MatchedFilterKernel,
                         ::testing::Values(7U, 1024U, 2048U, 3001U, 4096U, 6144U, 9000U, 9216U, 16384U));

TEST_F(Stage, LinesLongerThanSharedMemoryAreNotFiltered) { EXPECT_EQ(matched_filter_length(16385), 0U); }

class DopplerPowerKernel : public test::Gpu, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(DopplerPowerKernel, CancelsWeighsTransformsAndSquares) {
  const std::uint32_t bins = GetParam();
  for (const int first_tap : {-1, 0}) {
    DopplerPowerJob job;
    job.line_stride = 50;
    job.channel_count = 2;
    job.gate_count = 37;
    job.pulse_count = bins - 5;
    job.bin_count = bins;
    job.taps[0] = 1.0F;
    job.taps[1] = -2.0F;
    job.taps[2] = 1.0F;
    job.first_tap = first_tap;
    const std::vector<float2> input = noise(2 * job.pulse_count * job.line_stride, 3);
    std::vector<float> weights(job.pulse_count);
    for (std::size_t p = 0; p < weights.size(); ++p) weights[p] = 0.5F + 0.01F * static_cast<float>(p % 30);
    const auto lines = to_device(input);
    const auto weights_there = to_device(weights);
    const auto twiddles = to_device(doppler_power_twiddles(bins));
    const auto power = poisoned<float>(std::size_t{2} * job.gate_count * bins);
    job.lines = lines.data();
    job.weights = weights_there.data();
    job.twiddles = twiddles.data();
    job.power = power.data();
    launch_doppler_power(job, nullptr);
    const std::vector<float> found = to_host(power);
    RelativeL2 distance;
    for (std::size_t channel = 0; channel < 2; ++channel) {
      for (const std::size_t gate : {0, 1, 15, 16, 31, 36}) {
        const auto x = [&](int pulse) {
          if (pulse < 0 || pulse >= static_cast<int>(job.pulse_count)) return std::complex<double>();
          return wide(input[(channel * job.pulse_count + static_cast<std::size_t>(pulse)) * job.line_stride + gate]);
        };
        for (std::size_t bin = 0; bin < bins; ++bin) {
          std::complex<double> sum;
          for (int p = 0; p < static_cast<int>(job.pulse_count); ++p) {
            const std::complex<double> y = x(p + first_tap) - 2.0 * x(p + first_tap + 1) + x(p + first_tap + 2);
            sum += static_cast<double>(weights[static_cast<std::size_t>(p)]) * y *
                   turn(-static_cast<double>(bin * static_cast<std::size_t>(p) % bins) / bins);
          }
          distance.add(static_cast<double>(found[(channel * job.gate_count + gate) * bins + bin]), std::norm(sum));
        }
      }
    }
    EXPECT_LT(distance.value(), 2.0 * kTolerance);  // of a power twice that of the amplitude
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, DopplerPowerKernel, ::testing::Values(128U, 256U));

struct CovarianceCase {
  std::size_t channels;
  std::size_t snapshots;
  std::size_t stride;
  bool forward_backward;
  double loading;
  std::size_t gates = 7;  // no multiple of what a block takes
};

TEST_F(Stage, CovarianceIsTheMeanOfProducts) {
  const std::vector<CovarianceCase> cases = {
      {1, 1, 2, false, 0.0},         {4, 128, 128, false, 0.0},     {5, 21, 22, true, 0.1},
      {8, 126, 128, false, 0.0},     {16, 128, 128, false, 0.0},    {16, 7, 8, true, 0.0},
      {17, 64, 64, false, 0.2},      {32, 128, 128, true, 0.0},     {33, 30, 30, false, 0.0},
      {47, 65, 66, true, 0.01},      {48, 128, 128, false, 0.},     {64, 128, 128, true, 0.05},
      {64, 1000, 1000, false, 0},    {12, 15, 15, true, 0.1},       {65, 16, 16, false, 0.0},
      {16, 24, 24, true, 0.1, 1031}, {3, 30, 30, false, 0.0, 1031},
  };
  for (const CovarianceCase& c : cases) {
    SCOPED_TRACE(std::to_string(c.channels) + " channels, " + std::to_string(c.snapshots) + " snapshots");
    const std::vector<float2> input = noise(c.gates * c.channels * c.stride, 5, 300.0F);
    const std::size_t elements = c.channels * (c.channels + 1) / 2;
    const auto snapshots = to_device(input);
    const auto packed = poisoned<float2>(c.gates * elements);
    const auto loading = to_device(std::vector<double>{c.loading});
    CovarianceJob job;
    job.snapshots = snapshots.data();
    job.packed = packed.data();
    job.gate_count = c.gates;
    job.channel_count = c.channels;
    job.snapshot_count = c.snapshots;
    job.line_stride = c.stride;
    job.forward_backward = c.forward_backward;
    job.loading = loading.data();
    launch_covariance(job, nullptr);
    const std::vector<float2> found = to_host(packed);
    RelativeL2 distance;
    RelativeL2 diagonal;
    for (std::size_t gate = 0; gate < c.gates; ++gate) {
      const auto sum = [&](std::size_t row, std::size_t column) {
        const float2* a = input.data() + (gate * c.channels + row) * c.stride;
        const float2* b = input.data() + (gate * c.channels + column) * c.stride;
        std::complex<double> total;
        for (std::size_t k = 0; k < c.snapshots; ++k) total += wide(a[k]) * std::conj(wide(b[k]));
        return total / static_cast<double>(c.snapshots);
      };
      double trace = 0.0;
      for (std::size_t i = 0; i < c.channels; ++i) trace += sum(i, i).real();
      for (std::size_t row = 0; row < c.channels; ++row) {
        for (std::size_t column = 0; column <= row; ++column) {
          std::complex<double> expected = sum(row, column);
          if (c.forward_backward) expected = 0.5 * (expected + sum(c.channels - 1 - column, c.channels - 1 - row));
          if (row == column) expected += c.loading * trace / static_cast<double>(c.channels);
          const float2 value = found[gate * elements + row * (row + 1) / 2 + column];
          distance.add(wide(value), expected);
          if (row != column) continue;
          diagonal.add(wide(value), expected);
          EXPECT_EQ(value.y, 0.0F);
        }
      }
    }
    EXPECT_LT(distance.value(), kTolerance);
    EXPECT_LT(diagonal.value(), kTolerance);  // sums of positive numbers: nothing may be cut off again and again
  }
}

struct CfarCase {
  std::uint32_t gates, bins, train_range, guard_range, train_doppler, guard_doppler;
  bool wraps;
  std::uint32_t maps = 3;  // with many, another kernel takes them
};

TEST_F(Stage, CfarComparesEachCellWithItsOwnWindow) {
  const std::vector<CfarCase> cases = {
      {61, 64, 8, 2, 4, 2, true},       {61, 64, 8, 2, 4, 2, false},     {40, 256, 5, 1, 1, 1, false},
      {50, 70, 3, 1, 2, 1, true},       {20, 600, 8, 2, 2, 1, true},     {61, 64, 8, 2, 4, 2, true, 140},
      {61, 64, 8, 2, 4, 2, false, 140}, {9, 40, 8, 2, 4, 2, true, 530},  {50, 256, 5, 1, 1, 1, false, 140},
      {40, 100, 5, 1, 1, 1, true, 180}, {9, 33, 5, 1, 1, 1, false, 530},
  };
  for (const CfarCase& c : cases) {
    SCOPED_TRACE(std::to_string(c.maps) + " x " + std::to_string(c.gates) + " x " + std::to_string(c.bins));
    const std::size_t cells = std::size_t{c.gates} * c.bins;
    std::mt19937 random(11);
    std::exponential_distribution<float> exponential(1.0F);
    std::vector<float> power(c.maps * cells);
    for (float& value : power) value = exponential(random);
    for (std::size_t i = 17; i < power.size(); i += 397) power[i] = 1e6F;  // 60 dB: spoils no neighbour's sum
    std::vector<float> scales(4096, 0.0F);
    for (std::size_t n = 1; n < scales.size(); ++n) scales[n] = 4.0F / static_cast<float>(n);
    const auto power_there = to_device(power);
    const auto scales_there = to_device(scales);
    CfarJob job;
    job.power = power_there.data();
    job.map_count = c.maps;
    job.gate_count = c.gates;
    job.bin_count = c.bins;
    job.train_range = c.train_range;
    job.guard_range = c.guard_range;
    job.train_doppler = c.train_doppler;
    job.guard_doppler = c.guard_doppler;
    job.doppler_wraps = c.wraps;
    job.scale_of_count = scales_there.data();
    const auto hits = poisoned<std::uint32_t>(std::size_t{c.maps} * c.gates * job.words_per_gate());
    job.hits = hits.data();
    launch_cfar(job, nullptr);
    const std::vector<std::uint32_t> found = to_host(hits);
    std::size_t alarms = 0;
    for (const std::size_t map : {std::size_t{0}, std::size_t{1}, std::size_t{c.maps} - 1}) {
      for (int gate = 0; gate < static_cast<int>(c.gates); ++gate) {
        for (int bin = 0; bin < static_cast<int>(c.bins); ++bin) {
          double sum = 0.0;
          std::size_t count = 0;
          const int range_reach = static_cast<int>(c.train_range + c.guard_range);
          const int doppler_reach = static_cast<int>(c.train_doppler + c.guard_doppler);
          for (int g = gate - range_reach; g <= gate + range_reach; ++g) {
            for (int b = bin - doppler_reach; b <= bin + doppler_reach; ++b) {
              if (std::abs(g - gate) <= static_cast<int>(c.guard_range) &&
                  std::abs(b - bin) <= static_cast<int>(c.guard_doppler))
                continue;
              const int bins = static_cast<int>(c.bins);
              if (g < 0 || g >= static_cast<int>(c.gates) || (!c.wraps && (b < 0 || b >= bins))) continue;
              sum += static_cast<double>(power[map * cells + static_cast<std::size_t>(g * bins + (b + bins) % bins)]);
              ++count;
            }
          }
          const double own = static_cast<double>(
              power[map * cells + static_cast<std::size_t>(gate) * c.bins + static_cast<std::size_t>(bin)]);
          const double threshold = 4.0 * sum / static_cast<double>(count);
          const std::size_t word = (map * c.gates + static_cast<std::size_t>(gate)) * job.words_per_gate() +
                                   static_cast<std::size_t>(bin) / 32;
          const bool hit = (found[word] >> (bin % 32) & 1U) != 0;
          alarms += hit ? 1 : 0;
          // Only cells within the sum's rounding of their threshold may go either way.
          if (std::abs(own / threshold - 1.0) > 1e-5) {
            ASSERT_EQ(hit, own > threshold) << map << ", " << gate << ", " << bin;
          }
        }
      }
    }
    EXPECT_GT(alarms, 0U);
  }
}

}  // namespace
}  // namespace cornerturn
