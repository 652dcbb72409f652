#include "kernels/chain/stage_clock.h"

namespace cornerturn::cuda {

const char* name_of(GpuStage stage) {
  constexpr std::array<const char*, kGpuStageCount> kNames = {
      "copy in",   "unpack",  "range", "corner turn", "canceller and window", "covariance", "Doppler and integration",
      "detection", "copy out"};
  return kNames[static_cast<std::size_t>(stage)];
}

StageClock::StageClock(bool enabled) : enabled_(enabled) {
  if (!enabled_) return;
  for (Interval& interval : intervals_) interval = {Event(Event::Kind::timing), Event(Event::Kind::timing), false};
}

void StageClock::reset() {
  for (Interval& interval : intervals_) interval.used = false;
}

void StageClock::start(GpuStage stage, cudaStream_t stream) {
  const Interval& interval = intervals_[static_cast<std::size_t>(stage)];
  if (enabled_ && !interval.used) interval.begin.record(stream);
}

void StageClock::stop(GpuStage stage, cudaStream_t stream) {
  if (!enabled_) return;
  Interval& interval = intervals_[static_cast<std::size_t>(stage)];
  interval.end.record(stream);
  interval.used = true;
}

void StageClock::add_to(std::span<double, kGpuStageCount> seconds) const {
  for (std::size_t stage = 0; stage < kGpuStageCount; ++stage)
    if (intervals_[stage].used) seconds[stage] += intervals_[stage].end.seconds_since(intervals_[stage].begin);
}

}  // namespace cornerturn::cuda
