#pragma once

#include <string>

#include "src/support/hdf5.h"

/// Ways into an HDF5 file that never lead out of it: a capture must not make the program read other files.
namespace cornerturn::h5 {

/// Opens a dataset or group without following links into other files.
/// Throws Hdf5Error; `refused` says whether such a link was met.
Object open_inside(const File& file, const std::string& path, bool& refused);
Dataset open_dataset_inside(const File& file, const std::string& path, bool& refused);
/// The same where the reason does not matter: throws Hdf5Error that names the link.
Object open_inside(const File& file, const std::string& path);
Dataset open_dataset_inside(const File& file, const std::string& path);
/// True when the object exists and lies in this file.
bool exists_inside(const File& file, const std::string& path);

}  // namespace cornerturn::h5
