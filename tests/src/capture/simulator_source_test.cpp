#include "src/capture/simulator_source.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/chain/write_lease.h"
#include "dsp/simulate/echo_simulator.h"
#include "src/config/scene_toml.h"

namespace cornerturn {
namespace {

using Clock = std::chrono::steady_clock;

/// One slot, as a ring would give it.
class OneSlot final : public WriteSlotOwner {
 public:
  explicit OneSlot(std::size_t bytes) : memory_(bytes) {
    slot_.memory.host = memory_;
    slot_.cpi.segments.resize(1);
  }
  WriteLease lease() {
    slot_.write_state = 0;
    return {slot_, *this};
  }
  void publish(RawSlot&) noexcept override { ++published_; }
  void finish_write(RawSlot&, bool complete) noexcept override { completed_ += complete ? 1 : 0; }
  void recycle(RawSlot&) noexcept override {}
  const RawCpi& cpi() const { return slot_.cpi; }
  int published() const { return published_; }

 private:
  std::vector<std::byte> memory_;
  RawSlot slot_;
  int published_ = 0;
  int completed_ = 0;
};

Scene short_scene() {
  Scene scene = default_scene();
  scene.shape.pulse_count = 16;
  scene.cpi_period_s = 0.02;
  scene.cpi_count = 4;
  return scene;
}

TEST(SimulatorSource, DescribesTheSceneAndItsTruth) {
  const Scene scene = default_scene();
  const auto source = make_simulator_source(scene, "demo", {});
  const CaptureInfo& info = source->info();
  EXPECT_EQ(info.path, "demo");
  EXPECT_EQ(info.shape, scene.shape);
  EXPECT_EQ(info.slot_bytes, 8U * 128U * 256U * 4U);
  EXPECT_EQ(info.cpi_count, 16U);
  EXPECT_DOUBLE_EQ(info.cpi_period_s, 0.05);
  EXPECT_FALSE(info.live);
  EXPECT_EQ(info.truth->size(), scene.targets.size());
  EXPECT_EQ(info.radar.full_scale_counts, 32768.0);
  EXPECT_EQ(info.suggested_chain.canceller, Canceller::none);
  EXPECT_FALSE(info.understood.empty());
}

TEST(SimulatorSource, DeliversTheSimulatorsSamplesToTheEnd) {
  const Scene scene = short_scene();
  const auto source = make_simulator_source(scene, "test", {});
  EchoSimulator simulator(scene);
  std::vector<std::int16_t> expected(simulator.cpi_bytes() / 2);
  OneSlot slot(source->info().slot_bytes + 64);
  for (std::uint64_t index = 0; index < 4; ++index) {
    WriteLease lease = slot.lease();
    ASSERT_EQ(source->fill(lease).value(), CaptureSource::Fill::filled);
    lease.commit();
    EXPECT_EQ(slot.cpi().header.index, index);
    EXPECT_DOUBLE_EQ(slot.cpi().header.start_time_s, static_cast<double>(index) * 0.02);
    EXPECT_TRUE(std::isnan(slot.cpi().header.sensor_time_s));
    const RawSegment& segment = slot.cpi().segments.at(0);
    EXPECT_EQ(segment.pulse_count, 16U);
    simulator.fill(index, expected);
    ASSERT_EQ(segment.bytes.size(), simulator.cpi_bytes());
    EXPECT_EQ(std::memcmp(segment.bytes.data(), expected.data(), segment.bytes.size()), 0);
  }
  WriteLease lease = slot.lease();
  EXPECT_EQ(source->fill(lease).value(), CaptureSource::Fill::end);
  EXPECT_EQ(slot.published(), 4);
}

TEST(SimulatorSource, SeeksWhenItIsNotLive) {
  const auto source = make_simulator_source(short_scene(), "test", {});
  OneSlot slot(source->info().slot_bytes);
  ASSERT_TRUE(source->seek(2));
  WriteLease lease = slot.lease();
  ASSERT_TRUE(source->fill(lease));
  lease.commit();
  EXPECT_EQ(slot.cpi().header.index, 2U);
  EXPECT_EQ(source->seek(4).error().kind, ErrorKind::usage);
  EXPECT_FALSE(make_simulator_source(short_scene(), "test", {true, {}})->seek(0));
}

TEST(SimulatorSource, PacedCpisArriveWhenTheirLastPulseWould) {
  const auto source = make_simulator_source(short_scene(), "test", {true, {}});
  EXPECT_TRUE(source->info().live);
  OneSlot slot(source->info().slot_bytes);
  const Clock::time_point before = Clock::now();
  for (int i = 0; i < 4; ++i) {
    WriteLease lease = slot.lease();
    ASSERT_EQ(source->fill(lease).value(), CaptureSource::Fill::filled);
    lease.commit();
  }
  // Three periods of 20 ms and 16 pulses of 60 us. Never early; what a busy machine adds has no bound.
  EXPECT_GE(Clock::now() - before, std::chrono::microseconds(60960));
}

TEST(SimulatorSource, StopEndsTheWait) {
  Scene scene = short_scene();
  scene.cpi_period_s = 3600.0;
  const auto source = make_simulator_source(scene, "test", {true, {}});
  OneSlot slot(source->info().slot_bytes);
  {
    WriteLease lease = slot.lease();
    ASSERT_EQ(source->fill(lease).value(), CaptureSource::Fill::filled);
    lease.commit();
  }
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source->request_stop();
  });
  WriteLease lease = slot.lease();
  EXPECT_EQ(source->fill(lease).value(), CaptureSource::Fill::end);
}

TEST(SimulatorSource, OpensUris) {
  const std::string scene = std::string(CORNERTURN_SOURCE_DIR) + "/datasets/scenes/surveillance-lfm.toml";
  const auto paced = open_simulator("sim://" + scene);
  ASSERT_TRUE(paced) << paced.error().message();
  EXPECT_TRUE((*paced)->info().live);
  EXPECT_EQ((*paced)->info().suggested_chain.canceller, Canceller::three_pulse);
  const auto fast = open_simulator("sim://?fast&cpis=3");
  ASSERT_TRUE(fast) << fast.error().message();
  EXPECT_FALSE((*fast)->info().live);
  EXPECT_EQ((*fast)->info().cpi_count, 3U);
  EXPECT_EQ((*fast)->info().truth->size(), default_scene().targets.size());

  EXPECT_EQ(open_simulator("sim://?quick").error().message(),
            "sim://?quick: 'quick' is no option of the simulator; use fast or cpis=N (0: endless), joined by &");
  EXPECT_EQ(open_simulator("sim://?cpis=x").error().kind, ErrorKind::usage);
  EXPECT_EQ(open_simulator("sim:///nowhere.toml").error().kind, ErrorKind::input);
  EXPECT_FALSE(is_simulator_uri("capture.h5"));
}

}  // namespace
}  // namespace cornerturn
