#include "src/stream/latency_histogram.h"

#include <algorithm>
#include <cmath>

namespace cornerturn {

void LatencyHistogram::add(double seconds) {
  const double position = std::log2(std::max(seconds, kSmallest_s) / kSmallest_s) * kBinsPerOctave;
  const auto bin = std::min(static_cast<std::size_t>(position), bins_.size() - 1);
  ++bins_[bin];
  ++count_;
  max_s_ = std::max(max_s_, seconds);
}

double LatencyHistogram::quantile_s(double fraction) const {
  if (count_ == 0) return 0.0;
  // The smallest duration that is not exceeded by the given fraction of all: nearest rank, 1 to count.
  const double rank = std::clamp(std::ceil(fraction * static_cast<double>(count_)), 1.0, static_cast<double>(count_));
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    below += bins_[bin];
    if (static_cast<double>(below) >= rank) {
      const double centre_s = kSmallest_s * std::exp2((static_cast<double>(bin) + 0.5) / kBinsPerOctave);
      return std::min(centre_s, max_s_);
    }
  }
  return max_s_;
}

}  // namespace cornerturn
