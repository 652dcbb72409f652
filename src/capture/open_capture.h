#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/raw_layout.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// What the user may say about a capture on the command line; stronger than its sidecar.
struct CaptureOptions {
  std::string layout_path;          ///< sidecar; empty: CAPTURE.cornerturn.toml where it exists
  std::optional<IqOrder> iq_order;  ///< order of I and Q
  std::size_t pulses_per_cpi = 0;   ///< 0: as the sidecar or the format says
};

/// Opens a capture of any known format. The format is the one that its sidecar names ("array" when it names none), else
/// the one whose content is recognised.
/// Errors: input (the file) or usage (the sidecar, file:line:key).
Expected<std::unique_ptr<CaptureSource>> open_capture(const std::string& path, const CaptureOptions& options = {});

/// One row of `cornerturn formats`.
struct CaptureFormatInfo {
  std::string name;
  std::string what;
  std::string missing;  ///< why this build cannot read it; empty: it can
};
std::vector<CaptureFormatInfo> capture_formats();

/// The sidecar that open_capture() looks for beside a capture.
std::string sidecar_path(const std::string& capture_path);

}  // namespace cornerturn
