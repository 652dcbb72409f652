#include <utility>

#include <fmt/format.h>

#include "src/capture/array_source.h"
#include "src/capture/capture_format.h"
#include "src/capture/radar_tables.h"
#include "src/capture/raw_size.h"
#include "src/config/chain_toml.h"

namespace cornerturn {
namespace {

/// The table [ti] of a sidecar, named after what mmWave Studio and the SDK call profile, chirp and frame.
struct TiProfile {
  std::size_t samples = 0;
  std::size_t rx_count = 4;
  std::size_t tx_count = 1;
  std::size_t chirps_per_frame = 1;
  std::size_t frame_count = 0;
  bool complex_samples = true;
  IqOrder iq_order = IqOrder::iiqq;
  double start_hz = 0.0;
  double slope_hz_per_s = 0.0;
  double sample_rate_hz = 0.0;
  double adc_start_s = 0.0;
  double idle_s = 0.0;
  double ramp_end_s = 0.0;
  double frame_period_s = 0.0;
};

TiProfile read_profile(TomlReader& ti) {
  constexpr double kMostSamples = 65536.0;  // far above any device, far below an overflow of the product
  constexpr double kMostOthers = 1e7;
  const auto count = [&](std::string_view key, std::size_t fallback, double most) {
    return ti.size(key, fallback, {1.0, most});
  };
  TiProfile profile;
  profile.samples = static_cast<std::size_t>(ti.required_integer("samples", {1.0, kMostSamples}));
  profile.rx_count = count("rx_count", 4, 64.0);
  profile.tx_count = count("tx_count", 1, 64.0);
  profile.chirps_per_frame = count("chirps_per_frame", 1, kMostOthers);
  profile.frame_count = ti.size("frame_count", 0, {0.0, kMostOthers});
  profile.complex_samples = ti.flag("complex", true);
  profile.iq_order = ti.choice<IqOrder>("iq_order", IqOrder::iiqq, parse_iq_order);
  if (profile.iq_order == IqOrder::real) ti.fail("iq_order", "real is no order", "write complex = false");
  profile.start_hz = ti.required_number("start_hz", kPositive);
  profile.slope_hz_per_s = ti.required_number("slope_hz_per_s", kPositive);
  profile.sample_rate_hz = ti.required_number("sample_rate_hz", kPositive);
  profile.adc_start_s = ti.number("adc_start_s", 0.0, kNotNegative);
  profile.idle_s = ti.required_number("idle_s", kNotNegative);
  profile.ramp_end_s = ti.required_number("ramp_end_s", kPositive);
  profile.frame_period_s = ti.number("frame_period_s", 0.0, kPositive);
  if (profile.chirps_per_frame == 1 && !ti.has("frame_period_s"))
    ti.fail("frame_period_s", "is missing", "with one chirp per frame it is the step of slow time");
  const double sampled_end_s = profile.adc_start_s + static_cast<double>(profile.samples) / profile.sample_rate_hz;
  if (sampled_end_s > profile.ramp_end_s * 1.000001)
    ti.fail("samples",
            fmt::format("end {:.6g} s after the start of a ramp of {:.6g} s", sampled_end_s, profile.ramp_end_s),
            "correct samples, sample_rate_hz, adc_start_s or ramp_end_s");
  return profile;
}

RadarDescription radar_of(const TiProfile& profile) {
  RadarDescription radar;
  radar.sensor = "TI mmWave radar";
  radar.doppler_sign = 1.0;  // behind TI's mixer the phase of an opening target grows
  radar.full_scale_counts = 32768.0;
  Waveform& waveform = radar.waveform;
  waveform.kind = WaveformKind::fmcw;
  waveform.slope_hz_per_s = profile.slope_hz_per_s;
  waveform.sample_rate_hz = profile.sample_rate_hz;
  waveform.carrier_hz = mid_ramp_carrier_hz(profile.start_hz, profile.slope_hz_per_s, profile.adc_start_s,
                                            profile.sample_rate_hz, profile.samples);
  waveform.pri_s = profile.chirps_per_frame == 1
                       ? profile.frame_period_s
                       : static_cast<double>(profile.tx_count) * (profile.idle_s + profile.ramp_end_s);
  return radar;
}

}  // namespace

// Per chirp all samples of RX 0, then RX 1 ...; words of complex samples in groups of four: I0 I1 Q0 Q1 by default,
// other orders depend on the tool that wrote the file (SDK demo: qqii, reorderEnable: iq or qi).
Expected<std::unique_ptr<CaptureSource>> open_ti_2lane(const CaptureRequest& request) {
  if (request.sidecar == nullptr)
    return input_error(request.path, "has no sidecar", "describe it in " + sidecar_path(request.path));
  TomlReader& root = request.sidecar->reader;
  TomlReader ti = root.table("ti");
  const TiProfile profile = read_profile(ti);
  TomlReader cpi = root.table("cpi");
  ArrayMeaning meaning;
  meaning.pulses_per_cpi = request.options.pulses_per_cpi != 0 ? request.options.pulses_per_cpi : cpi.size("pulses", 0);
  CaptureInfo info;
  info.path = request.path;
  info.format = "TI 2-lane .bin";
  if (auto done = root.check(); !done) return unexpected(done.error());
  info.radar = radar_of(profile);
  read_radar_table(root, info.radar);
  read_array_table(root, info.radar, profile.rx_count * profile.tx_count);
  ChainSettings chain;
  TomlReader chain_table = root.table("chain");
  read_chain_table(chain_table, chain);
  if (auto done = root.finish(); !done) return unexpected(done.error());
  info.suggested_chain = chain.config;

  meaning.axes = {AxisRole::frame, AxisRole::pulse, AxisRole::tx, AxisRole::channel, AxisRole::sample};
  meaning.iq_order = profile.complex_samples ? request.options.iq_order.value_or(profile.iq_order) : IqOrder::real;
  auto raw = open_raw_array(request.path, ArrayElement{},
                            {profile.frame_count, profile.chirps_per_frame, profile.tx_count, profile.rx_count,
                             profile.samples * (profile.complex_samples ? 2 : 1)},
                            0);
  if (!raw) return unexpected(raw.error());
  info.doubts = std::move(raw->doubts);
  auto cut = make_cpi_cut(raw->array->element(), raw->array->shape(), raw->array->storage_order(), meaning);
  if (!cut) {
    Error error = cut.error();
    const bool iq = error.where == "samples.iq";
    error.where = iq ? ti.where("iq_order") : cpi.where("pulses");
    return unexpected(error);
  }
  info.understood.push_back("profile and array from " + request.sidecar->path);
  info.understood.push_back(fmt::format("words of complex samples in the order {}", to_string(*meaning.iq_order)));
  CpiTimes times;
  times.frame_period_s = profile.frame_period_s;
  times.pri_s = info.radar.waveform.pri_s;
  std::vector<std::unique_ptr<ArrayFile>> arrays;
  arrays.push_back(std::move(raw->array));
  return std::unique_ptr<CaptureSource>(
      std::make_unique<ArraySource>(std::move(arrays), std::move(*cut), std::move(times), std::move(info)));
}

}  // namespace cornerturn
