#include "dsp/chain/chain_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dsp/chain/config_checks.h"
#include "dsp/chain/product_catalogue.h"
#include "dsp/stage/canceller.h"
#include "dsp/stage/matched_filter.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

// Weights over their sum: an on-bin tone of amplitude A reads A under every window.
Expected<std::vector<float>> unit_response_window(const std::string& key, const WindowSpec& spec, std::size_t count,
                                                  double gain) {
  const std::vector<double> weights = make_window(spec, count);
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  if (!(sum > 1e-9 * static_cast<double>(count)))
    return usage_error(key, "the weights of a window of " + std::to_string(count) + " points sum to nothing",
                       "use the periodic form or another window");
  std::vector<float> scaled(count);
  std::transform(weights.begin(), weights.end(), scaled.begin(),
                 [&](double weight) { return static_cast<float>(gain * weight / sum); });
  return scaled;
}

// w r / sum(w |r|^2): an echo of the replica with amplitude A reads A.
Expected<std::vector<std::complex<float>>> unit_response_replica(const Waveform& waveform, const WindowSpec& spec) {
  std::vector<std::complex<float>> replica =
      waveform.replica.empty()
          ? make_lfm_replica(waveform.bandwidth_hz, waveform.pulse_width_s, waveform.sample_rate_hz)
          : waveform.replica;
  const std::vector<double> weights = make_window(spec, replica.size());
  double response = 0.0;
  double energy = 0.0;
  for (std::size_t i = 0; i < replica.size(); ++i) {
    response += weights[i] * std::norm(std::complex<double>(replica[i]));
    energy += std::norm(std::complex<double>(replica[i]));
  }
  if (!(response > 1e-9 * energy))
    return usage_error("range.window",
                       "the weights leave nothing of a replica of " + std::to_string(replica.size()) + " samples",
                       "use the periodic form or another window");
  for (std::size_t i = 0; i < replica.size(); ++i)
    replica[i] = std::complex<float>(std::complex<double>(replica[i]) * (weights[i] / response));
  return replica;
}

// Range of each output of the range stage, before gates are cut.
Axis full_gate_axis(const ChainPlan& plan, std::size_t count) {
  const RadarDescription& radar = plan.radar;
  const Waveform& waveform = radar.waveform;
  switch (waveform.kind) {
    case WaveformKind::fmcw: {
      // A path of length d beats at |S| d / c; gate k at k fs / L.
      const double beat_step_hz = waveform.sample_rate_hz / static_cast<double>(plan.range_fft_length);
      const double step_m =
          radar.propagation_factor * kSpeedOfLight_mps * beat_step_hz / std::abs(waveform.slope_hz_per_s);
      return Axis::uniform("range", "m", radar.range_offset_m, step_m, count);
    }
    case WaveformKind::pulse: {
      const double metres_per_second = radar.propagation_factor * kSpeedOfLight_mps;
      return Axis::uniform("range", "m", metres_per_second * waveform.receive_start_s + radar.range_offset_m,
                           metres_per_second / waveform.sample_rate_hz, count);
    }
    case WaveformKind::profiled:
      break;
  }
  const Axis& given = *waveform.gate_axis;
  if (given.is_uniform())
    return Axis::uniform("range", "m", given.coordinate(0.0) + radar.range_offset_m, given.step(), count);
  std::vector<double> ranges_m = given.coordinates();
  for (double& range_m : ranges_m) range_m += radar.range_offset_m;
  return Axis::listed("range", "m", std::move(ranges_m));
}

// Keeps the gates inside [min_m, max_m].
Expected<void> cut_gates(ChainPlan& plan, const Axis& all) {
  const ChainConfig::Range& range = plan.config.range;
  const double slack_m = 1e-9 * std::abs(all.step());  // a limit on a gate keeps the gate in spite of rounding
  const double max_m = range.max_m == 0.0 ? HUGE_VAL : range.max_m + slack_m;
  const double min_m = range.min_m == 0.0 && range.max_m == 0.0 ? -HUGE_VAL : range.min_m - slack_m;
  std::size_t first = all.count();
  std::size_t last = 0;
  for (std::size_t gate = 0; gate < all.count(); ++gate) {
    const double range_m = all.coordinate(static_cast<double>(gate));
    if (range_m < min_m || range_m > max_m) continue;
    first = std::min(first, gate);
    last = gate;
  }
  if (first == all.count())
    return usage_error(range.max_m == 0.0 ? "range.min_m" : "range.max_m",
                       "no gate lies inside; the gates reach from " + figure(all.coordinate(0.0)) + " to " +
                           figure(all.coordinate(static_cast<double>(all.count() - 1))) + " m",
                       "widen the limits");
  plan.first_gate = first;
  plan.gate_count = last - first + 1;
  plan.gate_axis = all.slice(first, plan.gate_count);
  return {};
}

