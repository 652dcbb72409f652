#include "src/config/chain_key.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include "dsp/vocabulary/contract.h"
#include "src/config/edit_distance.h"

namespace cornerturn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Each builder takes `access`, a generic lambda from a chain (const or not) to the member that the key stands for.
template <typename Access>
ChainKey number(std::string name, std::string unit, NumberRange range, std::string doc, Access access) {
  return {std::move(name),
          std::move(unit),
          range,
          {},
          std::move(doc),
          false,
          [access](const ChainConfig& chain) { return ChainValue(access(chain)); },
          [access](ChainConfig& chain, const ChainValue& value) { access(chain) = std::get<double>(value); }};
}

template <typename Access>
ChainKey whole(std::string name, std::string unit, NumberRange range, std::string doc, Access access) {
  return {std::move(name),
          std::move(unit),
          range,
          {},
          std::move(doc),
          false,
          [access](const ChainConfig& chain) { return ChainValue(static_cast<std::int64_t>(access(chain))); },
          [access](ChainConfig& chain, const ChainValue& value) {
            auto& member = access(chain);
            member = static_cast<std::remove_reference_t<decltype(member)>>(std::get<std::int64_t>(value));
          }};
}

template <typename Access> ChainKey flag(std::string name, std::string doc, Access access) {
  return {std::move(name),
          {},
          {},
          {},
          std::move(doc),
          false,
          [access](const ChainConfig& chain) { return ChainValue(access(chain)); },
          [access](ChainConfig& chain, const ChainValue& value) { access(chain) = std::get<bool>(value); }};
}

template <typename Enum, typename Access>
ChainKey word(std::string name, std::initializer_list<std::pair<Enum, std::string_view>> choices, std::string doc,
              Access access) {
  std::vector<Enum> values;
  std::vector<std::string> words;
  for (const auto& [value, text] : choices) {
    values.push_back(value);
    words.emplace_back(text);
  }
  auto get = [access, values, words](const ChainConfig& chain) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == access(chain)) return ChainValue(words[i]);
    CORNERTURN_REQUIRE(false);  // a value without a word: the row above is incomplete
    return ChainValue();
  };
  auto set = [access, values, words](ChainConfig& chain, const ChainValue& value) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (words[i] == std::get<std::string>(value)) access(chain) = values[i];
  };
  return {std::move(name), {}, {}, words, std::move(doc), false, std::move(get), std::move(set)};
}

template <typename Enum> std::pair<Enum, std::string_view> named(Enum value) { return {value, to_string(value)}; }

// The five keys of a window, for the section whose spec `access` reaches.
template <typename Access>
void add_window(std::vector<ChainKey>& keys, const std::string& section, const std::string& over, Access access) {
  using enum WindowKind;
  keys.push_back(word<WindowKind>(
      section + ".window",
      {named(rectangular), named(hann), named(hamming), named(blackman), named(blackman_harris), named(flat_top),
       named(chebyshev), named(taylor), named(kaiser)},
      "Window " + over, [access](auto& chain) -> auto& { return access(chain).kind; }));
  keys.push_back(word<WindowForm>(
      section + ".window_form",
      {{WindowForm::automatic, "automatic"}, {WindowForm::periodic, "periodic"}, {WindowForm::symmetric, "symmetric"}},
      "Form of the window: one period (before an FFT) or symmetric (filter design); automatic "
      "takes the usual one",
      [access](auto& chain) -> auto& { return access(chain).form; }));
  keys.push_back(number(
      section + ".window_sidelobe_db", "dB", {10.0, 200.0},
      "Chebyshev and Taylor: how far the sidelobes lie below the main lobe", [access](auto& chain) -> auto& {
        return access(chain).sidelobe_db;
      }));
  keys.push_back(whole(
      section + ".window_taylor_nbar", "", {1.0, 64.0},
      "Taylor: number of sidelobes of equal height next to the main lobe, plus one", [access](auto& chain) -> auto& {
        return access(chain).taylor_nbar;
      }));
  keys.push_back(number(
      section + ".window_kaiser_beta", "", {0.0, 50.0},
      "Kaiser: shape, from 0 (rectangular) to about 14 (very low sidelobes)", [access](auto& chain) -> auto& {
        return access(chain).kaiser_beta;
      }));
}

ChainKey light(ChainKey key) {
  key.light = true;
  return key;
}

