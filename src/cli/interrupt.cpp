#include "src/cli/interrupt.h"

#include <signal.h>

namespace cornerturn {
namespace {

std::atomic<bool> g_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void on_signal(int signal_number) {
  if (!g_requested.exchange(true)) return;
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);  // delivered when the handler returns
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // reads and writes under way go on; a run stops between CPIs
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_requested = false;
  set_handler(on_signal);
}

InterruptGuard::~InterruptGuard() { set_handler(SIG_DFL); }

const std::atomic<bool>& InterruptGuard::requested() const { return g_requested; }

}  // namespace cornerturn
