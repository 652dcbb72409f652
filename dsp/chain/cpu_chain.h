#pragma once

#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/chain_plan.h"
#include "dsp/chain/lease.h"
#include "dsp/chain/range_stage.h"
#include "dsp/math/thread_pool.h"
#include "dsp/stage/angle.h"
#include "dsp/stage/canceller.h"
#include "dsp/stage/cfar.h"
#include "dsp/stage/covariance.h"
#include "dsp/stage/doppler.h"
#include "dsp/stage/grouping.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// The chain on the host, one CPI at a time, as a readable list of stages:
///   range      (channel, pulse) lines: unpack, range, crop; a block of pulses at a time through the corner turn
///   slow time  (gate) blocks of (channel, pulse): canceller, covariance, Doppler, integration
///   detection  the map: CFAR, grouping, interpolation
///   angle      each detection, from the Doppler cube of its neighbouring gates
/// The stages of a line or gate follow each other while its data is in cache. All memory is taken at construction.
/// Threads: one caller; shares the lines over its own pool.
class CpuChain {
 public:
  CpuChain(std::shared_ptr<const ChainPlan> plan, std::size_t thread_count);
  ~CpuChain();
  CpuChain(const CpuChain&) = delete;
  CpuChain& operator=(const CpuChain&) = delete;

  std::size_t thread_count() const { return pool_.thread_count(); }

  /// Processes the CPI as its segments arrive into the products that `result` holds; releases `input` after the range
  /// stage. Errors: runtime when the writer abandoned the CPI or its segments do not fit the plan.
  Expected<void> process(ReadLease& input, const CpiRequest& request, CpiResult& result);

  /// May be called by any thread.
  std::vector<StageTime> stage_times() const;

 private:
  // Places of the stages in stage_ns_.
  static constexpr std::size_t kRange = 0;
  static constexpr std::size_t kSlowTime = 1;
  static constexpr std::size_t kDetection = 2;
  static constexpr std::size_t kAngle = 3;
  static constexpr std::size_t kStageCount = 4;
  class Stopwatch;
  struct Worker;

  Expected<void> run_range(const RawSlot& input, CpiResult& result);
  Expected<void> run_segment(const RawSegment& segment, const CpiHeader& header,
                             std::span<std::complex<float>> profiles);
  void run_slow_time(const CpiRequest& request, CpiResult& result);
  void run_detection(const CpiRequest& request, CpiResult& result);

  CubeView<std::complex<float>> cube();
  MatrixView<float> map();

  std::shared_ptr<const ChainPlan> plan_;
  ThreadPool pool_;
  RangeStage range_;
  PulseCanceller canceller_;
  CovarianceStage covariance_;
  DopplerTransform doppler_;
  std::optional<CfarDetector> detector_;
  std::optional<DetectionGrouper> grouper_;
  std::optional<AngleEstimator> angles_;

  std::vector<Worker> workers_;
  AlignedBuffer<std::complex<float>> cube_;  // (gate, channel, pulse), then (gate, channel, bin) where angles need it
  AlignedBuffer<float> map_;                 // (gate, bin)
  std::optional<AlarmList> alarms_;
  std::vector<Detection> detections_;
  std::array<std::atomic<std::int64_t>, kStageCount> stage_ns_{};
};

}  // namespace cornerturn