// NOLINTNEXTLINE(readability-function-size): one row per key
std::vector<ChainKey> make_chain_keys() {
  std::vector<ChainKey> keys;
  keys.push_back(word<Canceller>(
      "canceller",
      {named(Canceller::none), named(Canceller::mean), named(Canceller::two_pulse), named(Canceller::three_pulse)},
      "Removes what does not move: the mean over the pulses, or a 2- or 3-pulse difference",
      [](auto& chain) -> auto& { return chain.canceller; }));

  keys.push_back(word<DcRemoval>(
      "input.dc_removal", {named(DcRemoval::none), named(DcRemoval::per_pulse)},
      "Subtracts each pulse's mean over fast time", [](auto& chain) -> auto& { return chain.input.dc_removal; }));

  add_window(
      keys, "range", "over fast time (FMCW) or over the replica (pulse)",
      [](auto& chain) -> auto& { return chain.range.window; });
  keys.push_back(whole(
      "range.fft_length", "samples", {0.0, 1 << 24},
      "Length of the range FFT (FMCW), zeros appended; 0: the number of samples",
      [](auto& chain) -> auto& { return chain.range.fft_length; }));
  keys.push_back(number(
      "range.min_m", "m", {}, "Gates nearer than this are not kept",
      [](auto& chain) -> auto& { return chain.range.min_m; }));
  keys.push_back(number(
      "range.max_m", "m", {}, "Gates farther than this are not kept; 0: no limit",
      [](auto& chain) -> auto& { return chain.range.max_m; }));

  add_window(
      keys, "doppler", "over the pulses", [](auto& chain) -> auto& { return chain.doppler.window; });
  keys.push_back(whole(
      "doppler.fft_length", "pulses", {0.0, 1 << 20},
      "Length of the Doppler FFT, zeros appended; 0: the number of pulses",
      [](auto& chain) -> auto& { return chain.doppler.fft_length; }));

  keys.push_back(flag(
      "cfar.enabled", "Detects targets by cell-averaging CFAR",
      [](auto& chain) -> auto& { return chain.cfar.enabled; }));
  keys.push_back(word<CfarAxes>(
      "cfar.axes", {named(CfarAxes::range), named(CfarAxes::doppler), named(CfarAxes::range_doppler)},
      "Axes along which the noise around a cell is averaged", [](auto& chain) -> auto& { return chain.cfar.axes; }));
  keys.push_back(light(number(
      "cfar.pfa", "", {1e-12, 0.5}, "Probability of false alarm per cell",
      [](auto& chain) -> auto& { return chain.cfar.pfa; })));
  keys.push_back(whole(
      "cfar.train_range", "cells", {0.0, 4096.0}, "Training cells on each side in range",
      [](auto& chain) -> auto& { return chain.cfar.train_range; }));
  keys.push_back(whole(
      "cfar.guard_range", "cells", {0.0, 4096.0}, "Guard cells on each side in range, left out of the training",
      [](auto& chain) -> auto& { return chain.cfar.guard_range; }));
  keys.push_back(whole(
      "cfar.train_doppler", "cells", {0.0, 4096.0}, "Training cells on each side in Doppler",
      [](auto& chain) -> auto& { return chain.cfar.train_doppler; }));
  keys.push_back(whole(
      "cfar.guard_doppler", "cells", {0.0, 4096.0}, "Guard cells on each side in Doppler, left out of the training",
      [](auto& chain) -> auto& { return chain.cfar.guard_doppler; }));
  keys.push_back(flag(
      "cfar.doppler_wraps", "The first and the last Doppler bin are neighbours",
      [](auto& chain) -> auto& { return chain.cfar.doppler_wraps; }));

  keys.push_back(flag(
      "grouping.enabled", "Makes one detection of each local maximum in a connected group of alarms",
      [](auto& chain) -> auto& { return chain.grouping.enabled; }));
  keys.push_back(flag(
      "grouping.interpolate", "Finds the peak between bins by a parabola through the levels in dB",
      [](auto& chain) -> auto& { return chain.grouping.interpolate; }));
  keys.push_back(whole(
      "grouping.max_detections", "", {1.0, 1 << 20}, "Most detections kept of one CPI",
      [](auto& chain) -> auto& { return chain.grouping.max_detections; }));

  keys.push_back(flag(
      "covariance.enabled", "Gives the correlation matrix of the channels for each gate",
      [](auto& chain) -> auto& { return chain.covariance.enabled; }));
  keys.push_back(flag(
      "covariance.forward_backward", "Averages with the mirrored matrix (uniform arrays)",
      [](auto& chain) -> auto& { return chain.covariance.forward_backward; }));
  keys.push_back(light(number(
      "covariance.loading", "", {0.0, kInfinity}, "Diagonal loading relative to the mean power of a channel",
      [](auto& chain) -> auto& { return chain.covariance.loading; })));

  keys.push_back(flag(
      "angle.enabled", "Finds the azimuth of each detection, where the array is known",
      [](auto& chain) -> auto& { return chain.angle.enabled; }));
  keys.push_back(number(
      "angle.min_deg", "deg", {-90.0, 90.0}, "Start of the angle grid",
      [](auto& chain) -> auto& { return chain.angle.min_deg; }));
  keys.push_back(number(
      "angle.max_deg", "deg", {-90.0, 90.0}, "End of the angle grid",
      [](auto& chain) -> auto& { return chain.angle.max_deg; }));
  keys.push_back(number(
      "angle.step_deg", "deg", {0.0, 90.0, true}, "Step of the angle grid; peaks are interpolated",
      [](auto& chain) -> auto& { return chain.angle.step_deg; }));
  keys.push_back(whole(
      "angle.train_gates", "gates", {1.0, 4096.0}, "Gates on each side that train the detection's correlation matrix",
      [](auto& chain) -> auto& { return chain.angle.train_gates; }));
  keys.push_back(whole(
      "angle.guard_gates", "gates", {0.0, 4096.0}, "Gates on each side of the detection left out of the training",
      [](auto& chain) -> auto& { return chain.angle.guard_gates; }));
  keys.push_back(light(number(
      "angle.loading", "", {0.0, kInfinity},
      "Diagonal loading of the training matrix, relative to the mean power of a channel",
      [](auto& chain) -> auto& { return chain.angle.loading; })));
  keys.push_back(flag(
      "angle.forward_backward", "Averages the training matrix with the mirrored one (uniform arrays)",
      [](auto& chain) -> auto& { return chain.angle.forward_backward; }));
  return keys;
}

