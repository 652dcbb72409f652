#pragma once

#include <string>

#include "dsp/vocabulary/error.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// The Error of a failed write of results: the system's reason where HDF5 has one, and what to do.
tl::unexpected<Error> result_fault(const std::string& path, const h5::Hdf5Error& error);

}  // namespace cornerturn
