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
  std::vector<std::string> devices;  ///< one line each
  std::string reason;                ///< why it is not available, with a remedy; empty if it is
};

struct BackendChoice {
  std::unique_ptr<Backend> backend;
  std::string note;  ///< what "auto" decided and why ("cpu: cuda is not available, ...")
};

/// "auto", "cpu", "cuda": what --backend accepts.
std::vector<std::string_view> backend_names();

/// Every backend this program knows of, and why it cannot be used if so.
std::vector<BackendAvailability> available_backends();

/// Makes a backend by name; auto takes cuda where it is available, else cpu.
/// Errors: usage for an unknown or unavailable name, with the reason; runtime when making it fails.
Expected<BackendChoice> make_backend(std::string_view name, ChainPlan plan, const BackendOptions& options = {});

/// Makes the backend of one configuration version: `result_slots` is what the sinks may hold at a time.
using BackendFactory =
    std::function<Expected<std::unique_ptr<Backend>>(const CaptureInfo&, const ChainConfig&, std::size_t result_slots)>;

/// make_chain_plan and make_backend in one; options.result_slots is set by the session.
BackendFactory chain_backend_factory(std::string name, BackendOptions options = {});

/// Loads a module and asks for its table; it stays loaded until the program ends.
/// Errors: runtime: absent, not a library of this machine, without the symbol, of another interface version.
Expected<const BackendModule*> load_backend_module(const std::filesystem::path& path);

}  // namespace cornerturn
