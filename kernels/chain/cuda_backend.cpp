#include "kernels/chain/cuda_backend.h"

#include <exception>
#include <new>
#include <utility>

#include "kernels/chain/device_backend.h"
#include "kernels/chain/strategy_choice.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_info.h"

namespace cornerturn::cuda {
namespace {

bool is_new_enough(const DeviceInfo& device) {
  return device.compute_major > kOldestComputeMajor ||
         (device.compute_major == kOldestComputeMajor && device.compute_minor >= kOldestComputeMinor);
}

std::string capability_text(int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); }

}  // namespace

Expected<std::vector<std::string>> describe_devices() {
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  std::vector<std::string> lines;
  for (const DeviceInfo& device : *devices)
    if (is_new_enough(device)) lines.push_back(std::to_string(device.index) + ": " + device.text());
  if (lines.empty())
    return runtime_error("cuda", "the GPU (" + devices->front().text() + ") is too old",
                         "compute capability " + capability_text(kOldestComputeMajor, kOldestComputeMinor) +
                             " or newer is needed; use --backend cpu");
  return lines;
}

Expected<std::unique_ptr<Backend>> make_cuda_backend(ChainPlan plan, const BackendOptions& options) {
  if (auto usable = describe_devices(); !usable) return unexpected(usable.error());
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  const unsigned wanted = options.devices.empty() ? 0U : options.devices.front();
  if (wanted >= devices->size())
    return usage_error("--devices", "there is no GPU " + std::to_string(wanted),
                       "this machine has " + std::to_string(devices->size()) + ", counted from 0");
  const DeviceInfo& device = (*devices)[wanted];
  if (!is_new_enough(device))
    return usage_error(
        "--devices", "GPU " + std::to_string(wanted) + " (" + device.text() + ") is too old",
        "compute capability " + capability_text(kOldestComputeMajor, kOldestComputeMinor) + " or newer is needed");

  DeviceBackend::Options backend_options;
  backend_options.device = device;
  backend_options.result_slots = options.result_slots;
  backend_options.threads = options.threads;
  backend_options.measure_stages = options.measure_stages;
  const bool automatic = options.memory == "auto";
  if (!automatic) {
    const auto strategy = parse_memory_strategy(options.memory);
    if (!strategy) {
      Error error = strategy.error();
      error.where = "--memory";
      return unexpected(std::move(error));
    }
    backend_options.strategy = *strategy;
  }
  const auto shared_plan = std::make_shared<const ChainPlan>(std::move(plan));
  try {
    if (automatic) {
      StrategyChoice choice = choose_strategy(shared_plan, backend_options);
      backend_options.strategy = choice.strategy;
      backend_options.note = std::move(choice.reason);
    }
    return std::make_unique<DeviceBackend>(shared_plan, backend_options);
  } catch (const OutOfMemory& exception) {
    return runtime_error(device.name, exception.what(), "use shorter CPIs, fewer gates (range.max_m) or --backend cpu");
  } catch (const CudaError& exception) {
    return runtime_error(device.name, exception.what(), "use --backend cpu");
  } catch (const std::bad_alloc&) {
    return runtime_error(device.name, "not enough host memory for the work space of the chain",
                         "use shorter CPIs or fewer result slots");
  }
}

}  // namespace cornerturn::cuda
