#include "src/stream/backend_choice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <thread>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "src/stream/memory_cache.h"

namespace cornerturn {
namespace {

constexpr const char* kCudaModuleFile = "libcornerturn_cuda.so";
constexpr std::string_view kUseCpu = "use --backend cpu, or auto";
constexpr std::array<std::string_view, 7> kMemoryNames = {"auto",      "pageable",     "pinned", "overlapped",
                                                          "zero-copy", "zero-copy-wc", "hybrid"};

// Beside the executable (build tree) or in ../lib (installed).
Expected<const BackendModule*> load_cuda_module() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path folder = failed ? std::filesystem::path(".") : program.parent_path();
  for (const std::filesystem::path& path : {folder / kCudaModuleFile, folder.parent_path() / "lib" / kCudaModuleFile}) {
    if (std::filesystem::exists(path, failed)) return load_backend_module(path);
  }
  return runtime_error(
      "cuda", fmt::format("this build has no CUDA module ({} is not in {})", kCudaModuleFile, folder.string()));
}

Expected<std::vector<DeviceDescription>> cuda_devices() {
  const Expected<const BackendModule*> module = cuda_module();
  if (!module) return unexpected(module.error());
  return (*module)->devices();
}

/// The options that only cuda understands, as the user wrote them; empty if there are none.
std::string cuda_options_in(const BackendOptions& options) {
  std::string words;
  if (options.memory != "auto") words = "--memory " + options.memory;
  if (!options.devices.empty())
    words += fmt::format("{}--devices {}", words.empty() ? "" : " ", fmt::join(options.devices, ","));
  return words;
}

Expected<BackendChoice> make_cpu(ChainPlan plan, const BackendOptions& options, std::string note) {
  auto backend = make_cpu_backend(std::move(plan), {options.threads, options.result_slots});
  if (!backend) return unexpected(std::move(backend.error()));
  return BackendChoice{std::move(*backend), std::move(note)};
}

/// Asks the cache, else measures and remembers.
Expected<void> settle_memory(const BackendModule& module, const ChainPlan& plan, BackendOptions& options) {
  const Expected<std::vector<DeviceDescription>> devices = module.devices();
  if (!devices) return unexpected(devices.error());
  const unsigned first = options.devices.empty() ? 0 : options.devices.front();
  const auto device = std::find_if(devices->begin(), devices->end(),
                                   [&](const DeviceDescription& description) { return description.index == first; });
  const MemoryCache cache(MemoryCache::default_file());
  const std::string key = MemoryCache::key_of(device == devices->end() ? "" : device->name, plan);
  if (const std::optional<MemoryChoice> known = cache.find(key);
      known && parse_memory(known->memory) && known->memory != "auto") {
    options.memory = known->memory;
    options.memory_reason = known->reason + ", measured before";
    return {};
  }
  Expected<MemoryChoice> choice = module.choose_memory(plan, options);
  if (!choice) return unexpected(std::move(choice.error()));
  cache.remember(key, *choice);
  options.memory = std::move(choice->memory);
  options.memory_reason = std::move(choice->reason);
  return {};
}

Expected<BackendChoice> make_cuda(ChainPlan plan, const BackendOptions& options, std::string note) {
  const Expected<const BackendModule*> module = cuda_module();
  if (!module) return unexpected(module.error());
  BackendOptions settled = options;
  if (options.memory == "auto") {
    if (const Expected<void> chosen = settle_memory(**module, plan, settled); !chosen)
      return unexpected(chosen.error());
  }
  auto backend = (*module)->make(std::move(plan), settled);
  if (!backend) return unexpected(std::move(backend.error()));
  return BackendChoice{std::move(*backend), std::move(note)};
}

}  // namespace

std::vector<std::string_view> backend_names() { return {"auto", "cpu", "cuda"}; }

std::vector<std::string_view> memory_names() { return {kMemoryNames.begin(), kMemoryNames.end()}; }

Expected<std::string> parse_memory(std::string_view text) {
  if (std::find(kMemoryNames.begin(), kMemoryNames.end(), text) != kMemoryNames.end()) return std::string(text);
  return usage_error("--memory", fmt::format("'{}' is not a memory strategy", text),
                     fmt::format("use one of: {}", fmt::join(kMemoryNames, ", ")));
}

Expected<std::vector<unsigned>> parse_devices(std::string_view text) {
  std::vector<unsigned> devices;
  if (text == "all") {
    const Expected<std::vector<DeviceDescription>> found = cuda_devices();
    if (!found) return usage_error("--devices all", found.error().what, std::string(kUseCpu));
    for (const DeviceDescription& device : *found)
      if (device.usable) devices.push_back(device.index);
    return devices;
  }
  constexpr std::size_t kMostDevices = 64;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    unsigned device = 0;
    const auto [stop, failed] = std::from_chars(word.data(), word.data() + word.size(), device);
    if (failed != std::errc() || stop != word.data() + word.size() || devices.size() == kMostDevices)
      return usage_error("--devices", fmt::format("'{}' is no list of devices", text),
                         "write numbers as cornerturn devices lists them (0 or 0,1), or all");
    devices.push_back(device);
    begin = end + 1;
  }
  return devices;
}

