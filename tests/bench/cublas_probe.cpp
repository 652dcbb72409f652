#include "tests/bench/device_bench.h"

#ifdef CORNERTURN_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace cornerturn::bench {

#ifdef CORNERTURN_HAS_CUBLAS
double cublas_seconds(const float2* snapshots, float2* full, std::size_t gates, std::size_t channels,
                      std::size_t snapshot_count, bool tf32) {
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 0.0;
  cublasSetMathMode(handle, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
  const auto m = static_cast<int>(channels);
  const auto k = static_cast<int>(snapshot_count);
  const cuComplex one = make_cuComplex(1.0F, 0.0F);
  const cuComplex zero = make_cuComplex(0.0F, 0.0F);
  // Rows of X are columns to cuBLAS: its product is the conjugate of R.
  const double seconds = device_seconds(
      nullptr, 3,
      [&](int) {
        cublasCgemmStridedBatched(handle, CUBLAS_OP_C, CUBLAS_OP_N, m, m, k, &one, snapshots, k,
                                  static_cast<long long>(m) * k, snapshots, k, static_cast<long long>(m) * k, &zero,
                                  full, m, static_cast<long long>(m) * m, static_cast<int>(gates));
      },
      5);
  cublasDestroy(handle);
  return seconds;
}
#else
double cublas_seconds(const float2*, float2*, std::size_t, std::size_t, std::size_t, bool) { return 0.0; }
#endif

}  // namespace cornerturn::bench
