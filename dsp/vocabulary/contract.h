#pragma once

#include <cstdio>
#include <cstdlib>

/// A caller's mistake (sizes that disagree, an index out of range) ends the process with the broken condition:
/// it is a bug in this program and never depends on a user's input.
#define CORNERTURN_REQUIRE(condition)                                                       \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: contract broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
