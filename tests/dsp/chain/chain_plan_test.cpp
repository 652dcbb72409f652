#include "dsp/chain/chain_plan.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "tests/dsp/chain/chain_helpers.h"

namespace cornerturn {
namespace {

using test::bare_config;
using test::float_layout;
using test::shape_of;
using test::worked_fmcw_radar;

ChainPlan plan_of(const RadarDescription& radar, const CpiShape& shape, const ChainConfig& config) {
  auto plan = make_chain_plan(radar, float_layout(shape), shape, config);
  if (!plan) ADD_FAILURE() << plan.error().message();
  return plan.value();
}

Error error_of(const RadarDescription& radar, const CpiShape& shape, const ChainConfig& config) {
  auto plan = make_chain_plan(radar, float_layout(shape), shape, config);
  return plan ? Error{} : plan.error();
}

RadarDescription pulse_radar() {
  RadarDescription radar;
  radar.waveform.kind = WaveformKind::pulse;
  radar.waveform.carrier_hz = 10e9;
  radar.waveform.sample_rate_hz = 10e6;
  radar.waveform.pri_s = 1e-3;
  radar.waveform.bandwidth_hz = 5e6;
  radar.waveform.pulse_width_s = 10e-6;
  radar.waveform.receive_start_s = 20e-6;
  radar.doppler_sign = -1.0;
  return radar;
}

// Figures to the digits of the worked case, each within half of its last digit.
TEST(ChainPlan, FmcwWorkedCaseToItsDigits) {
  const CpiShape shape = shape_of(4, 128, 128);
  const RadarDescription radar = worked_fmcw_radar();
  const ChainPlan plan = plan_of(radar, shape, ChainConfig{});
  EXPECT_NEAR(radar.waveform.carrier_hz, 78.896379e9, 0.5e3);
  EXPECT_NEAR(radar.waveform.wavelength_m(), 3.79983e-3, 0.5e-8);
  EXPECT_NEAR(radar.waveform.slope_hz_per_s * 128 / 2.5e6, 3.0726144e9, 0.5e2);
  EXPECT_NEAR(plan.gate_axis.step(), 0.0487846, 0.5e-7);
  EXPECT_NEAR(plan.gate_axis.coordinate(128), 6.244427, 0.5e-6);  // one past the last gate: the unambiguous range
  EXPECT_NEAR(plan.gate_axis.index_of(5.0), 102.491, 0.5e-3);
  EXPECT_NEAR(plan.gate_axis.index_of(5.0) * 2.5e6 / 128, 2.00178e6, 0.5e1);
  EXPECT_NEAR(plan.doppler_axis.step(), 0.0305413, 0.5e-7);
  EXPECT_NEAR(plan.doppler_axis.coordinate(0), -1.954643, 0.5e-6);
  EXPECT_EQ(plan.doppler_axis.coordinate(64), 0.0);
  // 1 m/s turns the phase by 30.696 degrees from one transmitter to the next, a third of the slow-time step.
  const double cycles_per_step = plan.doppler_step_hz * plan.doppler_axis.index_of(1.0) - plan.doppler_step_hz * 64;
  EXPECT_NEAR(360.0 * cycles_per_step * 162e-6, 30.696, 0.5e-3);
}

TEST(ChainPlan, RealSamplingKeepsHalfTheGatesAndDoublesTheWindow) {
  const CpiShape shape = shape_of(1, 16, 128);
  RawLayout layout = make_contiguous_layout(shape, SampleFormat::float32, IqOrder::real);
  const auto plan = make_chain_plan(worked_fmcw_radar(), layout, shape, bare_config());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->gate_count, 65U);
  EXPECT_NEAR(plan->gate_axis.coordinate(64), 6.244427 / 2, 0.5e-6);
  EXPECT_FLOAT_EQ(plan->range_window[0], 2.0F / 128);
}

TEST(ChainPlan, PulseRangeCountsFromTheStartOfTransmission) {
  const CpiShape shape = shape_of(2, 64, 1000);
  const ChainPlan plan = plan_of(pulse_radar(), shape, bare_config());
  EXPECT_EQ(plan.gate_count, 901U);  // 1000 samples - 100 of the replica + 1
  EXPECT_GE(plan.range_fft_length, 1000U);
  EXPECT_DOUBLE_EQ(plan.gate_axis.coordinate(0), 0.5 * kSpeedOfLight_mps * 20e-6);
  EXPECT_DOUBLE_EQ(plan.gate_axis.step(), 0.5 * kSpeedOfLight_mps / 10e6);
  // 10 GHz at 1 kHz: blind speed 14.98962 m/s, so the axis reaches half of it to both sides; falling phase = opening.
  EXPECT_NEAR(plan.doppler_axis.coordinate(0), 14.98962 / 2, 0.5e-5);
  EXPECT_LT(plan.doppler_axis.step(), 0.0);
}

TEST(ChainPlan, OneWayPathsAndOffsetsMoveBothAxes) {
  const CpiShape shape = shape_of(1, 64, 1000);
  RadarDescription radar = pulse_radar();
  const ChainPlan two_way = plan_of(radar, shape, bare_config());
  radar.propagation_factor = 1.0;
  radar.range_offset_m = -12.5;
  const ChainPlan one_way = plan_of(radar, shape, bare_config());
  EXPECT_DOUBLE_EQ(one_way.gate_axis.step(), 2.0 * two_way.gate_axis.step());
  EXPECT_DOUBLE_EQ(one_way.gate_axis.coordinate(0), 2.0 * two_way.gate_axis.coordinate(0) - 12.5);
  EXPECT_DOUBLE_EQ(one_way.doppler_axis.step(), 2.0 * two_way.doppler_axis.step());
}

TEST(ChainPlan, GatesAreCutToTheRangeAsked) {
  const CpiShape shape = shape_of(1, 16, 128);
  ChainConfig config = bare_config();
  const ChainPlan whole = plan_of(worked_fmcw_radar(), shape, config);
  config.range.min_m = whole.gate_axis.coordinate(10);
  config.range.max_m = whole.gate_axis.coordinate(20) + 0.01;
  const ChainPlan cut = plan_of(worked_fmcw_radar(), shape, config);
  EXPECT_EQ(cut.first_gate, 10U);
  EXPECT_EQ(cut.gate_count, 11U);
  EXPECT_DOUBLE_EQ(cut.gate_axis.coordinate(0), whole.gate_axis.coordinate(10));
}

TEST(ChainPlan, ListedGatesOfProfiledSensorsStayListed) {
  const CpiShape shape = shape_of(1, 16, 4);
  RadarDescription radar = worked_fmcw_radar();
  radar.waveform.kind = WaveformKind::profiled;
  radar.waveform.gate_axis = Axis::listed("range", "m", {0.1, 0.2, 0.4, 0.8});
  radar.range_offset_m = 0.05;
  ChainConfig config = bare_config();
  config.range.max_m = 0.5;
  const ChainPlan plan = plan_of(radar, shape, config);
  EXPECT_EQ(plan.gate_count, 3U);
  EXPECT_DOUBLE_EQ(plan.gate_axis.coordinate(2), 0.45);
  EXPECT_EQ(plan.range_fft_length, 0U);
}

TEST(ChainPlan, CancellersLeaveFewerPulsesButAsManyBins) {
  const CpiShape shape = shape_of(1, 16, 32);
  ChainConfig config = bare_config();
  config.canceller = Canceller::three_pulse;
  const ChainPlan plan = plan_of(worked_fmcw_radar(), shape, config);
  EXPECT_EQ(plan.cancelled_pulse_count, 14U);
  EXPECT_EQ(plan.doppler_window.size(), 14U);
  EXPECT_EQ(plan.doppler_fft_length, 16U);
}

TEST(ChainPlan, AnglesNeedAnArrayAndSayWhyNot) {
  const CpiShape shape = shape_of(2, 16, 32);
  RadarDescription radar = worked_fmcw_radar();
  EXPECT_FALSE(plan_of(radar, shape, ChainConfig{}).angles_possible);
  EXPECT_EQ(plan_of(radar, shape, ChainConfig{}).notes.size(), 1U);
  radar.array = ArrayGeometry::uniform_line(2, 1.9e-3);
  EXPECT_TRUE(plan_of(radar, shape, ChainConfig{}).angles_possible);
}

TEST(ChainPlan, ErrorsNameTheKeyAtFault) {
  const CpiShape shape = shape_of(2, 16, 128);
  const RadarDescription radar = worked_fmcw_radar();
  const auto where = [&](auto&& change) {
    ChainConfig config;
    change(config);
    const Error error = error_of(radar, shape, config);
    EXPECT_EQ(error.kind, ErrorKind::usage) << error.message();
    EXPECT_FALSE(error.remedy.empty()) << error.message();
    return error.where;
  };
  EXPECT_EQ(where([](ChainConfig& c) { c.range.fft_length = 64; }), "range.fft_length");
  EXPECT_EQ(where([](ChainConfig& c) { c.doppler.fft_length = 8; }), "doppler.fft_length");
  EXPECT_EQ(where([](ChainConfig& c) { c.range.min_m = 3, c.range.max_m = 2; }), "range.max_m");
  EXPECT_EQ(where([](ChainConfig& c) { c.range.min_m = 1e6; }), "range.min_m");
  EXPECT_EQ(where([](ChainConfig& c) { c.cfar.pfa = 1.5; }), "cfar.pfa");
  EXPECT_EQ(where([](ChainConfig& c) { c.cfar.pfa = std::nan(""); }), "cfar.pfa");
  EXPECT_EQ(where([](ChainConfig& c) { c.cfar.train_range = c.cfar.train_doppler = 0; }), "cfar.train_range");
  EXPECT_EQ(where([](ChainConfig& c) { c.cfar.axes = CfarAxes::doppler, c.cfar.guard_doppler = 8; }),
            "cfar.train_doppler");
  EXPECT_EQ(where([](ChainConfig& c) { c.covariance.loading = -1; }), "covariance.loading");
  EXPECT_EQ(where([](ChainConfig& c) { c.angle.min_deg = 70; }), "angle.min_deg");
  EXPECT_EQ(where([](ChainConfig& c) { c.angle.step_deg = 0; }), "angle.step_deg");
  EXPECT_EQ(where([](ChainConfig& c) {
              c.range.window = {WindowKind::taylor, WindowForm::automatic, 35, 0};
            }),
            "range.window_taylor_nbar");
}

TEST(ChainPlan, RadarErrorsNameTheParameter) {
  const CpiShape shape = shape_of(2, 16, 128);
  const auto where = [&](RadarDescription radar, auto&& change) {
    change(radar);
    return error_of(radar, shape, ChainConfig{}).where;
  };
  const RadarDescription fmcw = worked_fmcw_radar();
  EXPECT_EQ(where(fmcw, [](RadarDescription& r) { r.waveform.carrier_hz = 0; }), "radar.waveform.carrier_hz");
  EXPECT_EQ(where(fmcw, [](RadarDescription& r) { r.waveform.pri_s = 0; }), "radar.waveform.pri_s");
  EXPECT_EQ(where(fmcw, [](RadarDescription& r) { r.waveform.slope_hz_per_s = 0; }), "radar.waveform.slope_hz_per_s");
  EXPECT_EQ(where(fmcw, [](RadarDescription& r) { r.array = ArrayGeometry::uniform_line(3, 1e-3); }), "radar.array");
  EXPECT_EQ(where(fmcw, [](RadarDescription& r) { r.channel_calibration.resize(3); }), "radar.channel_calibration");
  EXPECT_EQ(where(pulse_radar(), [](RadarDescription& r) { r.waveform.pulse_width_s = 1e-3; }),
            "radar.waveform.pulse_width_s");
  EXPECT_EQ(where(pulse_radar(), [](RadarDescription& r) { r.waveform.replica.resize(10); }), "radar.waveform.replica");
}

TEST(ChainPlan, CancellerErrorGivesTheFigures) {
  ChainConfig config;
  config.canceller = Canceller::three_pulse;
  const Error error = error_of(worked_fmcw_radar(), shape_of(1, 2, 128), config);
  EXPECT_EQ(error.message(), "canceller: three_pulse needs more pulses than the 2 of a CPI; use none, or longer CPIs");
}

}  // namespace
}  // namespace cornerturn
