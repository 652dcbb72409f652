// The simulator and the CPU chain together: what a scene holds is what the chain reads.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dsp/chain/backend.h"
#include "dsp/simulate/echo_simulator.h"
#include "dsp/stage/detection.h"
#include "dsp/vocabulary/units.h"
#include "tests/dsp/simulate/simulate_helpers.h"

namespace cornerturn {
namespace {

/// Runs CPIs of a scene through the CPU backend, one at a time.
class SceneRun final : public SlotOwner<RawSlot> {
 public:
  SceneRun(const Scene& scene, const ChainConfig& config) : simulator_(scene), memory_(simulator_.cpi_bytes() / 2) {
    Expected<ChainPlan> plan = make_chain_plan(scene.radar, simulator_.layout(), scene.shape, config);
    EXPECT_TRUE(plan) << plan.error().message();
    plan_ = *plan;
    auto backend = make_cpu_backend(std::move(*plan), {.threads = 2, .result_slots = 2});
    EXPECT_TRUE(backend) << backend.error().message();
    backend_ = std::move(*backend);
    slot_.memory.host = std::as_writable_bytes(std::span(memory_));
    slot_.cpi.segments = {{slot_.memory.host, 0, scene.shape.pulse_count}};
    slot_.write_state = 1;
    slot_.owner = this;
  }
  void recycle(RawSlot&) noexcept override {}

  std::vector<Detection> detections(std::uint64_t cpi_index) {
    simulator_.fill(cpi_index, memory_);
    slot_.cpi.header.index = cpi_index;
    slot_.holders = 1;
    CpiRequest request;
    request.light = light_parameters(plan_.config);
    const Ticket ticket = backend_->enqueue(ReadLease::adopt(slot_), request);
    const Expected<ResultLease> result = backend_->wait(ticket);
    EXPECT_TRUE(result) << result.error().message();
    return read_detections((*result)->result);
  }
  const ChainPlan& plan() const { return plan_; }

