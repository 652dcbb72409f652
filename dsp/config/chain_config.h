#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/math/window.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn {

enum class Canceller { none, mean, two_pulse, three_pulse };
enum class CfarAxes { range, doppler, range_doppler };
enum class DcRemoval { none, per_pulse };

/// The chain as the user configures it; the TOML file has the same names (docs/chain.md).
struct ChainConfig {
  struct Input {
    DcRemoval dc_removal = DcRemoval::none;  ///< per_pulse: subtract each pulse's fast-time mean
  } input;

  struct Range {
    WindowSpec window{WindowKind::hann};  ///< FMCW: over fast time; pulse: over the replica (a mismatched filter)
    std::size_t fft_length = 0;           ///< FMCW only; 0: the number of samples
    double min_m = 0.0;                   ///< gates outside [min_m, max_m] are not kept; max_m 0: no limit
    double max_m = 0.0;
  } range;

  Canceller canceller = Canceller::none;

  struct Doppler {
    WindowSpec window{WindowKind::hann};
    std::size_t fft_length = 0;  ///< 0: the number of pulses
  } doppler;

  struct Cfar {
    bool enabled = true;
    CfarAxes axes = CfarAxes::range_doppler;
    double pfa = 1e-6;
    std::size_t train_range = 8;  ///< cells on each side
    std::size_t guard_range = 2;
    std::size_t train_doppler = 4;
    std::size_t guard_doppler = 2;
    bool doppler_wraps = true;  ///< the Doppler spectrum is periodic: its edges have neighbours
    bool operator==(const Cfar&) const = default;
  } cfar;

  struct Grouping {
    bool enabled = true;      ///< one detection per connected group of alarms and local maximum
    bool interpolate = true;  ///< sub-bin peak by a parabola through the levels in dB
    std::size_t max_detections = 4096;
  } grouping;

  struct Covariance {
    bool enabled = false;
    bool forward_backward = false;
    double loading = 0.0;  ///< relative: R + loading * trace(R) / M * I
  } covariance;

  struct Angle {
    bool enabled = true;  ///< only where the array geometry is known and has two channels or more
    double min_deg = -60.0;
    double max_deg = 60.0;
    double step_deg = 0.5;
    std::size_t train_gates = 8;  ///< on each side of the detection, in its Doppler bin
    std::size_t guard_gates = 2;
    double loading = 1e-2;
    bool forward_backward = false;
  } angle;
};

/// Parameters that may change from CPI to CPI without a new pipeline.
struct LightParameters {
  double pfa = 1e-6;
  double covariance_loading = 0.0;
  double angle_loading = 1e-2;
  bool operator==(const LightParameters&) const = default;
};
LightParameters light_parameters(const ChainConfig& config);

std::string_view to_string(Canceller canceller);
std::string_view to_string(CfarAxes axes);
std::string_view to_string(DcRemoval removal);
Expected<Canceller> parse_canceller(std::string_view text);
Expected<CfarAxes> parse_cfar_axes(std::string_view text);
Expected<DcRemoval> parse_dc_removal(std::string_view text);

/// Which products a caller wants of a CPI; a backend leaves out work that no wanted product needs.
struct ProductSet {
  bool map = true;              ///< range_doppler_power
  bool detections = true;       ///< detection_* columns
  bool covariance = false;      ///< covariance (per gate)
  bool range_profiles = false;  ///< range_profiles (channel, pulse, gate) before the corner turn
  bool doppler_cube = false;    ///< doppler_cube (gate, channel, bin)
  bool operator==(const ProductSet&) const = default;
};

}  // namespace cornerturn
