#pragma once

#include <cstdint>

namespace cornerturn::test {

/// Calls of operator new in this executable so far, by all threads.
std::uint64_t allocation_count();

}  // namespace cornerturn::test
