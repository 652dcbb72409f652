#include "src/batch/bench_workloads.h"

#include <array>
#include <cmath>
#include <string>

#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

constexpr std::array<BenchWorkload, 4> kWorkloads = {{{"W1", "pulse radar", {16, 128, 4096}, 512},
                                                      {"W2", "pulse radar, long lines", {16, 128, 9000}, 1000},
                                                      {"W3", "FMCW frame", {4, 128, 256}, 0},
                                                      {"W4", "pulse radar, 64 channels", {64, 128, 4096}, 512}}};

}  // namespace

std::span<const BenchWorkload> bench_workloads() { return kWorkloads; }

Scene bench_scene(const BenchWorkload& workload) {
  Scene scene;
  scene.name = std::string(workload.name);
  scene.shape = workload.shape;
  scene.receiver.noise_counts = 300.0;
  Waveform& waveform = scene.radar.waveform;
  waveform.pri_s = 1e-3;
  double farthest_m = 0.0;
  if (workload.replica_samples > 0) {
    waveform.kind = WaveformKind::pulse;
    waveform.carrier_hz = 10e9;
    waveform.sample_rate_hz = 10e6;
    waveform.bandwidth_hz = 8e6;
    waveform.pulse_width_s = static_cast<double>(workload.replica_samples) / waveform.sample_rate_hz;
    const double samples = static_cast<double>(workload.shape.sample_count - workload.replica_samples);
    farthest_m = 0.5 * kSpeedOfLight_mps * samples / waveform.sample_rate_hz;
  } else {
    waveform.carrier_hz = 77e9;
    waveform.sample_rate_hz = 5e6;
    waveform.slope_hz_per_s = 30e12;
    farthest_m = 0.5 * kSpeedOfLight_mps * waveform.sample_rate_hz / waveform.slope_hz_per_s;
  }
  scene.radar.array = ArrayGeometry::uniform_line(workload.shape.channel_count, waveform.wavelength_m() / 2.0);
  // About 30 dB over the noise of the map: found, and without side lobes that would be found too.
  const std::size_t coherent_samples =
      workload.shape.channel_count * workload.shape.pulse_count *
      (workload.replica_samples > 0 ? workload.replica_samples : workload.shape.sample_count);
  const double snr_db = 30.0 - 10.0 * std::log10(static_cast<double>(coherent_samples));
  for (const double part : {0.2, 0.45, 0.7}) {
    SceneTarget target;
    target.range_m = part * farthest_m;
    target.range_rate_mps = (part - 0.4) * waveform.wavelength_m() / waveform.pri_s / 2.0;
    target.azimuth_deg = 60.0 * (part - 0.5);
    target.snr_db = snr_db;
    scene.targets.push_back(target);
  }
  return scene;
}

ChainConfig bench_chain(const BenchWorkload& workload) {
  ChainConfig config;
  config.covariance.enabled = true;
  if (workload.replica_samples > 0) config.canceller = Canceller::three_pulse;
  return config;
}

Expected<ChainPlan> bench_plan(const BenchWorkload& workload) {
  return make_chain_plan(bench_scene(workload).radar,
                         make_contiguous_layout(workload.shape, SampleFormat::int16, IqOrder::iq), workload.shape,
                         bench_chain(workload));
}

}  // namespace cornerturn
