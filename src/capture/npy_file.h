#pragma once

#include <memory>
#include <string>

#include "dsp/vocabulary/error.h"
#include "src/capture/array_file.h"

namespace cornerturn {

/// Opens a NumPy .npy file (versions 1 to 3; C or Fortran order; either byte order; integers of 8 to 32 bits, float32,
/// float64, complex64, complex128, and structured types of two equal fields).
/// Errors: input: not .npy, damaged header, a type we do not read (Python objects, 64-bit integers), a short file.
/// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
Expected<std::unique_ptr<ArrayFile>> open_npy(const std::string& path);

}  // namespace cornerturn
