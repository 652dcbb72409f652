#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "kernels/cuda/memory.h"
#include "kernels/stage/cfar.h"
#include "kernels/stage/matched_filter.h"
#include "kernels/stage/slow_time.h"
#include "kernels/stage/unpack.h"

namespace cornerturn::cuda {

/// A plan's sizes and tables as kernels read them; made once, shared by all lanes. Tables lie in device memory.
/// Threads: immutable after construction.
class DeviceTables {
 public:
  /// Throws CudaError.
  explicit DeviceTables(std::shared_ptr<const ChainPlan> plan);

  const ChainPlan& plan() const { return *plan_; }

  /// Elements of a line before and behind the range transform (complex, except real lines before it).
  std::size_t line_length() const { return line_length_; }
  std::size_t profile_length() const { return profile_length_; }
  bool real_transform() const { return real_transform_; }
  bool has_range_transform() const { return plan_->radar.waveform.kind != WaveformKind::profiled; }
  bool has_matched_filter() const { return plan_->radar.waveform.kind == WaveformKind::pulse; }
  bool odd_doppler() const { return plan_->doppler_fft_length % 2 == 1; }
  std::size_t line_count() const { return plan_->shape.channel_count * plan_->shape.pulse_count; }

  /// Everything of the job but segment, gaps, counters and output.
  UnpackJob unpack_job() const;
  /// Everything but power, scale_of_count and hits.
  CfarJob cfar_job() const { return cfar_; }
  /// Largest training count plus one: entries of scale_of_count.
  std::size_t scale_count() const { return scale_count_; }
  /// factor / cells for each count that occurs in the map, NaN for the others.
  void fill_scales(double pfa, float* scales) const;

  /// The matched filter is one kernel that keeps lines in shared memory, not cuFFT and a product between.
  bool fuses_matched_filter() const { return fused_length_ > 0; }
  /// That kernel reads raw lines as well, so that none are unpacked before.
  bool fuses_unpack() const { return fuses_matched_filter() && matched_filter_reads_raw(unpack_job()); }
  /// For `lines` of line_length, in place: the kept gates of each line come to where cuFFT would put them.
  MatchedFilterJob matched_filter_job(float2* lines) const;

  const float2* replica_spectrum() const { return replica_spectrum_.data(); }
  const float2* calibration() const { return calibration_.data(); }
  const float* doppler_window() const { return doppler_window_.data(); }
  DeviceCanceller canceller() const;

  /// Half width of the neighbourhood in gates that an angle is trained from.
  std::size_t angle_reach() const { return plan_->config.angle.train_gates + plan_->config.angle.guard_gates; }

 private:
  void make_replica_spectrum();
  void make_cfar();

  std::shared_ptr<const ChainPlan> plan_;
  DeviceLayout layout_;
  bool real_transform_ = false;
  std::size_t line_length_ = 0;
  std::size_t profile_length_ = 0;
  std::size_t fused_length_ = 0;
  DeviceBuffer<float> range_window_;
  DeviceBuffer<float2> calibration_;
  DeviceBuffer<float2> replica_spectrum_;
  DeviceBuffer<float2> twiddles_;
  DeviceBuffer<float> doppler_window_;
  CfarJob cfar_;
  std::size_t scale_count_ = 0;
  std::vector<std::size_t> used_counts_;
};

}  // namespace cornerturn::cuda
