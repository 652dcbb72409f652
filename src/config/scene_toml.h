#pragma once

#include <string>
#include <string_view>

#include "dsp/simulate/scene.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Reads and validates a scene file. The keys have the names of the structs' members, units included:
/// name, seed, cpi_count, cpi_period_s, complex_samples and the tables [shape], [radar], [waveform], [array],
/// [receiver], [clutter] and [[target]].
/// Errors: input when the file cannot be read, else usage with "file:line:key".
Expected<Scene> load_scene(const std::string& path);
/// The same from text; `source_name` stands for the file in messages.
Expected<Scene> parse_scene(std::string_view text, const std::string& source_name);

/// The scene that is built in (datasets/scenes/automotive-fmcw.toml), so that a demo needs no file.
std::string_view default_scene_toml();
Scene default_scene();

}  // namespace cornerturn
