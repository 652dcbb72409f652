#pragma once

#include <complex>
#include <cstddef>
#include <optional>
#include <span>

#include "dsp/chain/chain_plan.h"
#include "dsp/stage/fmcw_range.h"
#include "dsp/stage/matched_filter.h"
#include "dsp/stage/unpack.h"

namespace cornerturn {

/// One line from raw samples to range gates, as the plan's waveform asks: unpack, then FMCW transform, matched filter,
/// or nothing for samples that are gates already.
/// Threads: any number, each with its own work space.
class RangeStage {
 public:
  explicit RangeStage(const ChainPlan& plan);

  /// Elements of the work space of a line, and of the line of outputs (of which the plan keeps
  /// [first_gate, first_gate + gate_count)).
  std::size_t work_length() const { return work_length_; }
  std::size_t output_length() const { return output_length_; }

  /// `work` (work_length) and `out` (output_length), both 64-byte aligned.
  void process(const RawLine& line, std::span<std::complex<float>> work, std::span<std::complex<float>> out,
               LineQuality& quality) const;

 private:
  Unpacker unpack_;
  std::optional<FmcwRange> fmcw_;
  std::optional<MatchedFilter> matched_filter_;
  bool complex_samples_;
  std::size_t work_length_;
  std::size_t output_length_;
};

}  // namespace cornerturn
