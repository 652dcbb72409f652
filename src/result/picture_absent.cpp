// Built instead of picture/ where cairo is left out (CORNERTURN_MINIMAL).
#include "src/result/picture_sink.h"

namespace cornerturn {

std::vector<std::string> picture_kinds() { return {}; }

Expected<std::unique_ptr<ResultSink>> make_picture_sink(const ResultWriterOptions& options) {
  return usage_error(options.picture_paths.empty() ? "" : options.picture_paths.front(),
                     "cannot be drawn by this build, which is without cairo",
                     "build without CORNERTURN_MINIMAL, or leave pictures out");
}

}  // namespace cornerturn
