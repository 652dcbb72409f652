#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "dsp/config/chain_config.h"
#include "dsp/vocabulary/axis.h"
#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/product.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// Everything derived once from radar, layout, sizes and configuration, before anything runs: sizes, axes, tables.
/// All backends read the same plan, so that a formula has one home.
///
/// Levels: windows are divided by their sum and the replica by its energy, so that an on-bin tone of amplitude A reads
/// the power A^2 in the map under every window (real sampling: a cosine of amplitude A).
struct ChainPlan {
  RadarDescription radar;
  RawLayout layout;
  CpiShape shape;
  ChainConfig config;

  // range stage
  std::size_t range_fft_length = 0;  ///< FMCW: zero-padded line; pulse: circular length of the fast convolution
  std::size_t first_gate = 0;        ///< first kept output of the range stage
  std::size_t gate_count = 0;
  std::vector<float> range_window;                   ///< FMCW: (sample), scaled to unit response; else empty
  std::vector<std::complex<float>> matched_replica;  ///< pulse: (replica sample), windowed, scaled to unit response

  // slow time
  std::size_t cancelled_pulse_count = 0;  ///< pulses left after the canceller
  std::size_t doppler_fft_length = 0;
  std::vector<float> doppler_window;  ///< (cancelled pulse), scaled to unit response

  // axes
  Axis gate_axis = Axis::index("range", 0);          ///< range in m
  Axis doppler_axis = Axis::index("range_rate", 0);  ///< range rate in m/s, zero Doppler at bin L/2
  Axis pulse_axis = Axis::index("time", 0);          ///< slow time in s
  Axis channel_axis = Axis::index("channel", 0);
  double doppler_step_hz = 0.0;  ///< of one bin, in the capture's own sign of phase

  bool angles_possible = false;
  std::vector<std::string> notes;  ///< decisions worth telling the user ("no angles: array geometry is not known")

  /// Memory for one CPI in flight: raw bytes are the ring's business and not in it.
  std::size_t work_bytes() const;
  std::size_t result_bytes(const ProductSet& products) const;
};

/// Checks the configuration against radar and sizes and derives the plan.
/// Errors: usage; Error::where is the chain key at fault ("cfar.train_range"), so that the caller can add file and
/// line.
Expected<ChainPlan> make_chain_plan(const RadarDescription& radar, const RawLayout& layout, const CpiShape& shape,
                                    const ChainConfig& config);

}  // namespace cornerturn
