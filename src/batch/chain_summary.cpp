#include "src/batch/chain_summary.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace cornerturn {
namespace {

std::string range_stage(const ChainPlan& plan) {
  switch (plan.radar.waveform.kind) {
    case WaveformKind::fmcw:
      return fmt::format("range FFT {} ({})", plan.range_fft_length, to_string(plan.config.range.window.kind));
    case WaveformKind::pulse:
      return fmt::format("matched filter {} ({})", plan.matched_replica.size(),
                         to_string(plan.config.range.window.kind));
    case WaveformKind::profiled:
      break;
  }
  return "range gates as measured";
}

std::string in_words(std::string_view word) {
  std::string words(word);
  std::replace(words.begin(), words.end(), '_', '-');
  return words;
}

std::string_view in_words(CfarAxes axes) {
  switch (axes) {
    case CfarAxes::range:
      return "range";
    case CfarAxes::doppler:
      return "Doppler";
    case CfarAxes::range_doppler:
      break;
  }
  return "range and Doppler";
}

}  // namespace

std::string summarise_chain(const ChainPlan& plan) {
  const ChainConfig& config = plan.config;
  std::vector<std::string> stages;
  if (config.input.dc_removal != DcRemoval::none) stages.emplace_back("DC removal");
  stages.push_back(range_stage(plan));
  if (config.canceller != Canceller::none)
    stages.push_back(fmt::format("{} canceller", in_words(to_string(config.canceller))));
  stages.push_back(fmt::format("Doppler FFT {} ({})", plan.doppler_fft_length, to_string(config.doppler.window.kind)));
  if (plan.shape.channel_count > 1) stages.push_back(fmt::format("mean of {} channels", plan.shape.channel_count));
  if (config.cfar.enabled)
    stages.push_back(fmt::format("CA-CFAR over {}, Pfa {:g}", in_words(config.cfar.axes), config.cfar.pfa));
  if (config.cfar.enabled && config.angle.enabled && plan.angles_possible) stages.emplace_back("Capon angles");
  return fmt::format("{}", fmt::join(stages, " -> "));
}

}  // namespace cornerturn
