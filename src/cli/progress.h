#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "src/cli/console.h"

namespace cornerturn {

/// Shows how far a run is: a bar that redraws itself on a terminal, a plain line now and then in a log, nothing under
/// --quiet. Total 0: not known (a live source).
/// Threads: update by one thread at a time.
class Progress {
 public:
  /// `path` is what is being read or written.
  Progress(const Console& console, const std::string& path);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done, std::uint64_t total);
  /// Takes the bar off the screen; the report says the rest.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void show_bar(std::uint64_t done, std::uint64_t total, double elapsed_s);
  void show_line(std::uint64_t done, std::uint64_t total, double elapsed_s);

  std::string label_;
  bool enabled_;
  bool interactive_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
};

}  // namespace cornerturn
