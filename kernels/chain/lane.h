#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dsp/chain/backend.h"
#include "kernels/chain/device_tables.h"
#include "kernels/chain/memory_strategy.h"
#include "kernels/chain/stage_clock.h"
#include "kernels/cuda/cufft_plan.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/stream.h"
#include "kernels/stage/cfar.h"
#include "kernels/stage/report.h"

namespace cornerturn::cuda {

/// Where the products of one CPI go: host memory of its result slot; null where a product is not wanted.
struct ResultTargets {
  float* map = nullptr;
  float2* covariance = nullptr;
  float2* range_profiles = nullptr;
  float2* doppler_cube = nullptr;
  bool detections = false;
};

/// Device memory, plans, streams and graphs for one CPI in flight. Everything is taken at construction; the graphs are
/// captured then too, one for each combination of products that changes the work.
///
/// Order of a CPI: begin(), ingest() for each segment on the shared ingest stream, then compute() on the lane's own
/// stream. Memory: `lines` holds (channel, pulse, fast time), later (gate, channel, bin); `cube` holds (gate, channel,
/// pulse). Threads: one at a time.
class Lane {
 public:
  struct Options {
    StrategyTraits traits;
    bool measure_stages = false;
  };
  /// Throws CudaError.
  Lane(std::shared_ptr<const DeviceTables> tables, const Options& options);

  /// Bytes of device memory that a lane takes, without the work area of cuFFT.
  static std::size_t device_bytes(const DeviceTables& tables, const StrategyTraits& traits);

  /// Begins a CPI: copies its gaps to where kernels read them.
  void begin(std::span<const GapInterval> gaps);
  /// Enqueues the read of one segment. `device_address`: where the device reads the segment in place, or null when it
  /// cannot; then, and when the strategy copies, the bytes go through the lane's own raw buffer.
  void ingest(const RawSegment& segment, const void* device_address, cudaStream_t shared_stream);
  /// Behind the last segment: the slot may be written again once input_read() has passed.
  void finish_ingest(cudaStream_t shared_stream);
  /// Enqueues the chain and the way back of the results.
  void compute(const ResultTargets& targets, const LightParameters& light);
  /// Forgets a CPI whose segments stopped coming or whose launch failed; nothing reads its slot any more then.
  void abandon(cudaStream_t ingest_stream) noexcept;

  const Event& input_read() const { return input_read_; }
  const Event& done() const { return done_; }

  // Valid once done() has passed.
  const AlarmCounts& alarm_counts() const { return *alarm_counts_.host(); }
  std::span<const DeviceAlarm> alarms() const;
  const QualityReport& quality() const { return *quality_report_.host(); }
  /// Snapshots around the peaks, (peak, gate, channel), of the first snapshot_capacity() peaks.
  const float2* snapshots() const { return snapshots_.host(); }
  std::size_t snapshot_capacity() const { return snapshot_capacity_; }
  /// The same for any cells, at most snapshot_capacity() of them; blocks until they are there.
  void gather(std::span<const int2> cells, cudaStream_t stream);

  /// Adds this CPI's GPU time per stage; only with measure_stages, after done() has passed.
  void add_stage_times(std::span<double, kGpuStageCount> seconds) const { clock_.add_to(seconds); }

 private:
  /// Work that differs between products.
  struct Work {
    bool doppler = false;
    bool detections = false;
    bool covariance = false;
    std::size_t index() const { return (doppler ? 1U : 0U) + (detections ? 2U : 0U) + (covariance ? 4U : 0U); }
  };

  void allocate();
  void clear_counters();
  void plan_transforms();
  void capture_graphs();
  void set_light(const LightParameters& light);
  /// Large CPIs come in one after the other, so that the first is whole soonest. Small ones do not fill the link:
  /// theirs come side by side, and without a wait between two streams.
  cudaStream_t ingest_stream(cudaStream_t shared_stream) const { return is_small_ ? stream_.get() : shared_stream; }
  /// Where samples cross the link as they are read, few blocks read them, and transforms would keep those from reading.
  bool fuses_unpack() const { return tables_->fuses_unpack() && (is_small_ || !options_.traits.reads_in_place); }
  void unpack(const RawSegment& segment, const void* address, cudaStream_t stream);
  void enqueue_range();
  void enqueue_chain(const Work& work);
  void enqueue_slow_time(const Work& work);
  void enqueue_covariance();
  void enqueue_doppler();
  void enqueue_detection();
  float2* spectra() const { return tables_->odd_doppler() ? cube_.data() : lines_.data(); }
  SnapshotJob snapshot_job() const;
  float2* host_matrices(const ResultTargets& targets) const;

  std::shared_ptr<const DeviceTables> tables_;
  Options options_;
  bool is_small_;
  Stream stream_;
  Event input_read_;
  Event done_;
  StageClock clock_;

  // device
  DeviceBuffer<std::byte> raw_;  // only where samples are copied
  DeviceBuffer<float2> lines_;
  DeviceBuffer<float2> cube_;
  DeviceBuffer<float> power_;
  DeviceBuffer<float2> covariance_;
  DeviceBuffer<std::uint32_t> hits_;
  DeviceBuffer<uint2> block_counts_;
  DeviceBuffer<unsigned long long> sample_counters_;  // masked, saturated
  DeviceBuffer<std::uint32_t> channel_has_signal_;
  DeviceBuffer<double> loading_;
  DeviceBuffer<float> scales_;
  DeviceBuffer<std::byte> fft_work_;
  CufftPlan range_fft_;
  CufftPlan inverse_fft_;  // complex, for the matched filter
  CufftPlan doppler_fft_;

  // page-locked
  PinnedBuffer<DeviceAlarm> alarms_;
  PinnedBuffer<AlarmCounts> alarm_counts_;
  PinnedBuffer<QualityReport> quality_report_;
  PinnedBuffer<float2> snapshots_;
  PinnedBuffer<int2> cells_;
  PinnedBuffer<float2*> matrices_address_;  // where this CPI's matrices are written
  PinnedBuffer<double> loading_staging_;
  PinnedBuffer<float> scales_staging_;
  PinnedBuffer<std::uint32_t> gap_offsets_;
  PinnedBuffer<GapTable::Span> gap_spans_;

  std::size_t snapshot_capacity_ = 0;
  std::size_t raw_used_ = 0;
  bool has_gaps_ = false;
  bool segments_copied_ = false;
  LightParameters light_;
  bool light_is_set_ = false;
  std::array<Graph, 8> graphs_;

  struct PendingSegment {
    RawSegment segment;
    const void* address = nullptr;
  };
  std::vector<PendingSegment> pending_;  // copied segments, unpacked on the lane's stream
};

}  // namespace cornerturn::cuda
