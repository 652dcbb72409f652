#include "src/capture/radar_check.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace cornerturn {
namespace {

bool finite(std::complex<float> value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

tl::unexpected<Error> fault(const std::string& where, std::string_view name, const std::string& what) {
  return input_error(where, fmt::format("{} {}", name, what), "correct the file, or describe the radar in a sidecar");
}

}  // namespace

Expected<void> check_radar(const std::string& where, const RadarDescription& radar, const CpiShape& shape) {
  const Waveform& waveform = radar.waveform;
  const std::array<std::pair<const char*, double>, 11> numbers{{{"carrier_hz", waveform.carrier_hz},
                                                                {"sample_rate_hz", waveform.sample_rate_hz},
                                                                {"pri_s", waveform.pri_s},
                                                                {"slope_hz_per_s", waveform.slope_hz_per_s},
                                                                {"bandwidth_hz", waveform.bandwidth_hz},
                                                                {"pulse_width_s", waveform.pulse_width_s},
                                                                {"receive_start_s", waveform.receive_start_s},
                                                                {"range_offset_m", radar.range_offset_m},
                                                                {"propagation_factor", radar.propagation_factor},
                                                                {"full_scale_counts", radar.full_scale_counts},
                                                                {"steering_sign", radar.array.steering_sign}}};
  for (const auto& [name, value] : numbers)
    if (!std::isfinite(value)) return fault(where, name, "is not a finite number");
  if (waveform.carrier_hz <= 0.0) return fault(where, "carrier_hz", "is not above 0");
  if (waveform.pri_s <= 0.0) return fault(where, "pri_s", "is not above 0");
  if (waveform.kind != WaveformKind::profiled && waveform.sample_rate_hz <= 0.0)
    return fault(where, "sample_rate_hz", "is not above 0");
  if (waveform.kind == WaveformKind::fmcw && waveform.slope_hz_per_s == 0.0)
    return fault(where, "slope_hz_per_s", "is 0");
  if (waveform.kind == WaveformKind::pulse && waveform.replica.empty() && waveform.pulse_width_s <= 0.0)
    return fault(where, "pulse_width_s", "is not above 0, and there is no replica");
  for (const std::complex<float> value : waveform.replica)
    if (!finite(value)) return fault(where, "replica", "holds a value that is not finite");
  if (waveform.kind == WaveformKind::profiled &&
      (!waveform.gate_axis || waveform.gate_axis->count() != shape.sample_count))
    return fault(where, "gate_range_m",
                 fmt::format("does not list one range for each of {} samples", shape.sample_count));
  if (std::abs(radar.doppler_sign) != 1.0) return fault(where, "doppler_sign", "is neither 1 nor -1");
  if (std::abs(radar.array.steering_sign) != 1.0) return fault(where, "steering_sign", "is neither 1 nor -1");
  if (radar.propagation_factor <= 0.0 || radar.propagation_factor > 1.0)
    return fault(where, "propagation_factor", "is not above 0 and at most 1");
  const std::size_t channels = shape.channel_count;
  if (!radar.array.elements.empty() && radar.array.elements.size() != channels)
    return fault(where, "element_position_m",
                 fmt::format("has {} positions for {} channels", radar.array.elements.size(), channels));
  for (const ArrayGeometry::Element& element : radar.array.elements)
    if (!std::isfinite(element.x_m) || !std::isfinite(element.y_m) || !std::isfinite(element.z_m))
      return fault(where, "element_position_m", "holds a value that is not finite");
  if (!radar.channel_calibration.empty() && radar.channel_calibration.size() != channels)
    return fault(where, "channel_calibration",
                 fmt::format("has {} factors for {} channels", radar.channel_calibration.size(), channels));
  for (const std::complex<float> value : radar.channel_calibration)
    if (!finite(value)) return fault(where, "channel_calibration", "holds a value that is not finite");
  return {};
}

}  // namespace cornerturn
