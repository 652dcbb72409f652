#pragma once

#include <memory>
#include <string>

#include "dsp/vocabulary/error.h"
#include "src/capture/array_file.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// Opens one dataset of an HDF5 file as an array. Stored without filters (contiguous, or in chunks that are whole along
/// all axes but the first) it is read by file offset, outside the library; else through the library, without
/// conversion. Errors: input: no such dataset (the names there are), a type that is no number and no pair of equal
/// numbers, external links, external storage and virtual datasets (refused: a capture must not make the program read
/// other files), a filter this machine lacks, sizes that cannot be true.
Expected<std::unique_ptr<ArrayFile>> open_hdf5_array(const std::string& path, const std::string& dataset);

/// The same in a file that is open already.
Expected<std::unique_ptr<ArrayFile>> open_hdf5_array(const std::string& path, const h5::File& file,
                                                     const std::string& dataset);

}  // namespace cornerturn
