#pragma once

#include <cstdint>

namespace cornerturn::testing {

/// How often the calling thread has asked operator new for memory since it began.
std::uint64_t allocations_of_this_thread();

}  // namespace cornerturn::testing
