#include "kernels/cuda/cuda_error.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "kernels/cuda/fault_injection.h"

namespace cornerturn::cuda {
namespace {

std::string place(const std::source_location& where) {
  std::string_view file = where.file_name();
  if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return " (" + std::string(file) + ":" + std::to_string(where.line()) + ")";
}

const char* cufft_name(cufftResult code) {
  switch (code) {
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "unknown cuFFT error";
  }
}

}  // namespace

CudaError::CudaError(const std::string& call, cudaError_t code, const std::source_location& where)
    : std::runtime_error(call + " failed: " + cudaGetErrorString(code) + " [" + cudaGetErrorName(code) + "]" +
                         place(where)),
      code_(code) {}

CudaError::CudaError(const std::string& call, cufftResult code, const std::source_location& where)
    : std::runtime_error(call + " failed: " + cufft_name(code) + " [" + std::to_string(code) + "]" + place(where)) {}

OutOfMemory::OutOfMemory(const std::string& what, std::size_t needed_bytes, std::size_t free_bytes, cudaError_t code,
                         const std::source_location& where)
    : CudaError(what + " of " + bytes_text(needed_bytes) + ", " + bytes_text(free_bytes) + " free,", code, where) {}

void check_launch(const char* kernel, const std::source_location& where) {
  if (take_fault(Fault::launch)) throw CudaError(std::string("launch of ") + kernel, cudaErrorLaunchFailure, where);
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) throw CudaError(std::string("launch of ") + kernel, code, where);
}

std::string bytes_text(std::size_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace cornerturn::cuda
