#include "src/stream/backend_choice.h"

#include <system_error>
#include <thread>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cornerturn {
namespace {

constexpr const char* kCudaModuleFile = "libcornerturn_cuda.so";
constexpr std::string_view kUseCpu = "use --backend cpu, or auto";

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

Expected<std::vector<std::string>> cuda_devices() {
  const Expected<const BackendModule*> module = load_cuda_module();
  if (!module) return unexpected(module.error());
  return (*module)->devices();
}

Expected<BackendChoice> make_cpu(ChainPlan plan, const BackendOptions& options, std::string note) {
  auto backend = make_cpu_backend(std::move(plan), {options.threads, options.result_slots});
  if (!backend) return unexpected(std::move(backend.error()));
  return BackendChoice{std::move(*backend), std::move(note)};
}

Expected<BackendChoice> make_cuda(ChainPlan plan, const BackendOptions& options, std::string note) {
  const Expected<const BackendModule*> module = load_cuda_module();
  if (!module) return unexpected(module.error());
  auto backend = (*module)->make(std::move(plan), options);
  if (!backend) return unexpected(std::move(backend.error()));
  return BackendChoice{std::move(*backend), std::move(note)};
}

}  // namespace

std::vector<std::string_view> backend_names() { return {"auto", "cpu", "cuda"}; }

std::vector<BackendAvailability> available_backends() {
  std::vector<BackendAvailability> rows;
  const unsigned threads = std::thread::hardware_concurrency();
  rows.push_back({"cpu", true, {fmt::format("{} thread{}", threads, threads == 1 ? "" : "s")}, ""});

  BackendAvailability cuda{"cuda", false, {}, ""};
  Expected<std::vector<std::string>> devices = cuda_devices();
  if (devices) {
    cuda.available = true;
    cuda.devices = std::move(*devices);
  } else {
    cuda.reason =
        devices.error().remedy.empty() ? devices.error().what : devices.error().what + "; " + devices.error().remedy;
  }
  rows.push_back(std::move(cuda));
  return rows;
}

Expected<BackendChoice> make_backend(std::string_view name, ChainPlan plan, const BackendOptions& options) {
  if (name == "cpu") return make_cpu(std::move(plan), options, "");
  if (name != "cuda" && name != "auto") {
    return usage_error("--backend", fmt::format("'{}' is not a backend", name), "use auto, cpu or cuda");
  }
  const Expected<std::vector<std::string>> devices = cuda_devices();
  if (name == "cuda") {
    if (!devices) return usage_error("--backend cuda", devices.error().what, std::string(kUseCpu));
    return make_cuda(std::move(plan), options, "");
  }
  if (!devices) return make_cpu(std::move(plan), options, "cpu, because " + devices.error().what);
  // A chain that the device cannot hold is no reason to fail where the CPU can run it.
  Expected<BackendChoice> cuda = make_cuda(plan, options, "");
  if (cuda) return cuda;
  return make_cpu(std::move(plan), options, "cpu, because cuda failed: " + cuda.error().message());
}

BackendFactory chain_backend_factory(std::string name, BackendOptions options) {
  return [name = std::move(name), options = std::move(options)](
             const CaptureInfo& info, const ChainConfig& config,
             std::size_t result_slots) -> Expected<std::unique_ptr<Backend>> {
    Expected<ChainPlan> plan = make_chain_plan(info.radar, info.layout, info.shape, config);
    if (!plan) return unexpected(std::move(plan.error()));
    BackendOptions with_slots = options;
    with_slots.result_slots = result_slots;
    Expected<BackendChoice> choice = make_backend(name, std::move(*plan), with_slots);
    if (!choice) return unexpected(std::move(choice.error()));
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
