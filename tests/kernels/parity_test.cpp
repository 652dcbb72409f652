// The CUDA backend against the CPU backend, which is the oracle: the same CPI through both.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include "dsp/math/thread_pool.h"
#include "dsp/stage/cfar.h"
#include "dsp/stage/detection.h"
#include "tests/dsp/chain/chain_helpers.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn {
namespace {

// Each backend may be 2e-6 off the double oracle (relative L2); the errors are independent, so sqrt(2) times that.
constexpr double kFftTolerance = 3e-6;
// A power has twice the relative error of its amplitude.
constexpr double kPowerTolerance = 2.0 * kFftTolerance;
// Levels are good to 1e-5 dB, and a peak's curvature is decibels per bin squared: far below a thousandth of a bin.
constexpr double kBinTolerance = 1e-3;
constexpr double kLevelTolerance_db = 1e-3;
// The adaptive spectrum is peaked as sharply as noise training lets it; its error grows with the matrix' condition.
constexpr double kAngleTolerance_deg = 0.02;
// Alarms this near to their threshold may differ between two roundings.
constexpr double kFlipMargin = 1e-5;

struct Case {
  std::string name;
  WaveformKind kind = WaveformKind::fmcw;
  SampleFormat format = SampleFormat::int16;
  IqOrder order = IqOrder::iq;
  CpiShape shape;
  std::function<void(ChainConfig&, RadarDescription&, RawLayout&)> change;
  std::string memory = "hybrid";
  std::size_t segments = 1;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ChainPlan plan_of(const Case& c) {
  RadarDescription radar = test::worked_fmcw_radar();
  radar.waveform.kind = c.kind;
  if (c.kind == WaveformKind::pulse) {
    radar.waveform.sample_rate_hz = 1e6;
    radar.waveform.carrier_hz = 10e9;
    radar.waveform.bandwidth_hz = 0.8e6;
    radar.waveform.pulse_width_s = 32e-6;
    radar.waveform.pri_s = 1e-3;
    radar.doppler_sign = -1.0;
  } else if (c.kind == WaveformKind::profiled) {
    radar.waveform.gate_axis = Axis::uniform("range", "m", 0.2, 0.01, c.shape.sample_count);
  }
  radar.array = ArrayGeometry::uniform_line(c.shape.channel_count, radar.waveform.wavelength_m() / 2.0);
  RawLayout layout = make_contiguous_layout(c.shape, c.format, c.order);
  ChainConfig config;
  config.cfar.pfa = 1e-4;
  config.covariance.enabled = true;
  if (c.change) c.change(config, radar, layout);
  auto plan = make_chain_plan(radar, layout, c.shape, config);
  if (!plan) throw std::runtime_error(plan.error().message());
  return std::move(*plan);
}

double relative_l2(std::span<const std::complex<float>> a, std::span<const std::complex<float>> b, double norm2 = 0.0) {
  double error2 = 0.0;
  double own2 = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error2 += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    own2 += std::norm(std::complex<double>(a[i]));
  }
  const double reference2 = std::max(own2, norm2);
  return error2 == 0.0 ? 0.0 : std::sqrt(error2 / reference2);
}

double relative_l2(std::span<const float> a, std::span<const float> b) {
  double error2 = 0.0;
  double own2 = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error2 += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    own2 += std::pow(static_cast<double>(a[i]), 2);
  }
  return error2 == 0.0 ? 0.0 : std::sqrt(error2 / own2);
}

double norm2(std::span<const std::complex<float>> values) {
  double sum = 0.0;
  for (const std::complex<float> value : values) sum += std::norm(std::complex<double>(value));
  return sum;
}

using Cell = std::pair<std::int32_t, std::int32_t>;

/// Alarms of a map whose distance from the threshold is within the margin.
std::set<Cell> near_ties(const ChainPlan& plan, const CpiResult& result) {
  CfarDetector detector(plan.config.cfar, {plan.gate_count, plan.doppler_fft_length, plan.shape.channel_count}, 1);
  ThreadPool pool(1);
  AlarmList list(plan.gate_count * plan.doppler_fft_length);
  const auto map = result.find("range_doppler_power")->values<float>();
  detector.process({map.data(), plan.gate_count, plan.doppler_fft_length}, pool, list);
  std::set<Cell> cells;
  for (const CfarAlarm& alarm : list.alarms()) {
    const double factor =
        detector.factor(static_cast<std::size_t>(alarm.gate), static_cast<std::size_t>(alarm.doppler_bin));
    const double ratio = static_cast<double>(alarm.power) / (factor * static_cast<double>(alarm.noise_mean));
    if (ratio < 1.0 + kFlipMargin) cells.insert({alarm.gate, alarm.doppler_bin});
  }
  return cells;
}