Expected<void> plan_range(ChainPlan& plan) {
  const Waveform& waveform = plan.radar.waveform;
  const WindowSpec& window = plan.config.range.window;
  std::size_t outputs = plan.shape.sample_count;
  if (waveform.kind == WaveformKind::fmcw) {
    const std::size_t length = plan.config.range.fft_length;
    plan.range_fft_length = length == 0 ? plan.shape.sample_count : length;
    // Real sampling: half of a cosine's amplitude lies at the negative frequency that is not kept.
    const bool real = !plan.layout.complex_samples;
    auto weights = unit_response_window("range.window", window, plan.shape.sample_count, real ? 2.0 : 1.0);
    if (!weights) return unexpected(weights.error());
    plan.range_window = std::move(*weights);
    outputs = real ? plan.range_fft_length / 2 + 1 : plan.range_fft_length;
  } else if (waveform.kind == WaveformKind::pulse) {
    auto replica = unit_response_replica(waveform, window);
    if (!replica) return unexpected(replica.error());
    plan.matched_replica = std::move(*replica);
    plan.range_fft_length = MatchedFilter::fft_length(plan.shape.sample_count);
    outputs = plan.shape.sample_count - plan.matched_replica.size() + 1;
  }
  return cut_gates(plan, full_gate_axis(plan, outputs));
}

Expected<void> plan_slow_time(ChainPlan& plan) {
  const RadarDescription& radar = plan.radar;
  plan.cancelled_pulse_count = PulseCanceller::output_count(plan.config.canceller, plan.shape.pulse_count);
  plan.doppler_fft_length =
      plan.config.doppler.fft_length == 0 ? plan.shape.pulse_count : plan.config.doppler.fft_length;
  auto weights = unit_response_window("doppler.window", plan.config.doppler.window, plan.cancelled_pulse_count, 1.0);
  if (!weights) return unexpected(weights.error());
  plan.doppler_window = std::move(*weights);

  plan.doppler_step_hz = 1.0 / (static_cast<double>(plan.doppler_fft_length) * radar.waveform.pri_s);
  const double step_mps =
      radar.doppler_sign * radar.propagation_factor * radar.waveform.wavelength_m() * plan.doppler_step_hz;
  const std::size_t zero_bin = plan.doppler_fft_length / 2;
  plan.doppler_axis = Axis::uniform("range_rate", "m s-1", 0.0 - static_cast<double>(zero_bin) * step_mps, step_mps,
                                    plan.doppler_fft_length);
  plan.pulse_axis = Axis::uniform("time", "s", 0.0, radar.waveform.pri_s, plan.shape.pulse_count);
  plan.channel_axis = Axis::index("channel", plan.shape.channel_count);
  return {};
}

void plan_angles(ChainPlan& plan) {
  const auto& elements = plan.radar.array.elements;
  if (!plan.config.angle.enabled || !plan.config.cfar.enabled) return;
  if (plan.shape.channel_count < 2) {
    plan.notes.push_back("no angles: one channel");
  } else if (elements.empty()) {
    plan.notes.push_back("no angles: the array geometry is not known");
  } else if (std::all_of(elements.begin(), elements.end(),
                         [&](const auto& element) { return element.x_m == elements.front().x_m; })) {
    plan.notes.push_back("no azimuths: all elements stand at the same x");
  } else {
    plan.angles_possible = true;
  }
}

}  // namespace

std::size_t ChainPlan::work_bytes() const {
  const std::size_t cells = gate_count * doppler_fft_length;
  const std::size_t cube = cells * shape.channel_count * sizeof(std::complex<float>);
  const std::size_t map = cells * sizeof(float);
  return cube + map + (config.cfar.enabled ? detection_work_bytes(*this) : 0);
}

std::size_t ChainPlan::result_bytes(const ProductSet& products) const {
  std::size_t bytes = 0;
  for (const ProductKind kind : kProductKinds)
    if (is_wanted(products, kind)) bytes += product_bytes(*this, kind);
  return bytes;
}

Expected<ChainPlan> make_chain_plan(const RadarDescription& radar, const RawLayout& layout, const CpiShape& shape,
                                    const ChainConfig& config) {
  if (auto bytes = required_bytes(layout, shape); !bytes) {
    Error error = bytes.error();
    error.where = "layout";
    return unexpected(std::move(error));
  }
  if (auto ok = check_radar(radar, shape); !ok) return unexpected(ok.error());
  if (auto ok = check_config(config, radar, shape); !ok) return unexpected(ok.error());

  ChainPlan plan;
  plan.radar = radar;
  plan.layout = layout;
  plan.shape = shape;
  plan.config = config;
  if (auto ok = plan_range(plan); !ok) return unexpected(ok.error());
  if (auto ok = plan_slow_time(plan); !ok) return unexpected(ok.error());
  if (auto ok = check_cfar_window(config.cfar, plan.gate_count, plan.doppler_fft_length); !ok)
    return unexpected(ok.error());
  plan_angles(plan);
  return plan;
}

}  // namespace cornerturn
