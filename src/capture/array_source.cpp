#include "src/capture/array_source.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "dsp/chain/write_lease.h"

namespace cornerturn {
namespace {

std::string words(const std::vector<AxisRole>& axes) {
  std::string text;
  for (const AxisRole role : axes) text += (text.empty() ? "" : ", ") + std::string(to_string(role));
  return text;
}

std::string describe_iq(const RawLayout& layout) {
  if (!layout.complex_samples) return "real samples";
  return layout.i_offset <= layout.q_offset ? "complex samples, I before Q" : "complex samples, Q before I";
}

}  // namespace

ArraySource::ArraySource(std::vector<std::unique_ptr<ArrayFile>> arrays, CpiCut cut, CpiTimes times, CaptureInfo info)
    : arrays_(std::move(arrays)), cut_(std::move(cut)), times_(std::move(times)), info_(std::move(info)) {
  info_.layout = cut_.layout;
  info_.shape = cut_.shape;
  info_.slot_bytes = cut_.slot_bytes();
  info_.cpi_count = cut_.cpi_count;
  if (times_.frame_period_s <= 0.0) times_.frame_period_s = times_.pri_s * static_cast<double>(cut_.pulses_per_frame);
  info_.cpi_period_s = cut_.shape.pulse_count < cut_.pulses_per_frame
                           ? times_.pri_s * static_cast<double>(cut_.shape.pulse_count)
                           : times_.frame_period_s * static_cast<double>(cut_.frames_per_cpi);

  const ArrayFile& array = *arrays_.front();
  info_.understood.push_back(
      fmt::format("samples: {} ({}), {}", describe_shape(array.shape()), words(cut_.axes), array.describe()));
  info_.understood.push_back(
      describe_iq(cut_.layout) +
      (cut_.layout.zero_level == 0.0 ? std::string() : fmt::format(", code {} means zero", cut_.layout.zero_level)));
  info_.understood.push_back(fmt::format("{} CPIs of {} pulses x {} channels x {} samples", cut_.cpi_count,
                                         cut_.shape.pulse_count, cut_.shape.channel_count, cut_.shape.sample_count));
  if (cut_.left_over_pulses > 0)
    info_.understood.push_back(
        fmt::format("the last {} pulses are too few for a CPI and are left out", cut_.left_over_pulses));

  const double joined_period_s = times_.pri_s * static_cast<double>(cut_.pulses_per_frame);
  constexpr double kSamePeriod = 0.01;
  if (cut_.frames_per_cpi > 1 && cut_.pulses_per_frame > 1 &&
      std::abs(times_.frame_period_s - joined_period_s) > kSamePeriod * joined_period_s)
    info_.doubts.push_back({"a CPI joins frames with a pause between them, so its pulses are not equally spaced",
                            fmt::format("frame period {:.6g} s, {} pulses of {:.6g} s", times_.frame_period_s,
                                        cut_.pulses_per_frame, times_.pri_s),
                            "take one frame per CPI (leave cpi.pulses out)"});
}

Expected<CaptureSource::Fill> ArraySource::fill(WriteLease& slot) {
  if (next_ >= cut_.cpi_count) return Fill::end;
  const std::size_t cpi = next_;
  CpiHeader& header = slot.header();
  header.index = cpi;
  const std::size_t frame = cut_.first_frame(cpi);
  const double frame_start_s = frame < times_.start_time_s.size() ? times_.start_time_s[frame]
                                                                  : static_cast<double>(frame) * times_.frame_period_s;
  header.start_time_s = frame_start_s + static_cast<double>(cut_.first_pulse(cpi)) * times_.pri_s;
  header.sensor_time_s =
      frame < times_.sensor_time_s.size() ? times_.sensor_time_s[frame] : std::numeric_limits<double>::quiet_NaN();
  header.gaps = gaps_of(cpi);

  slot.set_segment_count(cut_.segment_count);
  std::span<std::byte> memory = slot.memory();
  CORNERTURN_REQUIRE(memory.size() >= info_.slot_bytes);
  for (std::size_t segment = 0; segment < cut_.segment_count; ++segment) {
    const std::span<std::byte> bytes = memory.subspan(segment * cut_.segment_bytes(), cut_.segment_bytes());
    const ArrayBox box = cut_.box(cpi, segment);
    for (std::size_t array = 0; array < arrays_.size(); ++array)
      if (auto done = arrays_[array]->read_box(box, bytes.subspan(array * cut_.box_bytes, cut_.box_bytes)); !done)
        return unexpected(done.error());
    slot.publish_segment({bytes, segment * cut_.pulses_per_segment, cut_.pulses_per_segment});
  }
  ++next_;
  return Fill::filled;
}

std::vector<GapInterval> ArraySource::gaps_of(std::size_t cpi) const {
  std::vector<GapInterval> gaps;
  const std::size_t first_frame = cut_.first_frame(cpi);
  for (std::size_t i = 0; i < cut_.frames_per_cpi; ++i) {
    const auto found = times_.gaps.find(first_frame + i);
    if (found == times_.gaps.end()) continue;
    for (GapInterval gap : found->second) {
      const std::size_t pulse = i * cut_.pulses_per_frame + gap.pulse;  // counted from the start of the first frame
      if (pulse < cut_.first_pulse(cpi) || pulse - cut_.first_pulse(cpi) >= cut_.shape.pulse_count) continue;
      gap.pulse = static_cast<std::uint32_t>(pulse - cut_.first_pulse(cpi));
      gaps.push_back(gap);
    }
  }
  return gaps;
}

Expected<void> ArraySource::seek(std::size_t cpi_index) {
  if (cpi_index >= cut_.cpi_count)
    return usage_error(info_.path, fmt::format("CPI {} does not exist: there are {}", cpi_index, cut_.cpi_count),
                       cut_.cpi_count == 0 ? "" : fmt::format("give 0 to {}", cut_.cpi_count - 1));
  next_ = cpi_index;
  return {};
}

}  // namespace cornerturn
