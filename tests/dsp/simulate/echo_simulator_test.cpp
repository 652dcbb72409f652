#include "dsp/simulate/echo_simulator.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

Scene busy_scene() {
  Scene scene = test::fmcw_scene();
  scene.receiver.noise_counts = 10.0;
  scene.clutter = {10.0, 5.0, 24.0, 0.3, 20};
  scene.targets = {{15.0, 3.0, 5.0, 10.0, Fluctuation::swerling1}, {21.0, -3.0, 5.0, 10.0, Fluctuation::swerling0}};
  return scene;
}

std::vector<std::int16_t> cpi_of(EchoSimulator& simulator, std::uint64_t index) {
  std::vector<std::int16_t> samples(simulator.cpi_bytes() / sizeof(std::int16_t));
  simulator.fill(index, samples);
  return samples;
}

TEST(EchoSimulator, CpiDependsOnSeedAndIndexAlone) {
  EchoSimulator forwards(busy_scene());
  EchoSimulator other(busy_scene());
  const auto zero = cpi_of(forwards, 0);
  const auto one = cpi_of(forwards, 1);
  const auto two = cpi_of(forwards, 2);
  EXPECT_EQ(cpi_of(other, 2), two);
  EXPECT_EQ(cpi_of(other, 0), zero);
  EXPECT_EQ(cpi_of(other, 2), two);
  EXPECT_NE(zero, one);
  Scene reseeded = busy_scene();
  reseeded.seed = 2;
  EchoSimulator third(reseeded);
  EXPECT_NE(cpi_of(third, 0), zero);
}

TEST(EchoSimulator, NoiseDiffersBetweenPulsesChannelsAndCpis) {
  Scene scene = test::fmcw_scene();
  scene.receiver.noise_counts = 100.0;
  EchoSimulator simulator(scene);
  const auto zero = cpi_of(simulator, 0);
  const auto one = cpi_of(simulator, 1);
  const std::size_t line = 2 * scene.shape.sample_count;
  std::vector<std::vector<std::int16_t>> lines;
  for (const auto* cpi : {&zero, &one})
    for (std::size_t start = 0; start < cpi->size(); start += line)
      lines.emplace_back(cpi->begin() + static_cast<std::ptrdiff_t>(start),
                         cpi->begin() + static_cast<std::ptrdiff_t>(start + line));
  std::ranges::sort(lines);
  EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end());
}

TEST(EchoSimulator, LayoutDescribesItsBytes) {
  Scene scene = busy_scene();
  for (const bool complex_samples : {true, false}) {
    scene.complex_samples = complex_samples;
    const EchoSimulator simulator(scene);
    const auto bytes = required_bytes(simulator.layout(), scene.shape);
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(*bytes, simulator.cpi_bytes());
    EXPECT_EQ(simulator.layout().complex_samples, complex_samples);
  }
}

TEST(EchoSimulator, PeriodIsBackToBackUnlessGiven) {
  Scene scene = busy_scene();
  EXPECT_DOUBLE_EQ(EchoSimulator(scene).cpi_period_s(), 16 * 60e-6);
  scene.cpi_period_s = 0.05;
  EXPECT_DOUBLE_EQ(EchoSimulator(scene).cpi_period_s(), 0.05);
}

}  // namespace
}  // namespace cornerturn