Expected<const BackendModule*> cuda_module() {
  static const Expected<const BackendModule*> module = load_cuda_module();
  return module;
}

std::vector<BackendAvailability> available_backends() {
  std::vector<BackendAvailability> rows;
  const unsigned threads = std::thread::hardware_concurrency();
  rows.push_back({"cpu", true, {fmt::format("{} thread{}", threads, threads == 1 ? "" : "s")}, {}, ""});

  BackendAvailability cuda{"cuda", false, {}, {}, ""};
  Expected<std::vector<DeviceDescription>> devices = cuda_devices();
  if (devices) {
    cuda.available = true;
    for (const DeviceDescription& device : *devices)
      cuda.devices.push_back(fmt::format("{}: {}", device.index, device.summary));
    cuda.descriptions = std::move(*devices);
  } else {
    cuda.reason =
        devices.error().remedy.empty() ? devices.error().what : devices.error().what + "; " + devices.error().remedy;
  }
  rows.push_back(std::move(cuda));
  return rows;
}

Expected<BackendChoice> make_backend(std::string_view name, ChainPlan plan, const BackendOptions& options) {
  const std::string cuda_options = cuda_options_in(options);
  if (name == "cpu") {
    if (!cuda_options.empty())
      return usage_error(cuda_options, "the CPU backend has neither memory strategies nor devices",
                         "leave it out or use --backend cuda");
    return make_cpu(std::move(plan), options, "");
  }
  if (name != "cuda" && name != "auto") {
    return usage_error("--backend", fmt::format("'{}' is not a backend", name), "use auto, cpu or cuda");
  }
  const Expected<std::vector<DeviceDescription>> devices = cuda_devices();
  if (!devices && !cuda_options.empty())
    return usage_error(cuda_options, fmt::format("needs the CUDA backend, and {}", devices.error().what),
                       "leave it out to use the processor");
  if (name == "cuda") {
    if (!devices) return usage_error("--backend cuda", devices.error().what, std::string(kUseCpu));
    return make_cuda(std::move(plan), options, "");
  }
  if (!devices) return make_cpu(std::move(plan), options, "cpu, because " + devices.error().what);
  // A chain that the device cannot hold is no reason to fail where the CPU can run it.
  Expected<BackendChoice> cuda = make_cuda(plan, options, "");
  if (cuda || !cuda_options.empty()) return cuda;
  return make_cpu(std::move(plan), options, "cpu, because cuda failed: " + cuda.error().message());
}

BackendFactory chain_backend_factory(std::string name, BackendOptions options,
                                     std::function<void(const std::string&)> tell_note) {
  return [name = std::move(name), options = std::move(options), tell_note = std::move(tell_note)](
             const CaptureInfo& info, const ChainConfig& config,
             std::size_t result_slots) -> Expected<std::unique_ptr<Backend>> {
    Expected<ChainPlan> plan = make_chain_plan(info.radar, info.layout, info.shape, config);
    if (!plan) return unexpected(std::move(plan.error()));
    BackendOptions with_slots = options;
    with_slots.result_slots = result_slots;
    Expected<BackendChoice> choice = make_backend(name, std::move(*plan), with_slots);
    if (!choice) return unexpected(std::move(choice.error()));
    if (tell_note) tell_note(choice->note);
    return std::move(choice->backend);
  };
}

Expected<const BackendModule*> load_backend_module(const std::filesystem::path& path) {
  // Never closed: objects of the module may live until the program ends.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return runtime_error(path.string(), fmt::format("cannot be loaded ({})", why == nullptr ? "no reason given" : why),
                         "install the libraries it names or build it again");
  }
  const auto function = reinterpret_cast<BackendModuleFunction>(dlsym(library, kBackendModuleSymbol));
  const BackendModule* module = function == nullptr ? nullptr : function();
  if (module == nullptr) {
    return runtime_error(path.string(), fmt::format("is no backend module (it lacks {})", kBackendModuleSymbol),
                         "remove it or build it again");
  }
  if (module->interface_version != BackendModule::kInterfaceVersion) {
    return runtime_error(path.string(),
                         fmt::format("has interface version {}, this program needs {}", module->interface_version,
                                     BackendModule::kInterfaceVersion),
                         "build the module and the program together");
  }
  return module;
}

}  // namespace cornerturn
