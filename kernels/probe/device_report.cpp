#include "kernels/probe/device_report.h"

#include <exception>
#include <string>
#include <utility>

#include "kernels/chain/cuda_backend.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_info.h"
#include "kernels/probe/link_probe.h"

namespace cornerturn::cuda {
namespace {

std::string copy_engines_text(int count) {
  switch (count) {
    case 0:
      return "none: copies and kernels take turns";
    case 1:
      return "1: copies beside kernels, one direction at a time";
    default:
      return std::to_string(count) + ": copies both ways beside kernels";
  }
}

DeviceDescription describe(const DeviceInfo& device) {
  DeviceDescription description;
  description.index = static_cast<unsigned>(device.index);
  description.name = device.name;
  description.summary = device.text();
  description.bus_id = device.bus_id;
  description.usable = device.is_new_enough();
  if (!description.usable) description.summary += "; too old";
  auto& facts = description.facts;
  facts.emplace_back("compute capability",
                     std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor));
  facts.emplace_back("memory", bytes_text(device.memory_bytes) + ", L2 cache " + bytes_text(device.l2_bytes));
  facts.emplace_back("multiprocessors", std::to_string(device.multiprocessors) + ", " +
                                            bytes_text(device.shared_bytes_per_multiprocessor) +
                                            " of shared memory each");
  facts.emplace_back("copy engines", copy_engines_text(device.copy_engines));
  facts.emplace_back("mapped memory", !device.maps_host_memory ? "no: zero-copy and hybrid are not possible"
                                      : device.integrated
                                          ? "yes, and the memory is the host's own: zero-copy costs nothing"
                                          : "yes: kernels read page-locked host memory in place");
  facts.emplace_back("pageable memory in place",
                     device.reads_pageable_memory ? "yes" : "no: it is copied through the driver");
  facts.emplace_back("managed memory", device.managed_on_demand ? "pages move on demand" : "moved as a whole");
  facts.emplace_back("atomics with the host", device.atomic_with_host ? "yes" : "no: keep counters on the device");
  facts.emplace_back(
      "driver", "up to CUDA " + version_text(device.driver_version) + "; built with " + version_text(CUDART_VERSION));
  return description;
}

template <typename Body> auto on_device(unsigned index, Body&& body) -> Expected<decltype(body())> {
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  if (index >= devices->size())
    return usage_error("--devices", "there is no GPU " + std::to_string(index), "cornerturn devices lists them");
  const DeviceInfo& device = (*devices)[index];
  try {
    check(cudaSetDevice(device.index), "cudaSetDevice");
    return body();
  } catch (const OutOfMemory& exception) {
    return runtime_error(device.name, exception.what(), "measure when other programs have ended");
  } catch (const std::exception& exception) {
    return runtime_error(device.name, exception.what(), "check the driver with nvidia-smi");
  }
}

}  // namespace

Expected<std::vector<DeviceDescription>> report_devices() {
  if (const auto usable = describe_devices(); !usable) return unexpected(usable.error());
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  std::vector<DeviceDescription> descriptions;
  for (const DeviceInfo& device : *devices) descriptions.push_back(describe(device));
  return descriptions;
}

Expected<LinkRates> measure_link(const LinkQuestion& question) {
  return on_device(question.device, [&] { return probe_link(question); });
}

Expected<std::vector<AccessRate>> measure_access(unsigned device, std::size_t largest_window_bytes) {
  return on_device(device, [&] { return probe_access(largest_window_bytes); });
}

}  // namespace cornerturn::cuda
