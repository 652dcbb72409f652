#include "src/capture/cpi_cut.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "src/capture/checked_size.h"

namespace cornerturn {
namespace {

constexpr std::array<std::pair<AxisRole, std::string_view>, 8> kRoleWords{{{AxisRole::frame, "frame"},
                                                                           {AxisRole::pulse, "pulse"},
                                                                           {AxisRole::tx, "tx"},
                                                                           {AxisRole::channel, "channel"},
                                                                           {AxisRole::group, "group"},
                                                                           {AxisRole::sample, "sample"},
                                                                           {AxisRole::iq, "iq"},
                                                                           {AxisRole::one, "one"}}};

constexpr const char* kAxesKey = "samples.axes";
constexpr const char* kIqKey = "samples.iq";
constexpr const char* kPulsesKey = "cpi.pulses";

/// Length of each role's axis (1 when absent) and its stride in a packed box, in scalars.
struct RoleTable {
  std::array<std::uint64_t, 8> count{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, 8> stride{};
  std::array<bool, 8> present{};

  std::uint64_t length(AxisRole role) const { return count[static_cast<std::size_t>(role)]; }
  std::int64_t step(AxisRole role) const { return stride[static_cast<std::size_t>(role)]; }
  bool has(AxisRole role) const { return present[static_cast<std::size_t>(role)]; }
};

Expected<RoleTable> read_roles(std::span<const std::uint64_t> shape, const std::vector<AxisRole>& axes) {
  if (axes.size() != shape.size())
    return input_error(
        kAxesKey,
        fmt::format("names {} axes, but the array has {} ({})", axes.size(), shape.size(), describe_shape(shape)),
        "name each axis once, outermost first");
  RoleTable roles;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto index = static_cast<std::size_t>(axes[i]);
    if (axes[i] == AxisRole::one) {
      if (shape[i] == 1) continue;
      return input_error(kAxesKey, fmt::format("axis {} has length {}, not one", i, shape[i]), "say what it means");
    }
    if (roles.present[index])
      return input_error(kAxesKey, fmt::format("names {} twice", to_string(axes[i])), "each meaning stands once");
    if (shape[i] > std::numeric_limits<std::uint32_t>::max())
      return input_error(kAxesKey, fmt::format("axis {} has length {}, more than 2^32", to_string(axes[i]), shape[i]),
                         "split it into two axes");
    roles.present[index] = true;
    roles.count[index] = shape[i];
  }
  if (!roles.has(AxisRole::sample)) return input_error(kAxesKey, "names no sample axis", "one axis is fast time");
  if (roles.has(AxisRole::iq) && roles.length(AxisRole::iq) != 2)
    return input_error(kAxesKey, fmt::format("the iq axis has length {}", roles.length(AxisRole::iq)),
                       "I and Q are an axis of length 2");
  return roles;
}

void set_strides(RoleTable& roles, const ArrayBox& box, std::span<const std::size_t> storage_order,
                 const std::vector<AxisRole>& axes, std::size_t element_scalars) {
  auto stride = static_cast<std::int64_t>(element_scalars);
  for (auto axis = storage_order.rbegin(); axis != storage_order.rend(); ++axis) {
    roles.stride[static_cast<std::size_t>(axes[*axis])] = stride;
    stride *= static_cast<std::int64_t>(box.count[*axis]);
  }
}

/// Fills in how I and Q lie, and how many samples the fast-time axes hold.
Expected<std::size_t> place_iq(RawLayout& layout, const RoleTable& roles, const ArrayElement& element,
                               const ArrayMeaning& meaning, std::size_t box_scalars) {
  const std::int64_t step = roles.step(AxisRole::sample);
  const auto length = static_cast<std::size_t>(roles.length(AxisRole::sample));
  const bool grouped = roles.has(AxisRole::group);
  layout.samples_per_group = grouped ? length : 1;
  layout.group_stride = grouped ? roles.step(AxisRole::group) : step;
  layout.sample_stride = grouped ? step : 0;
  layout.complex_samples = true;
  const auto samples = static_cast<std::size_t>(length * roles.length(AxisRole::group));

  const bool pairs = element.complex_pair;
  if (static_cast<int>(pairs) + static_cast<int>(roles.has(AxisRole::iq)) +
          static_cast<int>(meaning.second_array_is_q) >
      1)
    return input_error(kIqKey, "I and Q are given twice (complex elements, an iq axis, two datasets)", "keep one");
  const IqOrder order = meaning.iq_order.value_or(
      roles.has(AxisRole::iq) || pairs || meaning.second_array_is_q ? IqOrder::iq : IqOrder::real);
  const bool swapped = order == IqOrder::qi;
  const bool plain = order == IqOrder::iq || order == IqOrder::qi;
  std::int64_t i = 0;
  std::int64_t q = 0;
  if (pairs || roles.has(AxisRole::iq) || meaning.second_array_is_q) {
    if (!plain)
      return input_error(kIqKey, fmt::format("{} does not go with samples that have I and Q already", to_string(order)),
                         "give iq or qi");
    if (pairs) {
      i = static_cast<std::int64_t>(element.i_scalar);
      q = static_cast<std::int64_t>(element.q_scalar);
    } else {
      q = roles.has(AxisRole::iq) ? roles.step(AxisRole::iq) : static_cast<std::int64_t>(box_scalars);
    }
    if (swapped) std::swap(i, q);
    layout.i_offset = i;
    layout.q_offset = q;
    return samples;
  }
  layout.i_offset = 0;
  layout.q_offset = 0;
  if (order == IqOrder::real) {
    layout.complex_samples = false;
    return samples;
  }
  // The scalars of I and Q lie along the sample axis, so that it is twice as long as there are samples.
  const std::size_t unit = order == IqOrder::iiqq || order == IqOrder::qqii ? 4 : 2;
  if (grouped)
    return input_error(kIqKey, "an order along the sample axis does not go with a group axis", "use an iq axis");
  if (length % unit != 0)
    return input_error(
        kIqKey,
        fmt::format("{} needs a sample axis that is a multiple of {}, but it is {}", to_string(order), unit, length),
        "correct shape or iq");
  const auto half = static_cast<std::int64_t>(length / 2) * step;
  switch (order) {
    case IqOrder::iq:
    case IqOrder::qi:
      layout.group_stride = 2 * step;
      q = step;
      break;
    case IqOrder::iiqq:
    case IqOrder::qqii:
      layout.samples_per_group = 2;
      layout.group_stride = 4 * step;
      layout.sample_stride = step;
      q = 2 * step;
      break;
    default:
      q = half;
      break;
  }
  if (order == IqOrder::qi || order == IqOrder::qqii || order == IqOrder::planar_qi) std::swap(i, q);
  layout.i_offset = i;
  layout.q_offset = q;
  return samples / 2;
}

/// Cuts slow time: pulses per CPI, and how many whole CPIs there are.
Expected<void> cut_pulses(CpiCut& cut, const RoleTable& roles, const ArrayMeaning& meaning) {
  cut.frame_count = static_cast<std::size_t>(roles.length(AxisRole::frame));
  cut.pulses_per_frame = static_cast<std::size_t>(roles.length(AxisRole::pulse));
  const std::size_t total = cut.frame_count * cut.pulses_per_frame;
  std::size_t pulses = meaning.pulses_per_cpi;
  if (pulses == 0)
    pulses = cut.pulses_per_frame > 1 && roles.has(AxisRole::frame) ? cut.pulses_per_frame
                                                                    : std::min(total, kMaxDefaultPulses);
  if (pulses > total)
    return input_error(kPulsesKey, fmt::format("{} pulses are asked for, but the capture has {}", pulses, total),
                       fmt::format("give at most {}", total));
  if (pulses > cut.pulses_per_frame) {
    if (pulses % cut.pulses_per_frame != 0)
      return input_error(kPulsesKey,
                         fmt::format("{} is no multiple of the {} pulses of a frame", pulses, cut.pulses_per_frame),
                         "give a multiple or a divisor");
    cut.frames_per_cpi = pulses / cut.pulses_per_frame;
    cut.cpi_count = cut.frame_count / cut.frames_per_cpi;
    cut.left_over_pulses = (cut.frame_count % cut.frames_per_cpi) * cut.pulses_per_frame;
  } else if (cut.frame_count == 1) {
    cut.cpi_count = cut.pulses_per_frame / pulses;
    cut.left_over_pulses = cut.pulses_per_frame % pulses;
  } else {
    if (cut.pulses_per_frame % pulses != 0)
      return input_error(kPulsesKey,
                         fmt::format("{} does not divide the {} pulses of a frame", pulses, cut.pulses_per_frame),
                         "give a multiple or a divisor");
    cut.cpi_count = total / pulses;
  }
  cut.shape.pulse_count = pulses;
  return {};
}

}  // namespace

std::string_view to_string(AxisRole role) { return kRoleWords[static_cast<std::size_t>(role)].second; }

Expected<AxisRole> parse_axis_role(std::string_view text) {
  for (const auto& [role, word] : kRoleWords)
    if (word == text) return role;
  return input_error({}, fmt::format("\"{}\" is no axis", text),
                     "take frame, pulse, tx, channel, group, sample, iq or one");
}

std::size_t CpiCut::first_frame(std::size_t cpi) const {
  return frames_per_cpi > 1 ? cpi * frames_per_cpi : cpi * shape.pulse_count / pulses_per_frame;
}

std::size_t CpiCut::first_pulse(std::size_t cpi) const {
  return frames_per_cpi > 1 ? 0 : cpi * shape.pulse_count % pulses_per_frame;
}

ArrayBox CpiCut::box(std::size_t cpi, std::size_t segment) const {
  ArrayBox box{std::vector<std::uint64_t>(array_shape.size(), 0), array_shape};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == AxisRole::frame) {
      box.start[axis] = first_frame(cpi) + segment;
      box.count[axis] = frames_per_cpi / segment_count;
    } else if (axes[axis] == AxisRole::pulse) {
      box.start[axis] = first_pulse(cpi);
      box.count[axis] = std::min(pulses_per_frame, shape.pulse_count);
    } else if (axes[axis] == AxisRole::sample) {
      box.start[axis] = first_sample;
      box.count[axis] = sample_length;
    }
  }
  return box;
}