std::string describe_range(std::string_view type, const NumberRange& range) {
  std::string text;
  if (std::isfinite(range.min)) text += fmt::format("{} {} ", range.min, range.exclusive_min ? "<" : "<=");
  text += type;
  if (std::isfinite(range.max)) text += fmt::format(" <= {}", range.max);
  return text;
}

}  // namespace

std::string_view ChainKey::section() const {
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(name).substr(0, dot);
}

std::string_view ChainKey::leaf() const {
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string_view(name) : std::string_view(name).substr(dot + 1);
}

std::span<const ChainKey> chain_keys() {
  static const std::vector<ChainKey> kKeys = make_chain_keys();
  return kKeys;
}

Expected<const ChainKey*> find_chain_key(std::string_view name) {
  std::set<std::string, std::less<>> names;
  for (const ChainKey& key : chain_keys()) {
    if (key.name == name) return &key;
    names.insert(key.name);
  }
  const std::string near = nearest_word(name, names);
  return usage_error(std::string(name), "the chain has no such key",
                     near.empty() ? "--print-chain lists the keys" : fmt::format("did you mean '{}'?", near));
}

std::string to_toml(const ChainValue& value) {
  struct {
    std::string operator()(double number) const {
      std::string text = fmt::format("{}", number);  // the shortest text that reads back as the same number
      // TOML tells floats from integers by their looks.
      if (text.find_first_of(".einf") == std::string::npos) text += ".0";
      return text;
    }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(bool is_set) const { return is_set ? "true" : "false"; }
    std::string operator()(const std::string& word) const { return fmt::format("\"{}\"", word); }
  } text;
  return std::visit(text, value);
}

std::string describe_allowed(const ChainKey& key) {
  const ChainValue value = key.get(ChainConfig());
  if (std::holds_alternative<bool>(value)) return "true or false";
  if (std::holds_alternative<std::string>(value)) return fmt::format("{}", fmt::join(key.words, ", "));
  return describe_range(std::holds_alternative<double>(value) ? "number" : "whole number", key.range);
}

}  // namespace cornerturn
