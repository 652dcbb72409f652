#include "src/config/scene_toml.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

const std::string kScenes = CORNERTURN_SOURCE_DIR "/datasets/scenes/";

const std::string kSmall = R"(name = "small"
[shape]
pulse_count = 16
sample_count = 128
[waveform]
kind = "fmcw"
carrier_hz = 77e9
sample_rate_hz = 10e6
slope_hz_per_s = 30e12
pri_s = 60e-6
[[target]]
range_m = 10.0
snr_db = 3.0
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string error_of(const std::string& text) {
  const Expected<Scene> scene = parse_scene(text, "scene.toml");
  if (scene) return "no error";
  EXPECT_EQ(scene.error().kind, ErrorKind::usage);
  return scene.error().message();
}

TEST(SceneToml, ReadsEveryKey) {
  const Expected<Scene> read = parse_scene(R"(name = "all"
seed = 5
cpi_count = 3
cpi_period_s = 0.02
complex_samples = false
[shape]
channel_count = 2
pulse_count = 16
sample_count = 128
[radar]
sensor = "bench"
doppler_sign = -1
range_offset_m = -0.25
propagation_factor = 1.0
[waveform]
kind = "fmcw"
carrier_hz = 60e9
sample_rate_hz = 2e6
slope_hz_per_s = -10e12
pri_s = 1e-4
[array]
x_m = [0.0, 0.0025]
steering_sign = -1
[receiver]
noise_counts = 4.5
dc_i_counts = 1.5
dc_q_counts = -2.5
iq_gain_imbalance_db = 0.5
iq_phase_imbalance_deg = 2.0
adc_bits = 12
[clutter]
cnr_db = 20.0
min_range_m = 1.0
max_range_m = 9.0
range_rate_spread_mps = 0.1
scatterer_count = 50
[[target]]
range_m = 7.0
range_rate_mps = -1.0
azimuth_deg = 11.0
snr_db = -3.0
fluctuation = "swerling1"
)",
                                           "all.toml");
  ASSERT_TRUE(read) << read.error().message();
  const Scene& scene = *read;
  EXPECT_EQ(scene.name, "all");
  EXPECT_EQ(scene.seed, 5U);
  EXPECT_EQ(scene.cpi_count, 3U);
  EXPECT_EQ(scene.cpi_period_s, 0.02);
  EXPECT_FALSE(scene.complex_samples);
  EXPECT_EQ(scene.shape, (CpiShape{2, 16, 128}));
  EXPECT_EQ(scene.radar.sensor, "bench");
  EXPECT_EQ(scene.radar.doppler_sign, -1.0);
  EXPECT_EQ(scene.radar.range_offset_m, -0.25);
  EXPECT_EQ(scene.radar.propagation_factor, 1.0);
  EXPECT_EQ(scene.radar.full_scale_counts, 2048.0);
  EXPECT_EQ(scene.radar.waveform.kind, WaveformKind::fmcw);
  EXPECT_EQ(scene.radar.waveform.carrier_hz, 60e9);
  EXPECT_EQ(scene.radar.waveform.sample_rate_hz, 2e6);
  EXPECT_EQ(scene.radar.waveform.slope_hz_per_s, -10e12);
  EXPECT_EQ(scene.radar.waveform.pri_s, 1e-4);
  ASSERT_EQ(scene.radar.array.elements.size(), 2U);
  EXPECT_EQ(scene.radar.array.elements[1].x_m, 0.0025);
  EXPECT_EQ(scene.radar.array.steering_sign, -1.0);
  EXPECT_EQ(scene.receiver.noise_counts, 4.5);
  EXPECT_EQ(scene.receiver.dc_i_counts, 1.5);
  EXPECT_EQ(scene.receiver.dc_q_counts, -2.5);
  EXPECT_EQ(scene.receiver.iq_gain_imbalance_db, 0.5);
  EXPECT_EQ(scene.receiver.iq_phase_imbalance_deg, 2.0);
  EXPECT_EQ(scene.receiver.adc_bits, 12);
  EXPECT_EQ(scene.clutter.cnr_db, 20.0);
  EXPECT_EQ(scene.clutter.min_range_m, 1.0);
  EXPECT_EQ(scene.clutter.max_range_m, 9.0);
  EXPECT_EQ(scene.clutter.range_rate_spread_mps, 0.1);
  EXPECT_EQ(scene.clutter.scatterer_count, 50U);
  ASSERT_EQ(scene.targets.size(), 1U);
  EXPECT_EQ(scene.targets[0].range_m, 7.0);
  EXPECT_EQ(scene.targets[0].range_rate_mps, -1.0);
  EXPECT_EQ(scene.targets[0].azimuth_deg, 11.0);
  EXPECT_EQ(scene.targets[0].snr_db, -3.0);
  EXPECT_EQ(scene.targets[0].fluctuation, Fluctuation::swerling1);
}

