#pragma once

#include <optional>

#include "src/capture/array_file.h"
#include "src/support/hdf5.h"

namespace cornerturn {

/// The element that an HDF5 type stands for: a scalar, or a compound of two equal scalars at multiples of their size
/// (a complex number, whatever its members are called). Nothing for all other types.
std::optional<ArrayElement> element_of_hdf5_type(hid_t type);

}  // namespace cornerturn
