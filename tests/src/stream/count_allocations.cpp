#include "tests/src/stream/count_allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::uint64_t allocation_count = 0;
}

void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cornerturn::testing {

std::uint64_t allocations_of_this_thread() { return allocation_count; }

}  // namespace cornerturn::testing
