#pragma once

#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>
#include <cufft.h>

namespace cornerturn::cuda {

/// A CUDA or cuFFT call that failed in the run: the call, what CUDA says, and where. Caught by the session.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, cudaError_t code, const std::source_location& where);
  CudaError(const std::string& call, cufftResult code, const std::source_location& where);

  /// cudaSuccess when it was cuFFT that failed.
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_ = cudaSuccess;
};

/// Memory that a device or the host refused: says how much was wanted and how much was free.
class OutOfMemory : public CudaError {
 public:
  OutOfMemory(const std::string& what, std::size_t needed_bytes, std::size_t free_bytes, cudaError_t code,
              const std::source_location& where);
};

/// Throws CudaError unless the call went well.
inline void check(cudaError_t code, const char* call,
                  const std::source_location& where = std::source_location::current()) {
  if (code != cudaSuccess) throw CudaError(call, code, where);
}
inline void check(cufftResult code, const char* call,
                  const std::source_location& where = std::source_location::current()) {
  if (code != CUFFT_SUCCESS) throw CudaError(call, code, where);
}
/// To be called behind every launch.
void check_launch(const char* kernel, const std::source_location& where = std::source_location::current());

/// "1.25 GiB", "640 MiB": for messages.
std::string bytes_text(std::size_t bytes);

}  // namespace cornerturn::cuda
