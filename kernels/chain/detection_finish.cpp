#include "kernels/chain/detection_finish.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dsp/chain/grouping_geometry.h"
#include "dsp/chain/product_catalogue.h"

namespace cornerturn::cuda {
namespace {

bool before(const CfarAlarm& alarm, const std::pair<std::int32_t, std::int32_t>& cell) {
  return std::pair(alarm.gate, alarm.doppler_bin) < cell;
}

}  // namespace

DetectionFinish::DetectionFinish(std::shared_ptr<const ChainPlan> plan, std::size_t thread_count)
    : plan_(std::move(plan)), pool_(thread_count) {
  if (!plan_->config.cfar.enabled) return;
  grouper_.emplace(plan_->config.grouping, grouping_geometry(*plan_), alarm_capacity(*plan_));
  alarms_.reserve(alarm_capacity(*plan_));
  detections_.resize(plan_->config.grouping.max_detections);
  map_ = AlignedBuffer<float>(plan_->gate_count * plan_->doppler_fft_length);
  if (!plan_->angles_possible) return;
  angles_.emplace(plan_->config.angle, plan_->radar.array, plan_->radar.waveform.wavelength_m(), pool_.thread_count());
  reach_ = plan_->config.angle.train_gates + plan_->config.angle.guard_gates;
  local_detections_.resize(detections_.size());
  local_alarms_.reserve(detections_.size() * (2 * reach_ + 1));
  cells_.reserve(detections_.size());
}

void DetectionFinish::take_alarms(std::span<const DeviceAlarm> alarms) {
  const auto gates = static_cast<std::int32_t>(plan_->gate_count);
  const auto bins = static_cast<std::int32_t>(plan_->doppler_fft_length);
  const auto put = [&](std::int32_t gate, std::int32_t bin, float power) {
    if (gate < 0 || gate >= gates) return;
    map_[static_cast<std::size_t>(gate) * static_cast<std::size_t>(bins) +
         static_cast<std::size_t>((bin + bins) % bins)] = power;
  };
  alarms_.clear();
  const bool wraps = plan_->config.cfar.doppler_wraps;
  for (const DeviceAlarm& alarm : alarms) {
    alarms_.push_back({alarm.gate, alarm.bin, alarm.power, alarm.noise_mean});
    put(alarm.gate - 1, alarm.bin, alarm.gate_before);
    put(alarm.gate + 1, alarm.bin, alarm.gate_after);
    if (wraps || alarm.bin > 0) put(alarm.gate, alarm.bin - 1, alarm.bin_before);
    if (wraps || alarm.bin + 1 < bins) put(alarm.gate, alarm.bin + 1, alarm.bin_after);
    put(alarm.gate, alarm.bin, alarm.power);
  }
}

void DetectionFinish::process(Lane& lane, const LightParameters& light, cudaStream_t stream, CpiResult& result) {
  if (!grouper_) return;
  take_alarms(lane.alarms());
  const std::size_t overflow = lane.alarm_counts().alarm_count - alarms_.size();
  const MatrixView<const float> power(map_.data(), plan_->gate_count, plan_->doppler_fft_length);
  const std::size_t count = grouper_->process(power, alarms_, detections_);
  const std::span<Detection> detections = std::span(detections_).first(count);
  result.quality.dropped_detections = static_cast<std::uint32_t>(overflow + grouper_->dropped());
  if (angles_) {
    angles_->set_loading(light.angle_loading);
    const bool peaks_are_detections = lane.alarm_counts().peak_count == count && count <= lane.snapshot_capacity() &&
                                      result.quality.dropped_detections == 0;
    find_angles(lane, stream, detections, peaks_are_detections);
  }
  result.quality.flagged_detections =
      static_cast<std::uint32_t>(std::count_if(detections.begin(), detections.end(), [](const Detection& detection) {
        return (detection.flags & (kNoAngle | kAngleDoubtful)) != 0;
      }));
  const auto is_column = [](const Product& product) { return product.is_detection_column(); };
  const auto first = std::find_if(result.products.begin(), result.products.end(), is_column);
  const auto last = std::find_if_not(first, result.products.end(), is_column);
  write_detection_columns(std::span(first, last), detections);
}

void DetectionFinish::find_angles(Lane& lane, cudaStream_t stream, std::span<Detection> detections,
                                  bool peaks_are_detections) {
  if (peaks_are_detections) {
    find_angles_of(detections, lane.snapshots());
    return;
  }
  // More peaks than room, or some left out: ask for the snapshots of the detections themselves, in parts.
  for (std::size_t first = 0; first < detections.size(); first += lane.snapshot_capacity()) {
    const auto part = detections.subspan(first, std::min(lane.snapshot_capacity(), detections.size() - first));
    cells_.clear();
    for (const Detection& detection : part) cells_.push_back({detection.gate, detection.doppler_bin});
    lane.gather(cells_, stream);
    find_angles_of(part, lane.snapshots());
  }
}

// The neighbourhoods stand one behind the other as gates of a cube with one Doppler bin. Gates outside the map and
// gates with an alarm in the detection's bin are alarms there, so that the estimator leaves them out of its training.
void DetectionFinish::find_angles_of(std::span<Detection> detections, const float2* snapshots) {
  const std::size_t window = 2 * reach_ + 1;
  local_alarms_.clear();
  for (std::size_t i = 0; i < detections.size(); ++i) {
    const Detection& detection = detections[i];
    for (std::size_t g = 0; g < window; ++g) {
      const std::int32_t gate = detection.gate + static_cast<std::int32_t>(g) - static_cast<std::int32_t>(reach_);
      const bool outside = gate < 0 || gate >= static_cast<std::int32_t>(plan_->gate_count);
      const std::pair cell(gate, detection.doppler_bin);
      const auto found = std::lower_bound(alarms_.begin(), alarms_.end(), cell, before);
      const bool alarm = found != alarms_.end() && std::pair(found->gate, found->doppler_bin) == cell;
      if (outside || alarm) local_alarms_.push_back({static_cast<std::int32_t>(i * window + g), 0, 0.0F, 0.0F});
    }
    local_detections_[i] = detection;
    local_detections_[i].gate = static_cast<std::int32_t>(i * window + reach_);
    local_detections_[i].doppler_bin = 0;
  }
  const auto local = std::span(local_detections_).first(detections.size());
  // float2 and std::complex<float> have the same bytes.
  const CubeView<const std::complex<float>> cube(reinterpret_cast<const std::complex<float>*>(snapshots),
                                                 detections.size() * window, plan_->shape.channel_count, 1);
  angles_->process(cube, local_alarms_, pool_, local);
  for (std::size_t i = 0; i < detections.size(); ++i) {
    detections[i].azimuth_deg = local[i].azimuth_deg;
    detections[i].azimuth_bartlett_deg = local[i].azimuth_bartlett_deg;
    detections[i].flags = local[i].flags;
  }
}

}  // namespace cornerturn::cuda
