#pragma once

#include <cstddef>

namespace cornerturn::cuda {

/// Failures that tests have to cause, because no healthy machine shows them.
enum class Fault { launch, pinned_memory, device_memory };

/// The next `count` occasions fail after `skip` that do not; count 0 ends it. For tests. Threads: any.
void inject_fault(Fault fault, std::size_t count, std::size_t skip = 0);
/// True when this occasion is to fail.
bool take_fault(Fault fault);

}  // namespace cornerturn::cuda
