#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "dsp/config/chain_config.h"
#include "dsp/math/thread_pool.h"
#include "dsp/stage/angle.h"
#include "dsp/stage/grouping.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/product.h"
#include "kernels/chain/lane.h"

namespace cornerturn::cuda {

/// The part of detection that stays on the host, with the stages of dsp: grouping, interpolation and angles, from the
/// alarms that a lane has found. Of map and cube only what these stages look at has come over.
/// Allocates nothing after construction. Threads: one at a time.
class DetectionFinish {
 public:
  DetectionFinish(std::shared_ptr<const ChainPlan> plan, std::size_t thread_count);

  /// Fills the detection columns and counts of `result`. May gather snapshots on `stream` when the lane's own do not
  /// suffice. Throws CudaError.
  void process(Lane& lane, const LightParameters& light, cudaStream_t stream, CpiResult& result);

 private:
  void take_alarms(std::span<const DeviceAlarm> alarms);
  void find_angles(Lane& lane, cudaStream_t stream, std::span<Detection> detections, bool peaks_are_detections);
  void find_angles_of(std::span<Detection> detections, const float2* snapshots);

  std::shared_ptr<const ChainPlan> plan_;
  ThreadPool pool_;
  std::optional<DetectionGrouper> grouper_;
  std::optional<AngleEstimator> angles_;
  std::vector<CfarAlarm> alarms_;
  std::vector<Detection> detections_;
  AlignedBuffer<float> map_;  // (gate, bin): true at alarms and their neighbours, stale elsewhere
  std::size_t reach_ = 0;
  std::vector<CfarAlarm> local_alarms_;
  std::vector<Detection> local_detections_;
  std::vector<int2> cells_;
};

}  // namespace cornerturn::cuda
