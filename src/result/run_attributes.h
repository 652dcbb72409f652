#pragma once

#include <string>

#include <hdf5.h>

#include "src/result/result_sink.h"

namespace cornerturn {

/// Writes the provenance of a run as attributes of a group of a result file: conventions, program, capture, chain,
/// radar, backend and the meaning of signs and levels (docs/result-format.md has the list). Throws h5::Hdf5Error.
void write_run_attributes(hid_t group, const RunDescription& run);

/// Now, as "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace cornerturn
