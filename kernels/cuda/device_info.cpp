#include "kernels/cuda/device_info.h"

#include <array>

#include <cuda_runtime_api.h>

#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool DeviceInfo::is_new_enough() const {
  return compute_major > kOldestComputeMajor ||
         (compute_major == kOldestComputeMajor && compute_minor >= kOldestComputeMinor);
}

std::string DeviceInfo::text() const {
  return name + ", compute capability " + std::to_string(compute_major) + "." + std::to_string(compute_minor) + ", " +
         bytes_text(memory_bytes) + ", " + std::to_string(multiprocessors) + " multiprocessors, " +
         std::to_string(copy_engines) + " copy engines, " +
         (maps_host_memory ? "reads host memory in place" : "cannot read host memory in place");
}

Expected<std::vector<DeviceInfo>> find_devices() {
  int driver_version = 0;
  if (cudaDriverGetVersion(&driver_version) != cudaSuccess || driver_version == 0)
    return runtime_error("cuda", "no NVIDIA driver found", "install the driver, or use --backend cpu");
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) cudaGetLastError();
  if (code == cudaErrorInsufficientDriver)
    return runtime_error("cuda",
                         "the driver supports CUDA " + version_text(driver_version) + ", this program needs " +
                             version_text(CUDART_VERSION),
                         "update the driver, or use --backend cpu");
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0))
    return runtime_error("cuda", "no NVIDIA GPU found", "use --backend cpu");
  if (code != cudaSuccess)
    return runtime_error("cuda", std::string("the driver answers: ") + cudaGetErrorString(code),
                         "check the driver with nvidia-smi, or use --backend cpu");

  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    DeviceInfo& device = devices.emplace_back();
    device.index = index;
    device.name = properties.name;
    device.compute_major = properties.major;
    device.compute_minor = properties.minor;
    device.memory_bytes = properties.totalGlobalMem;
    device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    device.multiprocessors = properties.multiProcessorCount;
    device.copy_engines = properties.asyncEngineCount;
    device.maps_host_memory = properties.canMapHostMemory != 0;
    device.host_pointers_are_device_pointers = attribute(cudaDevAttrCanUseHostPointerForRegisteredMem, index) != 0;
    device.atomic_with_host = attribute(cudaDevAttrHostNativeAtomicSupported, index) != 0;
    device.integrated = properties.integrated != 0;
    device.shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor;
    device.reads_pageable_memory = properties.pageableMemoryAccess != 0;
    device.managed_on_demand = properties.concurrentManagedAccess != 0;
    device.driver_version = driver_version;
    std::array<char, 32> bus_id{};
    if (cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), index) == cudaSuccess)
      device.bus_id = bus_id.data();
  }
  return devices;
}

}  // namespace cornerturn::cuda
