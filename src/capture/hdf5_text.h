#pragma once

#include <optional>
#include <string>

#include "src/capture/read_only_file.h"
#include "src/support/hdf5.h"

/// Texts out of files of unknown quality. HDF5 1.10 trusts the references and sizes of variable-length data and crashes
/// on damaged ones, so that it never reads such data here.
namespace cornerturn::h5 {

/// One text stored as a dataset, of fixed or variable length; the latter is found in the file's global heap by our own,
/// checked reader. Nothing when it is absent, no single text, damaged, or longer than a MiB.
/// Source: HDF5 File Format Specification 3.0, section III.E (global heap).
std::optional<std::string> read_text_dataset(const File& file, const ReadOnlyFile& bytes, const std::string& path);

/// Text attribute of fixed length; nothing when it is absent. Throws Hdf5Error, also for variable length.
std::optional<std::string> find_fixed_text_attribute(hid_t object, const std::string& name);

}  // namespace cornerturn::h5
