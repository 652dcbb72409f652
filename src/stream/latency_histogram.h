#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cornerturn {

/// Histogram of durations with fixed logarithmic bins: 16 bins an octave from 1 us to about 1100 s, so that a quantile
/// is within 2.2 % (half a bin) whatever the scale. Allocates nothing. Threads: one at a time.
class LatencyHistogram {
 public:
  static constexpr std::size_t kBinsPerOctave = 16;
  static constexpr std::size_t kOctaves = 30;
  static constexpr double kSmallest_s = 1e-6;

  void add(double seconds);
  /// Centre of the bin that holds the given fraction (0 to 1) of all durations, never above the longest; 0 if there are
  /// none.
  double quantile_s(double fraction) const;
  double max_s() const { return max_s_; }
  std::uint64_t count() const { return count_; }

 private:
  std::array<std::uint64_t, kBinsPerOctave * kOctaves> bins_{};
  std::uint64_t count_ = 0;
  double max_s_ = 0.0;
};

}  // namespace cornerturn
