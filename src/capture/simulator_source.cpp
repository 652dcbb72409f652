#include "src/capture/simulator_source.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dsp/chain/write_lease.h"
#include "dsp/simulate/echo_simulator.h"
#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"
#include "src/config/scene_toml.h"

namespace cornerturn {
namespace {

constexpr std::string_view kScheme = "sim://";

using Clock = std::chrono::steady_clock;

std::string describe_waveform(const Scene& scene) {
  const Waveform& waveform = scene.radar.waveform;
  if (waveform.kind == WaveformKind::fmcw)
    return fmt::format("FMCW at {:.6g} GHz, slope {:.6g} MHz/us, {} samples at {:.6g} MHz, PRI {:.6g} us",
                       waveform.carrier_hz / 1e9, waveform.slope_hz_per_s / 1e12,
                       scene.complex_samples ? "complex" : "real", waveform.sample_rate_hz / 1e6, waveform.pri_s * 1e6);
  return fmt::format("LFM pulse at {:.6g} GHz, {:.6g} MHz in {:.6g} us, complex samples at {:.6g} MHz, PRI {:.6g} us",
                     waveform.carrier_hz / 1e9, waveform.bandwidth_hz / 1e6, pulse_width_s(waveform) * 1e6,
                     waveform.sample_rate_hz / 1e6, waveform.pri_s * 1e6);
}

CaptureInfo describe(const Scene& scene, const EchoSimulator& simulator, std::string path,
                     const SimulatorOptions& options, std::size_t cpi_count) {
  CaptureInfo info;
  info.path = std::move(path);
  info.format = "simulated";
  info.understood = {
      fmt::format("scene \"{}\", seed {}: {} targets{}", scene.name, scene.seed, scene.targets.size(),
                  has_clutter(scene) ? fmt::format(", clutter {:.6g} dB over noise", scene.clutter.cnr_db) : ""),
      describe_waveform(scene),
      fmt::format("{} channels x {} pulses x {} samples a CPI", scene.shape.channel_count, scene.shape.pulse_count,
                  scene.shape.sample_count),
      options.paced ? fmt::format("live, a CPI each {:.6g} ms", simulator.cpi_period_s() * 1e3)
                    : "as fast as it is taken"};
  info.radar = scene.radar;
  if (info.radar.full_scale_counts == 0.0) info.radar.full_scale_counts = std::ldexp(1.0, scene.receiver.adc_bits - 1);
  info.layout = simulator.layout();
  info.shape = scene.shape;
  info.slot_bytes = simulator.cpi_bytes();
  info.cpi_count = cpi_count;
  info.cpi_period_s = simulator.cpi_period_s();
  info.live = options.paced;
  if (has_clutter(scene)) info.suggested_chain.canceller = Canceller::three_pulse;
  if (scene.receiver.dc_i_counts != 0.0 || scene.receiver.dc_q_counts != 0.0)
    info.suggested_chain.input.dc_removal = DcRemoval::per_pulse;
  info.truth = scene.targets;
  return info;
}

class SimulatorSource final : public CaptureSource {
 public:
  SimulatorSource(Scene scene, std::string path, const SimulatorOptions& options)
      : simulator_(std::move(scene)),
        cpi_count_(options.cpi_count.value_or(simulator_.scene().cpi_count)),
        info_(describe(simulator_.scene(), simulator_, std::move(path), options, cpi_count_)) {}

  const CaptureInfo& info() const override { return info_; }
  Expected<Fill> fill(WriteLease& slot) override;
  Expected<void> seek(std::size_t cpi_index) override;
  void request_stop() override;

 private:
  /// False when a stop was requested.
  bool wait_until_received(std::uint64_t cpi_index);

