// The chain on the device, stage by stage; what is enqueued here may be captured as a graph.
#include "kernels/chain/lane.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/covariance.h"
#include "kernels/stage/range.h"
#include "kernels/stage/slow_time.h"

namespace cornerturn::cuda {

/// Everything behind the range stage, in one line: branches of a graph were measured to help nothing on a link-bound
/// stream and to cost up to 40 us of latency at times.
void Lane::enqueue_chain(const Work& work) {
  if (work.doppler || work.covariance) enqueue_slow_time(work);
  if (work.covariance) enqueue_covariance();
  if (work.doppler) enqueue_doppler();
  if (work.detections) enqueue_detection();
  launch_quality_report({sample_counters_.data(), sample_counters_.data() + 1, channel_has_signal_.data()},
                        static_cast<std::uint32_t>(tables_->plan().shape.channel_count), quality_report_.device(),
                        stream_.get());
}

void Lane::enqueue_range() {
  if (fuses_unpack()) return;  // done as the samples came
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  clock_.start(GpuStage::range, stream);
  if (tables_->real_transform()) {
    range_fft_.forward(reinterpret_cast<const float*>(cube_.data()), lines_.data());
    if (tables_->calibration() != nullptr)
      launch_scale_channels(lines_.data(), tables_->calibration(), plan.shape.channel_count,
                            plan.shape.pulse_count * tables_->profile_length(), stream);
  } else if (range_fft_) {
    range_fft_.forward(lines_.data(), lines_.data());
  }
  if (tables_->fuses_matched_filter()) {
    launch_matched_filter(tables_->matched_filter_job(lines_.data()), stream);
  } else if (tables_->has_matched_filter()) {
    launch_multiply_spectrum(lines_.data(), tables_->replica_spectrum(), tables_->line_count(), tables_->line_length(),
                             stream);
    range_fft_.inverse(lines_.data(), lines_.data());
  }
  clock_.stop(GpuStage::range, stream);
}

void Lane::enqueue_slow_time(const Work& work) {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  const std::size_t channels = plan.shape.channel_count;
  clock_.start(GpuStage::corner_turn, stream);
  launch_corner_turn({lines_.data(), cube_.data(), channels, plan.shape.pulse_count, tables_->profile_length(),
                      plan.first_gate, plan.gate_count},
                     stream);
  clock_.stop(GpuStage::corner_turn, stream);

  clock_.start(GpuStage::slow_time, stream);
  SlowTimeJob job;
  job.in = cube_.data();
  job.out = lines_.data();
  job.cancelled = work.covariance && plan.config.canceller != Canceller::none ? cube_.data() : nullptr;
  job.canceller = tables_->canceller();
  job.window = tables_->doppler_window();
  job.line_count = plan.gate_count * channels;
  job.pulse_count = static_cast<std::uint32_t>(plan.shape.pulse_count);
  job.cancelled_pulse_count = static_cast<std::uint32_t>(plan.cancelled_pulse_count);
  job.out_length = static_cast<std::uint32_t>(plan.doppler_fft_length);
  launch_slow_time(job, stream);
  clock_.stop(GpuStage::slow_time, stream);
}

void Lane::enqueue_covariance() {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  clock_.start(GpuStage::covariance, stream);
  CovarianceJob job;
  job.snapshots = cube_.data();
  job.packed_address = matrices_address_.device();
  job.gate_count = plan.gate_count;
  job.channel_count = plan.shape.channel_count;
  job.snapshot_count = plan.cancelled_pulse_count;
  job.line_stride = plan.shape.pulse_count;
  job.forward_backward = plan.config.covariance.forward_backward;
  job.loading = loading_.data();
  launch_covariance(job, stream);
  clock_.stop(GpuStage::covariance, stream);
}

void Lane::enqueue_doppler() {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  const std::size_t channels = plan.shape.channel_count;
  clock_.start(GpuStage::doppler, stream);
  doppler_fft_.forward(lines_.data(), lines_.data());
  if (tables_->odd_doppler())
    launch_rotate_lines(lines_.data(), cube_.data(), plan.gate_count * channels,
                        static_cast<std::uint32_t>(plan.doppler_fft_length), stream);
  launch_integrate_power(spectra(), power_.data(), plan.gate_count, channels, plan.doppler_fft_length, stream);
  clock_.stop(GpuStage::doppler, stream);
}

SnapshotJob Lane::snapshot_job() const {
  const ChainPlan& plan = tables_->plan();
  SnapshotJob job;
  if (!plan.angles_possible) return job;
  job.cube = spectra();
  job.gate_count = static_cast<std::uint32_t>(plan.gate_count);
  job.channel_count = static_cast<std::uint32_t>(plan.shape.channel_count);
  job.bin_count = static_cast<std::uint32_t>(plan.doppler_fft_length);
  job.reach = static_cast<std::uint32_t>(tables_->angle_reach());
  job.capacity = static_cast<std::uint32_t>(snapshot_capacity_);
  job.out = snapshots_.device();
  return job;
}

void Lane::enqueue_detection() {
  const cudaStream_t stream = stream_.get();
  clock_.start(GpuStage::detection, stream);
  CfarJob cfar = tables_->cfar_job();
  cfar.power = power_.data();
  cfar.scale_of_count = scales_.data();
  cfar.hits = hits_.data();
  launch_cfar(cfar, stream);
  CompactJob compact;
  compact.cfar = cfar;
  compact.every_alarm_is_peak = !tables_->plan().config.grouping.enabled;
  compact.alarm_capacity = static_cast<std::uint32_t>(alarms_.size());
  compact.block_counts = block_counts_.data();
  compact.alarms = alarms_.device();
  compact.counts = alarm_counts_.device();
  compact.snapshots = snapshot_job();
  launch_compact(compact, stream);
  clock_.stop(GpuStage::detection, stream);
}

}  // namespace cornerturn::cuda
