#pragma once

#include <cstddef>
#include <span>

#include "dsp/vocabulary/raw_cpi.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// The scalar that capture v1 stores for a format: itself, but int16 for packed 12-bit samples.
SampleFormat canonical_format(SampleFormat format);

/// Bytes of one CPI in the order of capture v1.
std::size_t canonical_bytes(const RawLayout& layout, const CpiShape& shape);

/// Copies the samples of a CPI, values and byte order untouched, into the order (pulse, channel, sample, I before Q).
/// Requires: segments that hold required_bytes() of the layout; out of canonical_bytes().
void copy_canonical(const RawCpi& cpi, const RawLayout& layout, const CpiShape& shape, std::span<std::byte> out);

}  // namespace cornerturn
