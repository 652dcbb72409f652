#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "kernels/cuda/stream.h"

namespace cornerturn::cuda {

/// Stages whose GPU time is measured on request.
enum class GpuStage { copy_in, unpack, range, corner_turn, slow_time, covariance, doppler, detection, copy_out };
inline constexpr std::size_t kGpuStageCount = 9;
const char* name_of(GpuStage stage);

/// GPU time of the stages of one CPI, between two events each; does nothing where it is not enabled, because events
/// between kernels cost time of their own. Throws CudaError.
class StageClock {
 public:
  explicit StageClock(bool enabled);

  bool enabled() const { return enabled_; }
  /// Forgets the CPI before.
  void reset();
  /// The first start of a CPI and its last stop count, so that a stage may come in parts.
  void start(GpuStage stage, cudaStream_t stream);
  void stop(GpuStage stage, cudaStream_t stream);
  /// Adds the CPI's times once all of its work is done.
  void add_to(std::span<double, kGpuStageCount> seconds) const;

 private:
  struct Interval {
    Event begin;
    Event end;
    bool used = false;
  };
  bool enabled_;
  std::array<Interval, kGpuStageCount> intervals_;
};

}  // namespace cornerturn::cuda
