#include "kernels/chain/cuda_backend.h"

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "dsp/chain/backend_group.h"
#include "kernels/chain/device_backend.h"
#include "kernels/chain/strategy_choice.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_info.h"

namespace cornerturn::cuda {
namespace {

const char* const kCapabilityRemedy = "compute capability 7.5 or newer is needed";
static_assert(kOldestComputeMajor == 7 && kOldestComputeMinor == 5);

/// Turns what CUDA throws while a backend is made into an error that says what to do.
template <typename Body> auto with_remedies(const std::string& device, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const OutOfMemory& exception) {
    return runtime_error(device, exception.what(), "use shorter CPIs, fewer gates (range.max_m) or --backend cpu");
  } catch (const CudaError& exception) {
    return runtime_error(device, exception.what(), "use --backend cpu");
  } catch (const std::bad_alloc&) {
    return runtime_error(device, "not enough host memory for the work space of the chain",
                         "use shorter CPIs or fewer result slots");
  } catch (const std::exception& exception) {
    return runtime_error(device, exception.what(), "use --backend cpu");
  }
}

/// The devices that are wanted, in the order in which they were listed. Errors: usage.
Expected<std::vector<DeviceInfo>> chosen_devices(const BackendOptions& options) {
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  std::vector<DeviceInfo> chosen;
  for (const unsigned wanted : options.devices.empty() ? std::vector<unsigned>{0} : options.devices) {
    if (wanted >= devices->size())
      return usage_error("--devices", "there is no GPU " + std::to_string(wanted),
                         devices->size() == 1 ? "this machine has one, which is GPU 0"
                                              : "this machine has " + std::to_string(devices->size()) +
                                                    ", counted from 0; cornerturn devices lists them");
    const DeviceInfo& device = (*devices)[wanted];
    if (!device.is_new_enough())
      return usage_error("--devices", "GPU " + std::to_string(wanted) + " (" + device.text() + ") is too old",
                         kCapabilityRemedy);
    chosen.push_back(device);
  }
  return chosen;
}

DeviceBackend::Options device_options(const BackendOptions& options, std::size_t device_count) {
  DeviceBackend::Options device;
  device.result_slots = options.result_slots;
  device.threads = options.threads;
  if (device.threads == 0 && device_count > 1)  // the host's share of each device
    device.threads = std::clamp<std::size_t>(std::thread::hardware_concurrency() / (2 * device_count), 1, 8);
  device.measure_stages = options.measure_stages;
  device.note = options.memory_reason;
  return device;
}

}  // namespace

Expected<std::vector<std::string>> describe_devices() {
  const auto devices = find_devices();
  if (!devices) return unexpected(devices.error());
  std::vector<std::string> lines;
  for (const DeviceInfo& device : *devices)
    if (device.is_new_enough()) lines.push_back(std::to_string(device.index) + ": " + device.text());
  if (lines.empty())
    return runtime_error("cuda", "the GPU (" + devices->front().text() + ") is too old",
                         std::string(kCapabilityRemedy) + "; use --backend cpu");
  return lines;
}

Expected<MemoryChoice> choose_memory(const ChainPlan& plan, const BackendOptions& options) {
  const auto devices = chosen_devices(options);
  if (!devices) return unexpected(devices.error());
  return with_remedies(devices->front().name, [&]() -> Expected<MemoryChoice> {
    DeviceBackend::Options first = device_options(options, 1);
    first.device = devices->front();
    const StrategyChoice choice = choose_strategy(std::make_shared<const ChainPlan>(plan), first);
    return MemoryChoice{std::string(traits_of(choice.strategy).name), choice.reason};
  });
}

Expected<std::unique_ptr<Backend>> make_cuda_backend(ChainPlan plan, const BackendOptions& options) {
  BackendOptions settled = options;
  if (options.memory == "auto") {
    auto choice = choose_memory(plan, options);
    if (!choice) return unexpected(std::move(choice.error()));
    settled.memory = std::move(choice->memory);
    settled.memory_reason = std::move(choice->reason);
  }
  const auto strategy = parse_memory_strategy(settled.memory);
  if (!strategy) {
    Error error = strategy.error();
    error.where = "--memory";
    return unexpected(std::move(error));
  }
  const auto devices = chosen_devices(settled);
  if (!devices) return unexpected(devices.error());
  const auto shared_plan = std::make_shared<const ChainPlan>(std::move(plan));
  std::vector<std::unique_ptr<Backend>> members;
  for (const DeviceInfo& device : *devices) {
    auto made = with_remedies(device.name, [&]() -> Expected<std::unique_ptr<Backend>> {
      DeviceBackend::Options member = device_options(settled, devices->size());
      member.device = device;
      member.strategy = *strategy;
      member.foreign_slots = !members.empty();
      return std::make_unique<DeviceBackend>(shared_plan, member);
    });
    if (!made) return unexpected(std::move(made.error()));
    members.push_back(std::move(*made));
  }
  if (members.size() == 1) return std::move(members.front());
  return std::make_unique<BackendGroup>(std::move(members));
}

}  // namespace cornerturn::cuda
