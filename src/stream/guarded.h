#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Calls `body`, which returns an Expected, and turns an exception into an error of kind runtime. This is where the
/// exceptions of libraries and of memory end; only the session's threads use it.
template <typename Body> auto guarded(const std::string& where, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return runtime_error(where, "not enough memory", "use fewer slots, fewer products or a smaller CPI");
  } catch (const std::exception& exception) {
    return runtime_error(where, exception.what());
  } catch (...) {
    return runtime_error(where, "failed for an unknown reason");
  }
}

}  // namespace cornerturn
