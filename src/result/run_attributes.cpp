#include "src/result/run_attributes.h"

#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "src/support/hdf5.h"

namespace cornerturn {
namespace {

void write_text(hid_t group, const char* name, const std::string& text) {
  if (!text.empty()) h5::write_attribute(group, name, std::string_view(text));
}

/// Parameters that this kind of waveform does not have stay out of the file.
void write_if_set(hid_t group, const char* name, double value) {
  if (value != 0.0) h5::write_attribute(group, name, value);
}

void write_radar(hid_t group, const ChainPlan& plan) {
  const RadarDescription& radar = plan.radar;
  const Waveform& waveform = radar.waveform;
  write_text(group, "sensor", radar.sensor);
  write_text(group, "waveform", std::string(to_string(waveform.kind)));
  write_if_set(group, "carrier_hz", waveform.carrier_hz);
  write_if_set(group, "sample_rate_hz", waveform.sample_rate_hz);
  write_if_set(group, "pri_s", waveform.pri_s);
  write_if_set(group, "slope_hz_per_s", waveform.slope_hz_per_s);
  write_if_set(group, "bandwidth_hz", waveform.bandwidth_hz);
  write_if_set(group, "pulse_width_s", waveform.pulse_width_s);
  write_if_set(group, "full_scale_counts", radar.full_scale_counts);
  h5::write_attribute(group, "range_offset_m", radar.range_offset_m);
  h5::write_attribute(group, "propagation_factor", radar.propagation_factor);
  h5::write_attribute(group, "doppler_sign", radar.doppler_sign);
  h5::write_attribute(group, "steering_sign", radar.array.steering_sign);
  h5::write_attribute(group, "channel_count", static_cast<std::int32_t>(plan.shape.channel_count));
  h5::write_attribute(group, "pulse_count", static_cast<std::int32_t>(plan.shape.pulse_count));
  h5::write_attribute(group, "sample_count", static_cast<std::int32_t>(plan.shape.sample_count));
}

}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void write_run_attributes(hid_t group, const RunDescription& run) {
  const std::string capture = std::filesystem::path(run.capture_path).filename().string();
  write_text(group, "Conventions", "CF-1.8");
  write_text(group, "title", "Radar results of " + (capture.empty() ? "a live source" : capture));
  write_text(group, "source", "cornerturn " + run.program_version);
  write_text(group, "history",
             fmt::format("{} cornerturn {}: processed {}", utc_now(), run.program_version,
                         capture.empty() ? "a live source" : capture));
  write_text(group, "result_format", "cornerturn-result 1");
  write_text(group, "cornerturn_version", run.program_version);
  h5::write_attribute(group, "configuration_version", static_cast<std::int32_t>(run.configuration_version));
  write_text(group, "configuration_toml", run.chain_toml);
  write_text(group, "chain_summary", run.chain_summary);
  write_text(group, "capture_path", run.capture_path);
  write_text(group, "capture_format", run.capture_format);
  write_text(group, "capture_hash", run.capture_hash);
  write_if_set(group, "cpi_period_s", run.cpi_period_s);
  write_text(group, "backend", run.backend.name);
  write_text(group, "backend_device", run.backend.device);
  write_text(group, "memory_strategy", run.backend.strategy);
  if (run.plan) write_radar(group, *run.plan);
  write_text(group, "range_rate_convention", "positive = opening, the range grows");
  write_text(group, "azimuth_convention", "from boresight, positive towards the array's +x");
  write_text(group, "level_convention",
             "power = |z|^2 in counts squared; an on-bin tone of amplitude A counts reads A^2; dB = 10 log10(power)");
}

}  // namespace cornerturn
