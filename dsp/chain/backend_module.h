#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"

namespace cornerturn {

/// How a backend is to be made; each backend reads what concerns it.
struct BackendOptions {
  std::size_t threads = 0;        ///< host threads, 0: one per core
  std::size_t result_slots = 4;   ///< results that sinks may hold at a time, beyond those in flight
  std::string memory = "auto";    ///< memory strategy of backends that have a choice
  std::vector<unsigned> devices;  ///< devices of backends that have several; empty: all
  bool measure_stages = false;    ///< time each stage on the device, at some cost in speed
};

/// What a backend in a module of its own (loaded at run time) offers. Module and program are built together: the
/// interface version guards against a module left over from another build.
struct BackendModule {
  static constexpr std::uint32_t kInterfaceVersion = 2;

  std::uint32_t interface_version = kInterfaceVersion;
  const char* name = "";
  /// One line per usable device. Errors: runtime, saying why there is none (no driver, driver too old, no device).
  Expected<std::vector<std::string>> (*devices)() = nullptr;
  Expected<std::unique_ptr<Backend>> (*make)(ChainPlan plan, const BackendOptions& options) = nullptr;
};

/// The one symbol of a module: `extern "C" const cornerturn::BackendModule* cornerturn_backend_module()`.
using BackendModuleFunction = const BackendModule* (*)();
inline constexpr const char* kBackendModuleSymbol = "cornerturn_backend_module";

}  // namespace cornerturn
