#include "src/config/scene_toml.h"

namespace cornerturn {

// A copy of datasets/scenes/automotive-fmcw.toml, so that the installed program needs no file; a test compares them.
std::string_view default_scene_toml() {
  return R"toml(# A street in front of a 77 GHz automotive radar: 49.97 m and 16.2 m/s without ambiguity, 0.195 m and 0.25 m/s a cell.
# This is the scene built into the program; the truth is what `process --score` compares detections with.
name = "automotive-fmcw"
seed = 77
cpi_count = 16
cpi_period_s = 0.05

[shape]
channel_count = 8
pulse_count = 128
sample_count = 256

[waveform]
kind = "fmcw"
carrier_hz = 77.0e9
slope_hz_per_s = 30.0e12
sample_rate_hz = 10.0e6
pri_s = 60.0e-6

[array]
spacing_wavelengths = 0.5

[receiver]
noise_counts = 12.0
adc_bits = 16

[[target]] # a car that comes closer
range_m = 36.4
range_rate_mps = -11.2
azimuth_deg = -7.5
snr_db = 6.0

[[target]] # a lorry that drives away, glinting from CPI to CPI
range_m = 19.6
range_rate_mps = 6.3
azimuth_deg = 14.0
snr_db = 14.0
fluctuation = "swerling1"

[[target]] # two bicycles 0.9 m apart at the same speed
range_m = 27.3
range_rate_mps = 3.8
azimuth_deg = 24.0
snr_db = -4.0

[[target]]
range_m = 28.2
range_rate_mps = 3.8
azimuth_deg = 2.0
snr_db = -6.0

[[target]] # a pedestrian, 22 dB below the noise of one sample
range_m = 9.1
range_rate_mps = -1.3
azimuth_deg = -26.0
snr_db = -22.0
)toml";
}

}  // namespace cornerturn
