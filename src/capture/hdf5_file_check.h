#pragma once

#include <string>

#include "dsp/vocabulary/error.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// Opens an HDF5 file of unknown quality. Looks at size and superblock first, so that a person learns what is wrong:
/// empty, text or something else renamed, cut inside the header, cut later (expected and real size), never closed by
/// its writer. Errors: input, one line.
/// Source: HDF5 File Format Specification 3.0, section II.A (superblock).
Expected<h5::File> open_hdf5_checked(const std::string& path);

/// True when the file begins with the HDF5 signature (at 0, 512, 1024 ...).
bool looks_like_hdf5(const std::string& path);

}  // namespace cornerturn
