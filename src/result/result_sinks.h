#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/result/result_sink.h"
#include "src/result/result_writer_options.h"

namespace cornerturn {

/// Words that name an output: "h5", "csv", "png", "svg", "pdf"; without cairo only the first two.
std::vector<std::string> output_words();

/// Paths DIRECTORY/STEM.h5, .csv, .png ... for the outputs named by `words`; `hdf5_path`, where not empty, is the path
/// of the result file instead. Errors: usage for an unknown word, and for a picture in a build without cairo.
Expected<ResultWriterOptions> place_results(const std::string& directory, const std::string& stem,
                                            const std::vector<std::string>& words, const std::string& hdf5_path = {});

/// The files that a run with these options leaves after a clean end.
std::vector<std::string> result_files(const ResultWriterOptions& options);

/// The sinks that write what `options` asks for. Nothing on disk is touched before begin().
/// Errors: usage for a picture of unknown kind, or in a build without cairo.
Expected<std::vector<std::unique_ptr<ResultSink>>> make_result_sinks(const ResultWriterOptions& options);

}  // namespace cornerturn
