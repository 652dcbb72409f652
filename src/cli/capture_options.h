#pragma once

#include <functional>
#include <string>

#include "src/capture/open_capture.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name of CLI11
class App;
}

namespace cornerturn {

/// --layout, --iq-order and --pulses of the commands that open captures. `options` outlives `command`.
void add_capture_options(CLI::App& command, CaptureOptions& options);

}  // namespace cornerturn
