#pragma once

#include <cstddef>
#include <utility>

#include <cufft.h>

namespace cornerturn::cuda {

/// A planned cuFFT transform of `batch` dense lines. Its work area belongs to the caller, so that plans which never run
/// at the same time share one and their memory stays bounded. Throws CudaError.
class CufftPlan {
 public:
  enum class Kind { complex_to_complex, real_to_complex, double_complex };
  CufftPlan() = default;
  CufftPlan(Kind kind, std::size_t length, std::size_t batch);
  CufftPlan(CufftPlan&& other) noexcept
      : plan_(std::exchange(other.plan_, kNone)), work_bytes_(std::exchange(other.work_bytes_, 0)) {}
  CufftPlan& operator=(CufftPlan&& other) noexcept {
    std::swap(plan_, other.plan_);
    std::swap(work_bytes_, other.work_bytes_);
    return *this;
  }
  ~CufftPlan();

  explicit operator bool() const { return plan_ != kNone; }
  std::size_t work_bytes() const { return work_bytes_; }
  /// To be called once, before the first execution.
  void use(void* work_area, cudaStream_t stream) const;

  void forward(const cufftComplex* in, cufftComplex* out) const;
  void inverse(const cufftComplex* in, cufftComplex* out) const;  ///< not divided by the length
  void forward(const cufftReal* in, cufftComplex* out) const;
  void forward(const cufftDoubleComplex* in, cufftDoubleComplex* out) const;

 private:
  static constexpr cufftHandle kNone = -1;
  cufftHandle plan_ = kNone;
  std::size_t work_bytes_ = 0;
};

}  // namespace cornerturn::cuda