TEST(SceneToml, DopplerSignFollowsTheMixer) {
  EXPECT_EQ(parse_scene(kSmall, "s")->radar.doppler_sign, 1.0);
  EXPECT_EQ(parse_scene(replaced(kSmall, "30e12", "-30e12"), "s")->radar.doppler_sign, -1.0);
  EXPECT_EQ(load_scene(kScenes + "surveillance-lfm.toml")->radar.doppler_sign, -1.0);
}

TEST(SceneToml, FaultsNameFileLineAndKey) {
  EXPECT_EQ(error_of(replaced(kSmall, "range_m = 10.0", "range_m = 60.0")),
            "scene.toml:12:target.range_m: 60 m lies outside of what the receiver sees, 0 to 49.9654 m; move the "
            "target, or change the waveform or sample_count");
  EXPECT_EQ(error_of(replaced(kSmall, "pri_s = 60e-6", "pri_s = 6e-6")),
            "scene.toml:10:waveform.pri_s: 6e-06 s is shorter than the receive window, which ends after 1.28e-05 s; "
            "give a longer pri_s or fewer samples");
  EXPECT_TRUE(error_of(replaced(kSmall, "range_m", "rangem"))
                  .starts_with("scene.toml:12:target.rangem: unknown key; did you mean 'range_m'?"));
  EXPECT_TRUE(error_of(replaced(kSmall, "snr_db = 3.0", "snr_db = 3.0\nazimut_deg = 3"))
                  .starts_with("scene.toml:14:target.azimut_deg: unknown key; did you mean 'azimuth_deg'?"));
  EXPECT_TRUE(error_of(replaced(kSmall, "\"fmcw\"", "\"chirp\""))
                  .starts_with("scene.toml:6:waveform.kind: 'chirp' is no waveform that can be simulated; use"));
  EXPECT_TRUE(error_of(replaced(kSmall, "pri_s = 60e-6", "pri_s = 60e-6\npulse_width_s = 1e-6"))
                  .starts_with("scene.toml:11:waveform.pulse_width_s: unknown key"));
  EXPECT_TRUE(error_of(replaced(kSmall, "pulse_count = 16", "pulse_count = 0"))
                  .starts_with("scene.toml:3:shape.pulse_count: 0 is out of range"));
  EXPECT_TRUE(error_of(replaced(kSmall, "range_m = 10.0", "range_m = inf"))
                  .starts_with("scene.toml:12:target.range_m: inf is out of range"));
  EXPECT_TRUE(error_of(kSmall + "[array]\nspacing_m = 0.1\nx_m = [1.0]\n")
                  .starts_with("scene.toml:15:array.spacing_m: contradicts x_m"));
  EXPECT_TRUE(error_of(kSmall + "[array]\nx_m = [1.0, 2.0]\n")
                  .starts_with("scene.toml:15:array.x_m: 2 positions for 1 channels"));
  EXPECT_TRUE(error_of("name = ").starts_with("scene.toml:1:"));
  EXPECT_EQ(load_scene("/nowhere/scene.toml").error().kind, ErrorKind::input);
}

TEST(SceneToml, FaultOfTheSecondTargetIsFoundAtItsLine) {
  EXPECT_TRUE(error_of(kSmall + "[[target]]\nrange_m = 70.0\nsnr_db = 0.0\n")
                  .starts_with("scene.toml:15:target.range_m: 70 m lies outside"));
}

TEST(SceneToml, BuiltInSceneIsTheFile) {
  std::ifstream file(kScenes + "automotive-fmcw.toml");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), default_scene_toml());
  EXPECT_EQ(default_scene().name, "automotive-fmcw");
}

TEST(SceneToml, ShippedScenesAreValid) {
  for (const char* name : {"automotive-fmcw", "reference-r1", "surveillance-lfm", "noise-only"}) {
    const Expected<Scene> scene = load_scene(kScenes + name + ".toml");
    ASSERT_TRUE(scene) << scene.error().message();
    EXPECT_EQ(scene->name, name);
  }
}

}  // namespace
}  // namespace cornerturn
