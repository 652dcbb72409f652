#pragma once

#include <cstddef>

namespace cornerturn::bench {

/// Rates of the link between host and device in bytes per second, medians of a few rounds.
struct LinkRates {
  double copy_in = 0.0;               ///< copy engine, host to device, alone
  double copy_in_beside = 0.0;        ///< the same while results go back
  double read_in_place = 0.0;         ///< a kernel that reads mapped host memory, alone
  double read_in_place_beside = 0.0;  ///< the same while results go back
};

/// Measures with buffers of `in_bytes`, while `out_bytes` go back for each of them. Throws CudaError.
LinkRates measure_link(std::size_t in_bytes, std::size_t out_bytes);

}  // namespace cornerturn::bench