  EchoSimulator simulator_;
  std::size_t cpi_count_;  // 0: endless
  CaptureInfo info_;
  std::uint64_t next_cpi_ = 0;
  std::optional<Clock::time_point> start_;  // of CPI 0
  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stop_requested_ = false;  // under mutex_
};

Expected<CaptureSource::Fill> SimulatorSource::fill(WriteLease& slot) {
  if (cpi_count_ != 0 && next_cpi_ >= cpi_count_) return Fill::end;
  CORNERTURN_REQUIRE(slot.memory().size() >= info_.slot_bytes);
  const std::span<std::byte> bytes = slot.memory().first(info_.slot_bytes);
  simulator_.fill(next_cpi_, {reinterpret_cast<std::int16_t*>(bytes.data()), bytes.size() / sizeof(std::int16_t)});
  if (!wait_until_received(next_cpi_)) return Fill::end;
  CpiHeader& header = slot.header();
  header.index = next_cpi_;
  header.start_time_s = static_cast<double>(next_cpi_) * info_.cpi_period_s;
  header.sensor_time_s = std::numeric_limits<double>::quiet_NaN();
  header.gaps.clear();
  slot.set_segment_count(1);
  slot.publish_segment({bytes, 0, info_.shape.pulse_count});
  ++next_cpi_;
  return Fill::filled;
}

bool SimulatorSource::wait_until_received(std::uint64_t cpi_index) {
  std::unique_lock lock(mutex_);
  if (!info_.live) return !stop_requested_;
  const auto seconds = [](double value) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
  };
  const double cpi_s = static_cast<double>(info_.shape.pulse_count) * info_.radar.waveform.pri_s;
  const double end_s = static_cast<double>(cpi_index) * info_.cpi_period_s + cpi_s;
  if (!start_) start_ = Clock::now();
  // A simulator that cannot keep up goes on from where it is, instead of delivering what it owes in one burst.
  const Clock::time_point now = Clock::now();
  if (now > *start_ + seconds(end_s + info_.cpi_period_s)) start_ = now - seconds(end_s);
  return !stop_changed_.wait_until(lock, *start_ + seconds(end_s), [this] { return stop_requested_; });
}

Expected<void> SimulatorSource::seek(std::size_t cpi_index) {
  if (info_.live)
    return usage_error(info_.path, "a live source has no CPIs to go back to",
                       "add ?fast to read the simulator like a file");
  if (cpi_count_ != 0 && cpi_index >= cpi_count_)
    return usage_error(info_.path, fmt::format("CPI {} does not exist, there are {}", cpi_index, cpi_count_),
                       fmt::format("use 0 to {}", cpi_count_ - 1));
  next_cpi_ = cpi_index;
  return {};
}

void SimulatorSource::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_requested_ = true;
  }
  stop_changed_.notify_all();
}

Expected<void> apply_option(const std::string& uri, std::string_view option, SimulatorOptions& options) {
  constexpr std::string_view kCpis = "cpis=";
  if (option == "fast") {
    options.paced = false;
    return {};
  }
  if (option.starts_with(kCpis)) {
    const std::string_view digits = option.substr(kCpis.size());
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error == std::errc() && end == digits.data() + digits.size()) {
      options.cpi_count = count;
      return {};
    }
  }
  return usage_error(uri, fmt::format("'{}' is no option of the simulator", option),
                     "use fast or cpis=N (0: endless), joined by &");
}

}  // namespace

bool is_simulator_uri(std::string_view uri) { return uri.starts_with(kScheme); }

Expected<std::unique_ptr<CaptureSource>> open_simulator(const std::string& uri) {
  if (!is_simulator_uri(uri)) return usage_error(uri, "is no simulator", "write sim://SCENE.toml");
  const std::string_view rest = std::string_view(uri).substr(kScheme.size());
  const std::size_t mark = rest.find('?');
  const std::string path(rest.substr(0, mark));
  SimulatorOptions options{true, std::nullopt};
  std::string_view words = mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
  while (!words.empty()) {
    const std::size_t end = words.find('&');
    if (auto applied = apply_option(uri, words.substr(0, end), options); !applied) return unexpected(applied.error());
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
  Expected<Scene> scene = path.empty() ? Expected<Scene>(default_scene()) : load_scene(path);
  if (!scene) return unexpected(scene.error());
  return make_simulator_source(std::move(*scene), uri, options);
}

std::unique_ptr<CaptureSource> make_simulator_source(Scene scene, std::string path, const SimulatorOptions& options) {
  return std::make_unique<SimulatorSource>(std::move(scene), std::move(path), options);
}

}  // namespace cornerturn
