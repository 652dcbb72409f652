#include <chrono>

#include "kernels/probe/device_report.h"
#include "tests/dsp/chain/chain_helpers.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn {
namespace {

class Probe : public test::Gpu {};

TEST_F(Probe, LinkHasEveryRateThatWasAskedFor) {
  const auto rates = cuda::measure_link({0, std::size_t{4} << 20, std::size_t{1} << 18});
  ASSERT_TRUE(rates) << rates.error().message();
  for (const double rate :
       {rates->copy_in, rates->copy_out, rates->copy_both, rates->copy_in_beside, rates->pageable_in,
        rates->read_in_place, rates->write_in_place, rates->read_in_place_beside}) {
    EXPECT_GT(rate, 1e8);   // slower than any link that there is
    EXPECT_LT(rate, 2e12);  // faster than any: the transfers did not happen
  }
  const auto without = cuda::measure_link({0, std::size_t{1} << 20, 0});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->copy_in_beside, 0.0);
}

TEST_F(Probe, AccessRatesFallWithTheStride) {
  const auto rates = cuda::measure_access(0, std::size_t{64} << 20);
  ASSERT_TRUE(rates) << rates.error().message();
  double contiguous = 0.0;
  double sparse = 0.0;
  for (const AccessRate& rate : *rates) {
    EXPECT_GT(rate.bytes_per_s, 0.0);
    if (rate.pattern != AccessRate::Pattern::strided) continue;
    if (rate.stride_bytes == 4) contiguous = rate.bytes_per_s;
    if (rate.stride_bytes == 128) sparse = rate.bytes_per_s;
  }
  EXPECT_GT(contiguous, 4.0 * sparse);  // one word of each 128 bytes: 1/32 of what crosses the link at best
}

TEST_F(Probe, UnknownDeviceIsAUsageError) {
  const auto rates = cuda::measure_link({99, 1 << 20, 0});
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().kind, ErrorKind::usage);
}

TEST_F(Probe, DevicesSayWhatTheyCanDo) {
  const auto devices = cuda::report_devices();
  ASSERT_TRUE(devices);
  for (const DeviceDescription& device : *devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GE(device.facts.size(), 8u);
  }
}

class MemoryChoiceTime : public test::Gpu, public ::testing::WithParamInterface<CpiShape> {};

TEST_P(MemoryChoiceTime, MemoryIsChosenInUnderTwoSecondsWithAReason) {
  const CpiShape shape = GetParam();
  RadarDescription radar = test::worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(shape.channel_count, radar.waveform.wavelength_m() / 2.0);
  ChainConfig config;
  config.covariance.enabled = true;
  const auto plan =
      make_chain_plan(radar, make_contiguous_layout(shape, SampleFormat::int16, IqOrder::iq), shape, config);
  ASSERT_TRUE(plan);
  const auto start = std::chrono::steady_clock::now();
  const auto choice = cuda::choose_memory(*plan, {});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_NE(choice->memory, "auto");
  EXPECT_NE(choice->reason.find("ms per CPI"), std::string::npos) << choice->reason;
  EXPECT_LT(elapsed.count(), 2.0);
  RecordProperty("milliseconds", static_cast<int>(1e3 * elapsed.count()));
}
INSTANTIATE_TEST_SUITE_P(SmallAndLarge, MemoryChoiceTime,
                         ::testing::Values(CpiShape{4, 128, 256}, CpiShape{16, 128, 4096}, CpiShape{64, 128, 4096}));

}  // namespace
}  // namespace cornerturn