 private:
  EchoSimulator simulator_;
  std::vector<std::int16_t> memory_;
  ChainPlan plan_;
  RawSlot slot_;
  std::unique_ptr<Backend> backend_;
};

/// Five standard errors of an adaptive azimuth from one snapshot, one degree at least (neighbours pull): the bound
/// 6 / (pi^2 SNR M (M^2 - 1)) on sin(azimuth) of a half-wavelength line (Stoica & Nehorai 1989), over the mean SNR that
/// adapting to K = 16 training snapshots leaves, (K + 2 - M) / (K + 1) (Reed, Mallett & Brennan 1974).
double azimuth_limit_deg(const SceneTarget& target, const Scene& scene, const ChainPlan& plan) {
  const auto m = static_cast<double>(scene.shape.channel_count);
  double weights = 0.0;
  double doppler_weights = 0.0;
  for (const float weight : plan.range_window) weights += static_cast<double>(weight) * weight;
  for (const auto weight : plan.matched_replica) weights += std::norm(weight);
  for (const float weight : plan.doppler_window) doppler_weights += static_cast<double>(weight) * weight;
  const double sampling = scene.complex_samples ? 1.0 : 2.0;  // snr_db counts A^2 / 2 with real samples
  const double snr = sampling * db_to_power(target.snr_db) / (weights * doppler_weights) * (18.0 - m) / 17.0;
  const double sine_sigma = std::sqrt(6.0 / (std::numbers::pi * std::numbers::pi * snr * m * (m * m - 1.0)));
  return std::max(1.0, 5.0 * rad_to_deg(sine_sigma / std::cos(deg_to_rad(target.azimuth_deg))));
}

/// Each target is found within half a cell at the middle of the CPI, and at its azimuth.
void expect_all_found(const Scene& scene, const ChainConfig& config, std::uint64_t cpi_index) {
  SceneRun run(scene, config);
  const std::vector<Detection> detections = run.detections(cpi_index);
  const double time_s = static_cast<double>(cpi_index) * cpi_period_s(scene) +
                        0.5 * static_cast<double>(scene.shape.pulse_count - 1) * scene.radar.waveform.pri_s;
  for (const SceneTarget& target : scene.targets) {
    const double range_m = target.range_m + target.range_rate_mps * time_s;
    const std::string name = "target at " + std::to_string(range_m) + " m in CPI " + std::to_string(cpi_index);
    ASSERT_FALSE(detections.empty()) << name;
    const auto distance = [&](const Detection& detection) {
      return std::hypot((detection.range_m - range_m) / run.plan().gate_axis.step(),
                        (detection.range_rate_mps - target.range_rate_mps) / run.plan().doppler_axis.step());
    };
    const Detection& nearest = *std::ranges::min_element(detections, {}, distance);
    EXPECT_NEAR(nearest.range_m, range_m, 0.5 * std::abs(run.plan().gate_axis.step())) << name;
    EXPECT_NEAR(nearest.range_rate_mps, target.range_rate_mps, 0.5 * std::abs(run.plan().doppler_axis.step())) << name;
    EXPECT_NEAR(nearest.azimuth_deg, target.azimuth_deg, azimuth_limit_deg(target, scene, run.plan())) << name;
  }
}

/// The targets of the built-in scene, without its motion over many CPIs (tests of dsp read no files).
Scene street_scene() {
  Scene scene = test::fmcw_scene();
  scene.shape = {8, 128, 256};
  scene.cpi_period_s = 0.05;
  scene.receiver.noise_counts = 12.0;
  scene.radar.array = ArrayGeometry::uniform_line(8, 0.5 * scene.radar.waveform.wavelength_m());
  scene.targets = {{36.4, -11.2, -7.5, 6.0, Fluctuation::swerling0},
                   {19.6, 6.3, 14.0, 14.0, Fluctuation::swerling1},
                   {27.3, 3.8, 24.0, -4.0, Fluctuation::swerling0},
                   {28.2, 3.8, 2.0, -6.0, Fluctuation::swerling0},
                   {9.1, -1.3, -26.0, -22.0, Fluctuation::swerling0}};
  return scene;
}

TEST(ChainTruth, FmcwTargetsAreWhereTheyAre) {
  for (const std::uint64_t cpi : {0U, 3U, 15U}) expect_all_found(street_scene(), {}, cpi);
}

TEST(ChainTruth, FallingSlopeAndMirroredArrayReadTheSame) {
  Scene scene = street_scene();
  scene.radar.waveform.slope_hz_per_s *= -1.0;
  scene.radar.doppler_sign = -1.0;
  scene.radar.array.steering_sign = -1.0;
  expect_all_found(scene, {}, 1);
}

TEST(ChainTruth, RealSamplingReadsTheSame) {
  Scene scene = street_scene();
  scene.complex_samples = false;
  scene.radar.waveform.sample_rate_hz = 20e6;  // the same view of 50 m
  scene.shape.sample_count = 512;
  expect_all_found(scene, {}, 1);
}

TEST(ChainTruth, OffsetAndOneWayPathReadTheSame) {
  Scene scene = street_scene();
  scene.radar.range_offset_m = -0.8;
  scene.radar.propagation_factor = 1.0;
  expect_all_found(scene, {}, 1);
}

TEST(ChainTruth, PulseTargetsStandOutOfClutterBehindACanceller) {
  Scene scene = test::pulse_scene();
  scene.shape = {8, 64, 512};
  scene.radar.array = ArrayGeometry::uniform_line(8, 0.5 * scene.radar.waveform.wavelength_m());
  scene.receiver.noise_counts = 8.0;
  scene.clutter = {40.0, 3500.0, 18000.0, 0.1, 400};
  scene.targets = {{9150.0, -62.0, -12.0, -6.0, Fluctuation::swerling0},
                   {14420.0, 38.0, 21.0, -8.0, Fluctuation::swerling0},
                   {24800.0, 71.0, 5.0, -14.0, Fluctuation::swerling0}};
  ChainConfig config;
  for (const Canceller canceller : {Canceller::two_pulse, Canceller::three_pulse}) {
    config.canceller = canceller;
    expect_all_found(scene, config, 2);
  }
}

TEST(ChainTruth, CouplingOfRangeAndDopplerIsTakenOutOfPulses) {
  // 1400 Hz over 12.5 GHz/s move the compressed pulse by 112 ns, 0.28 gates.
  Scene scene = test::pulse_scene();
  scene.shape = {1, 64, 512};
  scene.radar.array.elements.clear();
  scene.radar.waveform.pulse_width_s = 40e-6;
  scene.receiver.noise_counts = 1.0;
  for (const double bandwidth_hz : {0.5e6, -0.5e6})
    for (const double doppler_sign : {1.0, -1.0})
      for (const double range_rate_mps : {70.0, -70.0}) {
        scene.radar.waveform.bandwidth_hz = bandwidth_hz;
        scene.radar.doppler_sign = doppler_sign;
        scene.targets = {{12000.0, range_rate_mps, 0.0, 20.0, Fluctuation::swerling0}};
        SceneRun run(scene, {});
        const std::vector<Detection> detections = run.detections(0);
        ASSERT_EQ(detections.size(), 1U);
        const double true_m = 12000.0 + range_rate_mps * 0.5 * 63.0 * scene.radar.waveform.pri_s;
        // A parabola through the broad peak of a Hann-weighted LFM is good to a few hundredths of a gate of 60 m.
        EXPECT_NEAR(detections.front().range_m, true_m, 0.04 * 60.0);
      }
}

TEST(ChainTruth, NoiseAloneRaisesAlarmsAtTheDesignRate) {
  Scene scene = street_scene();
  scene.shape = {4, 128, 256};
  scene.radar.array.elements.clear();
  scene.targets.clear();
  ChainConfig config;
  config.cfar.pfa = 1e-3;
  config.range.window.kind = WindowKind::rectangular;  // independent cells: the factor is exact
  config.doppler.window.kind = WindowKind::rectangular;
  config.grouping.enabled = false;
  SceneRun run(scene, config);
  constexpr std::uint64_t kCpis = 16;
  double alarms = 0.0;
  for (std::uint64_t cpi = 0; cpi < kCpis; ++cpi) alarms += static_cast<double>(run.detections(cpi).size());
  const double expected = 1e-3 * static_cast<double>(kCpis) * 128.0 * 256.0;
  EXPECT_NEAR(alarms, expected, 3.0 * std::sqrt(expected));
}

}  // namespace
}  // namespace cornerturn
