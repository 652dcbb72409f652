#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "src/stream/sink_runner.h"

namespace cornerturn {

/// Where the results of one capture go: DIRECTORY/STEM.*, the HDF5 results under a name that the user may have given.
struct OutputPlace {
  std::string directory;
  std::string stem;       ///< "walk.result" of "walk.h5", so that results never meet the capture
  std::string hdf5_path;  ///< empty: DIRECTORY/STEM.h5
};

/// The place for each capture. `output` is a directory, or for a single capture a file that ends in .h5 or .nc.
/// Errors: usage when two captures would write the same files.
Expected<std::vector<OutputPlace>> place_outputs(const std::vector<std::string>& captures, const std::string& output);

/// Refuses to write over what is there: usage, naming the first file that exists. Nothing is refused when `overwrite`.
Expected<void> check_free(const std::vector<std::string>& files, bool overwrite);

/// The directory exists or is made, and a file can be written there. Errors: runtime, with the system's reason.
Expected<void> prepare_directory(const std::string& directory);

/// Results that may wait for a writer; covers its pause at the end of a segment.
inline constexpr std::size_t kWriterQueue = 4;

/// Sinks for a session, and the files that they will have written after a clean end.
struct OutputSinks {
  std::vector<SinkSetup> sinks;
  std::vector<std::string> files;
};

/// Checks that the outputs named by `kinds` ("h5", "csv", "png" ...) can be written and makes their sinks.
/// `inputs` are files that no output may be, whatever `overwrite` says: captures above all.
/// Errors: usage (unknown kind, a file is there already or an input), runtime (the directory).
Expected<OutputSinks> open_outputs(const OutputPlace& place, const std::vector<std::string>& kinds, bool overwrite,
                                   const std::vector<std::string>& inputs);

/// Errors: usage when a file to write is one of the inputs, through links too.
Expected<void> check_not_input(const std::vector<std::string>& files, const std::vector<std::string>& inputs);

}  // namespace cornerturn
