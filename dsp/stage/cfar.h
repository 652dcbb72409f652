#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/config/chain_config.h"
#include "dsp/math/thread_pool.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// A cell of the map that exceeds its threshold.
struct CfarAlarm {
  std::int32_t gate = 0;
  std::int32_t doppler_bin = 0;
  float power = 0.0F;
  float noise_mean = 0.0F;  ///< mean of the cell's training cells
};

/// Alarms of one map in ascending order of (gate, bin), in memory taken once.
class AlarmList {
 public:
  explicit AlarmList(std::size_t capacity) : alarms_(capacity) {}

  std::size_t capacity() const { return alarms_.size(); }
  std::size_t size() const { return size_; }
  std::span<const CfarAlarm> alarms() const { return {alarms_.data(), size_}; }
  /// Alarms that found no room; when not 0, those of the farthest gates are missing.
  std::size_t overflow() const { return overflow_; }

 private:
  friend class CfarDetector;
  std::vector<CfarAlarm> alarms_;
  std::size_t size_ = 0;
  std::size_t overflow_ = 0;
};

/// Sizes that a detector is made for.
struct CfarShape {
  std::size_t gate_count = 0;
  std::size_t doppler_bin_count = 0;
  std::size_t looks = 1;  ///< independent powers averaged into each cell (channels integrated)
};

/// Cell-averaging CFAR along range, along Doppler, or in both: alarm where power > factor(n) * mean of the n training
/// cells. The window is (2 (train + guard) + 1) cells per axis less the guard rectangle around the cell under test.
/// At the map's edges the cells that exist are used, with the factor of their number, so that the false-alarm rate is
/// the same everywhere; a Doppler spectrum that wraps has no edges. A cell without any training cell raises no alarm.
///
/// Sums are formed anew for each cell from its own window and never by difference, so that one strong cell changes no
/// threshold outside its window, and results do not depend on the number of threads.
/// Shape: power (gate, Doppler bin). Units: power in, power out. Allocates nothing after construction.
/// Threads: one caller per object.
/// Source: Finn & Johnson, RCA Review 29 (1968); factor: theory/cfar_factor.h.
class CfarDetector {
 public:
  CfarDetector(const ChainConfig::Cfar& config, const CfarShape& shape, std::size_t thread_count);

  /// A light parameter: makes the factors anew when the value changes. Requires 0 < pfa < 1.
  void set_pfa(double pfa);
  double pfa() const { return pfa_; }

  void process(MatrixView<const float> power, ThreadPool& pool, AlarmList& out);

  /// Number of training cells of a cell.
  std::size_t training_count(std::size_t gate, std::size_t doppler_bin) const;
  /// Factor on the training mean of a cell; infinite without training cells.
  double factor(std::size_t gate, std::size_t doppler_bin) const;

 private:
  /// Lines of the window around a gate: training [far_begin, near_begin) and [near_end, far_end), guard and the gate
  /// itself [near_begin, near_end).
  struct RangeSpan {
    std::size_t far_begin = 0;
    std::size_t near_begin = 0;
    std::size_t near_end = 0;
    std::size_t far_end = 0;
    std::size_t far_count() const { return (near_begin - far_begin) + (far_end - near_end); }
    std::size_t near_count() const { return near_end - near_begin; }
    bool same_counts(const RangeSpan& other) const {
      return far_count() == other.far_count() && near_count() == other.near_count();
    }
  };
  struct Scratch;

  void find_used_counts();
  RangeSpan range_span(std::size_t gate) const;
  std::size_t count(const RangeSpan& span, std::size_t doppler_bin) const;
  void make_scale_line(const RangeSpan& span, std::span<float> scale) const;
  void fill_halo(std::span<float> line) const;
  void mark_line(MatrixView<const float> power, std::size_t gate, const RangeSpan& span, const Scratch& scratch);
  double training_mean(MatrixView<const float> power, std::size_t gate, std::size_t doppler_bin) const;

  CfarShape shape_;
  bool wraps_;
  std::size_t thread_count_;
  double pfa_ = 0.0;
  // 0 along an axis that takes no part.
  std::size_t train_range_ = 0;
  std::size_t guard_range_ = 0;
  std::size_t train_doppler_ = 0;
  std::size_t guard_doppler_ = 0;
  std::vector<std::size_t> window_bins_;    // per bin: Doppler cells of the whole window that exist
  std::vector<std::size_t> training_bins_;  // per bin: those outside the guard
  std::vector<std::size_t> used_counts_;    // training counts that occur in the map
  std::vector<double> factor_of_count_;
  std::size_t words_per_line_;
  std::vector<std::uint64_t> hits_;  // (gate, word): one bit per cell
  std::size_t line_stride_ = 0;
  AlignedBuffer<float> scratch_;  // (worker, line of Scratch, bin)
};

}  // namespace cornerturn