void compare_detections(const ChainPlan& plan, const CpiResult& cpu, const CpiResult& gpu) {
  const std::vector<Detection> a = read_detections(cpu);
  const std::vector<Detection> b = read_detections(gpu);
  std::set<Cell> ties = near_ties(plan, cpu);
  ties.merge(near_ties(plan, gpu));
  const auto cell = [](const Detection& d) { return Cell(d.gate, d.doppler_bin); };
  std::size_t flips = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool only_a = j == b.size() || (i < a.size() && cell(a[i]) < cell(b[j]));
    const bool only_b = i == a.size() || (j < b.size() && cell(b[j]) < cell(a[i]));
    if (only_a || only_b) {
      const Cell odd = only_a ? cell(a[i]) : cell(b[j]);
      EXPECT_TRUE(ties.contains(odd)) << "detection at " << odd.first << ", " << odd.second << " only by "
                                      << (only_a ? "cpu" : "cuda");
      ++flips;
      ++(only_a ? i : j);
      continue;
    }
    const Detection& x = a[i++];
    const Detection& y = b[j++];
    EXPECT_NEAR(x.gate_position, y.gate_position, kBinTolerance);
    EXPECT_NEAR(x.doppler_position, y.doppler_position, kBinTolerance);
    EXPECT_NEAR(x.power_db, y.power_db, kLevelTolerance_db);
    EXPECT_NEAR(x.snr_db, y.snr_db, kLevelTolerance_db);
    EXPECT_EQ(x.cell_count, y.cell_count);
    EXPECT_EQ(x.flags, y.flags);
    if ((x.flags & kNoAngle) != 0) continue;
    EXPECT_NEAR(x.azimuth_bartlett_deg, y.azimuth_bartlett_deg, kAngleTolerance_deg);
    EXPECT_NEAR(x.azimuth_deg, y.azimuth_deg, kAngleTolerance_deg);
  }
  ::testing::Test::RecordProperty("flips", static_cast<int>(flips));
  EXPECT_LE(flips, 1U);
}

void compare(const ChainPlan& plan, const CpiResult& cpu, const CpiResult& gpu) {
  const auto complex_of = [](const CpiResult& result, const char* name) {
    return result.find(name)->values<std::complex<float>>();
  };
  const auto profiles = complex_of(cpu, "range_profiles");
  EXPECT_LT(relative_l2(profiles, complex_of(gpu, "range_profiles")), kFftTolerance);
  // Behind a canceller an error is judged against the norm of what went in, as the Doppler transform scales it.
  double window2 = 0.0;
  for (const float weight : plan.doppler_window) window2 += static_cast<double>(weight) * static_cast<double>(weight);
  const double scale =
      static_cast<double>(plan.doppler_fft_length) * window2 / static_cast<double>(plan.doppler_window.size());
  EXPECT_LT(relative_l2(complex_of(cpu, "doppler_cube"), complex_of(gpu, "doppler_cube"), scale * norm2(profiles)),
            kFftTolerance);
  EXPECT_LT(relative_l2(complex_of(cpu, "covariance"), complex_of(gpu, "covariance")), kPowerTolerance);
  EXPECT_LT(
      relative_l2(cpu.find("range_doppler_power")->values<float>(), gpu.find("range_doppler_power")->values<float>()),
      kPowerTolerance);
  EXPECT_EQ(cpu.quality.masked_samples, gpu.quality.masked_samples);
  EXPECT_EQ(cpu.quality.saturated_samples, gpu.quality.saturated_samples);
  EXPECT_EQ(cpu.quality.zero_channels, gpu.quality.zero_channels);
  if (plan.config.cfar.enabled) compare_detections(plan, cpu, gpu);
}

constexpr ProductSet kAll{true, true, true, true, true};

class Parity : public test::Gpu, public ::testing::WithParamInterface<Case> {};

