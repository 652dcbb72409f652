#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"
#include "src/capture/array_file.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// "4096000 bytes = 2^15 x 5^3": what a raw file of unknown shape can be made of.
std::string describe_size(std::uint64_t size_bytes);

/// A raw file opened under a described shape.
struct RawArray {
  std::unique_ptr<ArrayFile> array;
  std::vector<Doubt> doubts;  ///< sizes that do not fit exactly
};

/// Opens a file of plain elements after `skip_bytes`. shape[0] = 0: as many as the file holds.
/// Bytes left over, or a file that is a multiple or a fraction of what was described, become doubts with the factor.
/// Errors: input: shorter than described (expected and real size).
Expected<RawArray> open_raw_array(const std::string& path, const ArrayElement& element,
                                  std::vector<std::uint64_t> shape, std::uint64_t skip_bytes);

}  // namespace cornerturn
