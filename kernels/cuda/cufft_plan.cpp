#include "kernels/cuda/cufft_plan.h"

#include "kernels/cuda/call_counts.h"
#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {
namespace {

cufftType type_of(CufftPlan::Kind kind) {
  switch (kind) {
    case CufftPlan::Kind::complex_to_complex:
      return CUFFT_C2C;
    case CufftPlan::Kind::real_to_complex:
      return CUFFT_R2C;
    case CufftPlan::Kind::double_complex:
      return CUFFT_Z2Z;
  }
  return CUFFT_C2C;
}

// cuFFT takes its input as not const, but does not change it when the transform is out of place.
template <typename T> T* input(const T* in) { return const_cast<T*>(in); }

}  // namespace

CufftPlan::CufftPlan(Kind kind, std::size_t length, std::size_t batch) {
  count_call(CountedCall::plan);
  check(cufftCreate(&plan_), "cufftCreate");
  try {
    check(cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
    auto size = static_cast<long long>(length);
    check(cufftMakePlanMany64(plan_, 1, &size, nullptr, 1, 0, nullptr, 1, 0, type_of(kind),
                              static_cast<long long>(batch), &work_bytes_),
          "cufftMakePlanMany64");
  } catch (...) {
    cufftDestroy(plan_);
    plan_ = kNone;
    throw;
  }
}

CufftPlan::~CufftPlan() {
  if (plan_ != kNone) cufftDestroy(plan_);
}

void CufftPlan::use(void* work_area, cudaStream_t stream) const {
  if (work_bytes_ > 0) check(cufftSetWorkArea(plan_, work_area), "cufftSetWorkArea");
  check(cufftSetStream(plan_, stream), "cufftSetStream");
}

void CufftPlan::forward(const cufftComplex* in, cufftComplex* out) const {
  check(cufftExecC2C(plan_, input(in), out, CUFFT_FORWARD), "cufftExecC2C");
}

void CufftPlan::inverse(const cufftComplex* in, cufftComplex* out) const {
  check(cufftExecC2C(plan_, input(in), out, CUFFT_INVERSE), "cufftExecC2C");
}

void CufftPlan::forward(const cufftReal* in, cufftComplex* out) const {
  check(cufftExecR2C(plan_, input(in), out), "cufftExecR2C");
}

void CufftPlan::forward(const cufftDoubleComplex* in, cufftDoubleComplex* out) const {
  check(cufftExecZ2Z(plan_, const_cast<cufftDoubleComplex*>(in), out, CUFFT_FORWARD), "cufftExecZ2Z");
}

}  // namespace cornerturn::cuda
