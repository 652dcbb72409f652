#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/device_probe.h"

namespace cornerturn {

/// How a backend is to be made; each backend reads what concerns it.
struct BackendOptions {
  std::size_t threads = 0;        ///< host threads, 0: one per core
  std::size_t result_slots = 4;   ///< results that sinks may hold at a time, beyond those in flight
  std::string memory = "auto";    ///< memory strategy of backends that have a choice
  std::string memory_reason{};    ///< why this strategy, for the user, where it was chosen before; may be empty
  std::vector<unsigned> devices;  ///< devices of backends that have several, one may be listed twice; empty: the first
  bool measure_stages = false;    ///< time each stage on the device, at some cost in speed
};

/// What "auto" comes to.
struct MemoryChoice {
  std::string memory;  ///< a strategy as in BackendOptions::memory, never "auto"
  std::string reason;  ///< one line with the measured times
};

/// What a backend in a module of its own (loaded at run time) offers. Module and program are built together: the
/// interface version guards against a module left over from another build.
struct BackendModule {
  static constexpr std::uint32_t kInterfaceVersion = 3;

  std::uint32_t interface_version = kInterfaceVersion;
  const char* name = "";
  /// Every device, at least one of them usable. Errors: runtime, saying why there is none (no driver, driver too old,
  /// no device).
  Expected<std::vector<DeviceDescription>> (*devices)() = nullptr;
  /// Errors: usage for an unknown device or memory strategy; runtime when making it fails.
  Expected<std::unique_ptr<Backend>> (*make)(ChainPlan plan, const BackendOptions& options) = nullptr;
  /// Runs the plan with each memory strategy that may win, for under two seconds in all. Errors: as make.
  Expected<MemoryChoice> (*choose_memory)(const ChainPlan& plan, const BackendOptions& options) = nullptr;
  /// Errors: usage for an unknown device; runtime when memory is short or a call fails.
  Expected<LinkRates> (*measure_link)(const LinkQuestion& question) = nullptr;
  /// Stride, and granule x window up to `largest_window_bytes`. Errors: as measure_link.
  Expected<std::vector<AccessRate>> (*measure_access)(unsigned device, std::size_t largest_window_bytes) = nullptr;
};

/// The one symbol of a module: `extern "C" const cornerturn::BackendModule* cornerturn_backend_module()`.
using BackendModuleFunction = const BackendModule* (*)();
inline constexpr const char* kBackendModuleSymbol = "cornerturn_backend_module";

}  // namespace cornerturn
