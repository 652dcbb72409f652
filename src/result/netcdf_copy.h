#pragma once

#include <string>
#include <vector>

#include "src/support/hdf5.h"

namespace cornerturn {

/// Name of the dimension of each axis of a variable; a coordinate variable or bare dimension has its own name.
/// Throws h5::Hdf5Error when an axis has none.
std::vector<std::string> dimension_names(const h5::Dataset& dataset, const std::string& name);

/// Creates in `to` what is in `from`, without data: type, storage, attributes; unlimited axes are empty.
/// Scales are attached by attach_scales() once all of them exist.
h5::Dataset clone_dataset(const h5::Dataset& from, hid_t to_file, hid_t to_group, const std::string& name);
void attach_scales(const h5::Dataset& dataset, hid_t group, const std::string& name,
                   const std::vector<std::string>& dimensions);

/// Copies all attributes but the references of dimension scales.
void copy_attributes(hid_t from, hid_t to);
/// Commits to `to_file` the named types of `from_file` that it lacks.
void copy_named_types(hid_t from_file, hid_t to_file);

/// True when the first axis grows without limit.
bool grows(const h5::Dataset& dataset);

}  // namespace cornerturn
