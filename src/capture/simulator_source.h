#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dsp/simulate/scene.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

struct SimulatorOptions {
  /// Paced: a live source, each CPI is delivered when its last pulse would have been received. Else as fast as it goes.
  bool paced = false;
  /// CPIs to deliver instead of the scene's own count; 0: endless.
  std::optional<std::size_t> cpi_count;
};

/// True for "sim://...".
bool is_simulator_uri(std::string_view uri);

/// Opens "sim://SCENE.toml", paced by the scene's timing; "sim://" alone is the built-in scene. Options follow after
/// '?', joined by '&': fast (as fast as it goes, nothing is dropped), cpis=N (0: endless). Errors: as load_scene();
/// usage for an unknown option.
Expected<std::unique_ptr<CaptureSource>> open_simulator(const std::string& uri);

/// The same for a scene in memory; `path` stands for it in CaptureInfo. Requires a validated scene (contract).
std::unique_ptr<CaptureSource> make_simulator_source(Scene scene, std::string path, const SimulatorOptions& options);

}  // namespace cornerturn
