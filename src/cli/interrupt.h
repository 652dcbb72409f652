#pragma once

#include <atomic>

namespace cornerturn {

/// While it lives, the first Ctrl-C (SIGINT) or SIGTERM only sets a flag, so that a run can end cleanly; a second one
/// ends the process as if the signal had never been caught.
/// Threads: one object at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// A signal has come since construction.
  const std::atomic<bool>& requested() const;
};

}  // namespace cornerturn
