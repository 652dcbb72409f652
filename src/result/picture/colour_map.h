#pragma once

#include <cstdint>

namespace cornerturn {

struct Colour {
  double red = 0.0;  ///< 0 to 1, like the others
  double green = 0.0;
  double blue = 0.0;
};

/// The colour map viridis: dark violet at 0, yellow at 1, evenly brighter in between, also for colour-blind readers.
/// `position` is clipped to [0, 1]; NaN gives the colour of 0.
/// Source: S. van der Walt, N. Smith (2015), CC0; 33 of its 256 colours, linear in between.
Colour viridis(double position);

/// The colour map twilight, whose ends meet, for angles; `position` as above.
/// Source: B. Bechtold, matplotlib (2018), CC0; 33 of its 510 colours, linear in between.
Colour twilight(double position);

/// The colour as one word of a 24-bit image, 0x00RRGGBB.
std::uint32_t packed(const Colour& colour);

}  // namespace cornerturn