TEST_P(Parity, CudaGivesWhatTheCpuGives) {
  const Case& c = GetParam();
  const ChainPlan plan = plan_of(c);
  auto cpu = make_cpu_backend(plan, {.threads = 2});
  ASSERT_TRUE(cpu) << cpu.error().message();
  const auto gpu = test::gpu_backend(plan, c.memory);
  ASSERT_TRUE(gpu);
  const std::vector<std::byte> raw = test::make_raw_cpi(plan, 7);
  CpiRequest request;
  request.products = kAll;
  request.light = light_parameters(plan.config);

  test::BackendSlot cpu_slot(**cpu, raw);
  const auto expected = (*cpu)->wait((*cpu)->enqueue(cpu_slot.lease_whole(c.shape), request));
  ASSERT_TRUE(expected) << expected.error().message();

  test::BackendSlot slot(*gpu, raw);
  const std::size_t pulse_bytes = raw.size() / c.shape.pulse_count;
  for (int round = 0; round < 2; ++round) {  // the second time nothing is fresh any more
    ReadLease lease = slot.lease_whole(c.shape);
    if (c.segments > 1) {
      slot.slot.cpi.segments.clear();
      for (std::size_t s = 0; s < c.segments; ++s) {
        const std::size_t first = s * c.shape.pulse_count / c.segments;
        const std::size_t count = (s + 1) * c.shape.pulse_count / c.segments - first;
        slot.slot.cpi.segments.push_back(
            {std::span<const std::byte>(slot.slot.memory.host).subspan(first * pulse_bytes, count * pulse_bytes), first,
             count});
      }
      slot.slot.write_state = static_cast<std::uint32_t>(c.segments);
    }
    const auto found = gpu->wait(gpu->enqueue(std::move(lease), request));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_TRUE(slot.recycled);
    compare(plan, (*expected)->result, (*found)->result);
    // The usual products go by another way (a captured graph).
    CpiRequest usual = request;
    usual.products = {true, true, true, false, false};
    const auto again = gpu->wait(gpu->enqueue(slot.lease_whole(c.shape), usual));
    ASSERT_TRUE(again) << again.error().message();
    const auto a = (*found)->result.find("covariance")->values<std::complex<float>>();
    const auto b = (*again)->result.find("covariance")->values<std::complex<float>>();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
    compare_detections(plan, (*expected)->result, (*again)->result);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const CpiShape small{4, 16, 64};
  const auto add = [&](std::string name, CpiShape shape, WaveformKind kind = WaveformKind::fmcw,
                       std::function<void(ChainConfig&, RadarDescription&, RawLayout&)> change = {}) -> Case& {
    Case c;
    c.name = std::move(name);
    c.shape = shape;
    c.kind = kind;
    c.change = std::move(change);
    return all.emplace_back(std::move(c));
  };
  using C = ChainConfig;
  using R = RadarDescription;
  using L = RawLayout;
  for (const char* memory : {"pageable", "pinned", "overlapped", "zero-copy", "zero-copy-wc", "hybrid"}) {
    std::string name = std::string("memory_") + memory;
    std::replace(name.begin(), name.end(), '-', '_');
    add(name, {4, 32, 256}, WaveformKind::pulse, [](C& config, R&, L&) {
      config.canceller = Canceller::three_pulse;
    }).memory = memory;
    add(name + "_segments", {3, 18, 128}).memory = memory;
    all.back().segments = 4;
  }
  for (const SampleFormat format :
       {SampleFormat::int8, SampleFormat::int32, SampleFormat::int12_packed, SampleFormat::uint8, SampleFormat::uint16,
        SampleFormat::uint32, SampleFormat::float32, SampleFormat::float64}) {
    add("format_" + std::string(to_string(format)), small).format = format;
  }
  for (const IqOrder order : {IqOrder::qi, IqOrder::iiqq, IqOrder::qqii, IqOrder::planar_iq, IqOrder::real}) {
    add("order_" + std::string(to_string(order)), {4, 16, 128}).order = order;
  }
  const auto dc = [](C& config, R& radar, L&) {
    config.input.dc_removal = DcRemoval::per_pulse;
    radar.channel_calibration = {{1.0F, 0.1F}, {0.9F, -0.3F}, {1.1F, 0.2F}, {0.5F, 0.5F}};
  };
  add("dc_and_calibration", small, WaveformKind::fmcw, dc);
  add("dc_and_calibration_iiqq", small, WaveformKind::fmcw, dc).order = IqOrder::iiqq;
  add("dc_and_calibration_real", small, WaveformKind::fmcw, dc).order = IqOrder::real;
  add("dc_and_calibration_float", small, WaveformKind::fmcw, dc).format = SampleFormat::float32;
  add("big_endian", small, WaveformKind::fmcw, [](C&, R&, L& layout) { layout.big_endian = true; });
  add("channel_interleaved", small, WaveformKind::fmcw, [](C&, R&, L& layout) {
    layout.pulse_stride = 64 * 4 * 2;
    layout.channel_stride = 2;
    layout.group_stride = 8;
  });
  add("long_lines", {2, 8, 9000});
  add("lines_of_4096", {1, 8, 4096});
  add("lines_of_8192", {1, 8, 8192});
  add("odd_samples", {2, 8, 251});
  // More lines than blocks, more map than one pass of the alarm list counts.
  add("many_lines", {4, 128, 2048});
  add("many_lines_dc_iiqq", {4, 128, 2048}, WaveformKind::fmcw, dc).order = IqOrder::iiqq;
  add("many_lines_copied", {4, 128, 2048}).memory = "overlapped";
  add("padded", small, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.range.fft_length = 160;
    config.doppler.fft_length = 40;
  });
  add("odd_doppler", {4, 15, 64});
  add("cut_gates", {4, 16, 128}, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.range.min_m = 0.5;
    config.range.max_m = 4.0;
  });
  add("mean_canceller", small, WaveformKind::fmcw, [](C& config, R&, L&) { config.canceller = Canceller::mean; });
  add("two_pulse_canceller", small, WaveformKind::pulse,
      [](C& config, R&, L&) { config.canceller = Canceller::two_pulse; });
  add("profiled", {1, 32, 60}, WaveformKind::profiled);
  add("pulse_of_real_samples", {2, 16, 128}, WaveformKind::pulse).order = IqOrder::real;
  // Lines that begin anywhere in a run of 128 bytes, of each way that a matched filter goes.
  for (const char* memory : {"overlapped", "hybrid"}) {
    add(std::string("pulse_lines_of_333_") + memory, {4, 8, 333}, WaveformKind::pulse, dc).memory = memory;
    add(std::string("pulse_lines_of_9000_") + memory, {1, 8, 9000}, WaveformKind::pulse).memory = memory;
    add(std::string("pulse_lines_of_20000_") + memory, {1, 8, 20000}, WaveformKind::pulse).memory = memory;
  }
  add("pulse_cut_gates", {2, 8, 700}, WaveformKind::pulse, [](C& config, R&, L&) {
    config.range.min_m = 20e3;
    config.range.max_m = 70e3;
  }).memory = "overlapped";
  add("many_channels", {33, 16, 64});
  add("more_matrix_than_a_block", {64, 8, 32});
  add("covariance_options", {5, 24, 64}, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.covariance.forward_backward = true;
    config.covariance.loading = 0.05;
  });
  add("cfar_range", {2, 32, 256}, WaveformKind::fmcw, [](C& config, R&, L&) { config.cfar.axes = CfarAxes::range; });
  add("cfar_doppler_without_wrap", {2, 64, 64}, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.cfar.axes = CfarAxes::doppler;
    config.cfar.doppler_wraps = false;
  });
  add("no_grouping", small, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.grouping.enabled = false;
    config.cfar.pfa = 1e-2;
  });
  add("more_peaks_than_detections", {4, 64, 256}, WaveformKind::fmcw, [](C& config, R&, L&) {
    config.grouping.max_detections = 20;
    config.cfar.pfa = 5e-2;
  });
  return all;
}

TEST(ParityTable, EveryCaseRunsOnTheCpu) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const ChainPlan plan = plan_of(c);
    auto cpu = make_cpu_backend(plan, {.threads = 1});
    ASSERT_TRUE(cpu);
    test::BackendSlot slot(**cpu, test::make_raw_cpi(plan, 7));
    CpiRequest request;
    request.products = kAll;
    request.light = light_parameters(plan.config);
    const auto result = (*cpu)->wait((*cpu)->enqueue(slot.lease_whole(c.shape), request));
    ASSERT_TRUE(result);
    EXPECT_TRUE(plan.radar.waveform.kind == WaveformKind::profiled || !read_detections((*result)->result).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Parity, ::testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace cornerturn
