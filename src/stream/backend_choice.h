#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/backend_module.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// One row of `cornerturn devices`.
struct BackendAvailability {
  std::string name;  ///< "cpu", "cuda"
  bool available = false;
  std::vector<std::string> devices;             ///< one line each
  std::vector<DeviceDescription> descriptions;  ///< of backends that have devices, also of unusable ones
  std::string reason;                           ///< why it is not available, with a remedy; empty if it is
};

struct BackendChoice {
  std::unique_ptr<Backend> backend;
  std::string note;  ///< what "auto" decided and why ("cpu: cuda is not available, ...")
};

/// "auto", "cpu", "cuda": what --backend accepts.
std::vector<std::string_view> backend_names();

/// "auto", "pageable" ...: what --memory accepts.
std::vector<std::string_view> memory_names();
/// A word of memory_names(). Errors: usage.
Expected<std::string> parse_memory(std::string_view text);
/// "0,1" or "all". Errors: usage; for "all" also why there is no device.
Expected<std::vector<unsigned>> parse_devices(std::string_view text);

/// The CUDA module, loaded once. Errors: runtime: this build has none, or it cannot be loaded.
Expected<const BackendModule*> cuda_module();

/// Every backend this program knows of, and why it cannot be used if so.
std::vector<BackendAvailability> available_backends();

/// Makes a backend by name; auto takes cuda where it is available, else cpu. A memory strategy or devices in the
/// options ask for cuda in words: then the CPU is not taken instead. The strategy that memory "auto" finds is
/// remembered (MemoryCache). Errors: usage for an unknown or unavailable name, with the reason; runtime when making it
/// fails.
Expected<BackendChoice> make_backend(std::string_view name, ChainPlan plan, const BackendOptions& options = {});

/// Makes the backend of one configuration version: `result_slots` is what the sinks may hold at a time.
using BackendFactory =
    std::function<Expected<std::unique_ptr<Backend>>(const CaptureInfo&, const ChainConfig&, std::size_t result_slots)>;

/// make_chain_plan and make_backend in one; options.result_slots is set by the session. `tell_note` (may be empty) gets
/// BackendChoice::note of each backend made.
BackendFactory chain_backend_factory(std::string name, BackendOptions options = {},
                                     std::function<void(const std::string&)> tell_note = {});

/// Loads a module and asks for its table; it stays loaded until the program ends.
/// Errors: runtime: absent, not a library of this machine, without the symbol, of another interface version.
Expected<const BackendModule*> load_backend_module(const std::filesystem::path& path);

}  // namespace cornerturn
