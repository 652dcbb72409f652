#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/result/result_sink.h"
#include "src/result/result_writer_options.h"

namespace cornerturn {

/// Endings of the pictures that this build can draw: "png", "svg", "pdf"; none without cairo.
std::vector<std::string> picture_kinds();

/// A sink that draws one CPI of the run (docs/result-format.md): the map with axes, units, colour bar, detections and
/// correlation matrix, as all the files of ResultWriterOptions::picture_paths, at the end of the run.
/// Errors: usage for an unknown ending and in a build without cairo; the sink's own are runtime (not writable, disk
/// full).
Expected<std::unique_ptr<ResultSink>> make_picture_sink(const ResultWriterOptions& options);

}  // namespace cornerturn
