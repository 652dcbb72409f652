#pragma once

#include <cstddef>

namespace cornerturn {

/// Memory of this machine; 0 where the system does not tell.
struct HostMemory {
  std::size_t total_bytes = 0;
  std::size_t available_bytes = 0;  ///< can be had without swapping, now
};
HostMemory host_memory();

}  // namespace cornerturn