Expected<CpiCut> make_cpi_cut(const ArrayElement& element, std::span<const std::uint64_t> shape,
                              std::span<const std::size_t> storage_order, const ArrayMeaning& meaning) {
  auto roles = read_roles(shape, meaning.axes);
  if (!roles) return unexpected(roles.error());
  CpiCut cut;
  cut.axes = meaning.axes;
  cut.array_shape.assign(shape.begin(), shape.end());
  cut.array_count = meaning.second_array_is_q ? 2 : 1;
  if (auto done = cut_pulses(cut, *roles, meaning); !done) return unexpected(done.error());
  std::uint64_t& length = roles->count[static_cast<std::size_t>(AxisRole::sample)];
  if (meaning.first_sample >= length || meaning.sample_length > length - meaning.first_sample)
    return input_error(kAxesKey, fmt::format("has {} samples, fewer than are asked for", length), "ask for fewer");
  cut.first_sample = meaning.first_sample;
  cut.sample_length = meaning.sample_length != 0 ? meaning.sample_length : length - meaning.first_sample;
  length = cut.sample_length;

  // First as one box per CPI; where the frames do not join along slow time in it, one segment per frame.
  for (cut.segment_count = 1;; cut.segment_count = cut.frames_per_cpi) {
    const ArrayBox box = cut.box(0, 0);
    const auto bytes = checked_product(element.bytes() * cut.array_count * cut.segment_count, box.count);
    if (!bytes || *bytes > kMaxCpiBytes)
      return input_error(
          kPulsesKey,
          fmt::format("one CPI would take {} bytes, more than {}", bytes.value_or(UINT64_MAX), kMaxCpiBytes),
          "give fewer pulses per CPI");
    cut.box_bytes = static_cast<std::size_t>(*bytes) / cut.array_count / cut.segment_count;
    set_strides(*roles, box, storage_order, meaning.axes, element.scalars);
    const bool joined =
        cut.pulses_per_frame == 1 ||
        roles->step(AxisRole::frame) == static_cast<std::int64_t>(cut.pulses_per_frame) * roles->step(AxisRole::pulse);
    if (cut.frames_per_cpi == cut.segment_count || joined) break;
  }
  cut.pulses_per_segment = cut.shape.pulse_count / cut.segment_count;

  RawLayout& layout = cut.layout;
  layout.format = element.format;
  layout.big_endian = element.big_endian;
  layout.zero_level = meaning.zero_level.value_or(mid_scale(element.format));
  layout.pulse_stride = roles->step(cut.pulses_per_frame > 1 ? AxisRole::pulse : AxisRole::frame);
  layout.channel_stride = roles->step(AxisRole::channel);
  if (roles->has(AxisRole::tx)) {
    layout.channels_per_group = static_cast<std::size_t>(roles->length(AxisRole::channel));
    layout.channel_group_stride = roles->step(AxisRole::tx);
  }
  cut.shape.channel_count = static_cast<std::size_t>(roles->length(AxisRole::channel) * roles->length(AxisRole::tx));
  constexpr std::size_t kMaxChannels = 65536;
  if (cut.shape.channel_count > kMaxChannels)
    return input_error(kAxesKey, fmt::format("makes {} channels, more than {}", cut.shape.channel_count, kMaxChannels),
                       "check which axis is which");
  const auto samples = place_iq(layout, *roles, element, meaning, cut.box_bytes / element.scalar_bytes());
  if (!samples) return unexpected(samples.error());
  cut.shape.sample_count = *samples;

  const CpiShape segment_shape{cut.shape.channel_count, cut.pulses_per_segment, cut.shape.sample_count};
  const auto needed = required_bytes(layout, segment_shape);
  if (!needed) return input_error(kAxesKey, needed.error().what, needed.error().remedy);
  if (*needed > cut.segment_bytes())
    return input_error(
        kAxesKey,
        fmt::format("the samples of a CPI need {} bytes, its block of the array has {}", *needed, cut.segment_bytes()),
        "correct axes or iq");
  return cut;
}

}  // namespace cornerturn
