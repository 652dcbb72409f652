#include "dsp/stage/cfar.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "dsp/theory/cfar_factor.h"

namespace cornerturn {

namespace {

constexpr std::size_t kBitsPerWord = 64;
constexpr std::size_t kFloatsPerCacheLine = 16;

std::size_t rounded_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// sum[i] += lines begin..end of `power` at i; four lines at a time, so that the sum is read and written less often.
void add_lines(MatrixView<const float> power, std::size_t begin, std::size_t end, std::span<float> sum) {
  const std::size_t bins = sum.size();
  std::size_t line = begin;
  for (; line + 4 <= end; line += 4) {
    const float* const a = power.line(line).data();
    const float* const b = power.line(line + 1).data();
    const float* const c = power.line(line + 2).data();
    const float* const d = power.line(line + 3).data();
    for (std::size_t i = 0; i < bins; ++i) sum[i] += (a[i] + b[i]) + (c[i] + d[i]);
  }
  for (; line < end; ++line) {
    const float* const a = power.line(line).data();
    for (std::size_t i = 0; i < bins; ++i) sum[i] += a[i];
  }
}

/// sum[i] += padded[i + begin] + ... + padded[i + end - 1].
void add_shifted(const float* padded, std::size_t begin, std::size_t end, std::span<float> sum) {
  add_lines(MatrixView<const float>(padded + begin, end - begin, sum.size(), 1), 0, end - begin, sum);
}

}  // namespace

struct CfarDetector::Scratch {
  std::span<float> far;    // training lines summed over range, with `halo` bins on each side
  std::span<float> near;   // the same of the guard lines and the cell's own line
  std::span<float> sum;    // training sum per bin
  std::span<float> scale;  // factor / count per bin
};

CfarDetector::CfarDetector(const ChainConfig::Cfar& config, const CfarShape& shape, std::size_t thread_count)
    : shape_(shape),
      wraps_(config.doppler_wraps),
      thread_count_(thread_count),
      words_per_line_((shape.doppler_bin_count + kBitsPerWord - 1) / kBitsPerWord),
      hits_(shape.gate_count * words_per_line_) {
  CORNERTURN_REQUIRE(shape.gate_count >= 1 && shape.doppler_bin_count >= 1 && shape.looks >= 1 && thread_count >= 1);
  if (config.axes != CfarAxes::doppler) {
    guard_range_ = std::min(config.guard_range, shape.gate_count);
    train_range_ = std::min(config.train_range, shape.gate_count);
  }
  if (config.axes != CfarAxes::range) {
    // A window that wraps must not meet itself; one that does not wrap may hang over both ends.
    const std::size_t half = wraps_ ? (shape.doppler_bin_count - 1) / 2 : shape.doppler_bin_count;
    guard_doppler_ = std::min(config.guard_doppler, half);
    train_doppler_ = std::min(config.train_doppler, wraps_ ? half - guard_doppler_ : half);
  }
  const std::size_t halo = train_doppler_ + guard_doppler_;
  line_stride_ = rounded_up(shape.doppler_bin_count + 2 * halo, kFloatsPerCacheLine);
  scratch_ = AlignedBuffer<float>(thread_count * 4 * line_stride_);

  window_bins_.resize(shape.doppler_bin_count);
  training_bins_.resize(shape.doppler_bin_count);
  const auto clipped_width = [&](std::size_t bin, std::size_t reach) {
    if (wraps_) return 2 * reach + 1;
    return std::min(bin + reach, shape.doppler_bin_count - 1) - (bin - std::min(bin, reach)) + 1;
  };
  for (std::size_t bin = 0; bin < shape.doppler_bin_count; ++bin) {
    window_bins_[bin] = clipped_width(bin, halo);
    training_bins_[bin] = window_bins_[bin] - clipped_width(bin, guard_doppler_);
  }
  find_used_counts();
  set_pfa(config.pfa);
}

void CfarDetector::find_used_counts() {
  const std::size_t largest = (2 * (train_range_ + guard_range_) + 1) * (2 * (train_doppler_ + guard_doppler_) + 1);
  std::vector<bool> used(largest + 1);
  RangeSpan previous;
  for (std::size_t gate = 0; gate < shape_.gate_count; ++gate) {
    const RangeSpan span = range_span(gate);
    if (gate > 0 && span.same_counts(previous)) continue;
    previous = span;
    for (std::size_t bin = 0; bin < shape_.doppler_bin_count; ++bin) used[count(span, bin)] = true;
  }
  factor_of_count_.assign(largest + 1, std::numeric_limits<double>::infinity());
  for (std::size_t cells = 1; cells <= largest; ++cells)
    if (used[cells]) used_counts_.push_back(cells);
}

void CfarDetector::set_pfa(double pfa) {
  CORNERTURN_REQUIRE(pfa > 0.0 && pfa < 1.0);
  if (pfa == pfa_) return;
  pfa_ = pfa;
  for (const std::size_t cells : used_counts_) factor_of_count_[cells] = ca_cfar_factor(pfa, cells, shape_.looks);
}

CfarDetector::RangeSpan CfarDetector::range_span(std::size_t gate) const {
  const std::size_t reach = guard_range_ + train_range_;
  return {gate - std::min(gate, reach), gate - std::min(gate, guard_range_),
          std::min(gate + guard_range_ + 1, shape_.gate_count), std::min(gate + reach + 1, shape_.gate_count)};
}

std::size_t CfarDetector::count(const RangeSpan& span, std::size_t doppler_bin) const {
  return span.far_count() * window_bins_[doppler_bin] + span.near_count() * training_bins_[doppler_bin];
}

std::size_t CfarDetector::training_count(std::size_t gate, std::size_t doppler_bin) const {
  return count(range_span(gate), doppler_bin);
}

double CfarDetector::factor(std::size_t gate, std::size_t doppler_bin) const {
  return factor_of_count_[training_count(gate, doppler_bin)];
}

void CfarDetector::make_scale_line(const RangeSpan& span, std::span<float> scale) const {
  for (std::size_t bin = 0; bin < scale.size(); ++bin) {
    const std::size_t cells = count(span, bin);
    // Without training cells the sum is 0 and infinity times 0 is no number, which no power exceeds: no alarm.
    scale[bin] = cells == 0 ? std::numeric_limits<float>::quiet_NaN()
                            : static_cast<float>(factor_of_count_[cells] / static_cast<double>(cells));
  }
}

void CfarDetector::fill_halo(std::span<float> line) const {
  const std::size_t halo = train_doppler_ + guard_doppler_;
  const std::size_t bins = shape_.doppler_bin_count;
  for (std::size_t i = 0; i < halo; ++i) {
    line[i] = wraps_ ? line[i + bins] : 0.0F;
    line[halo + bins + i] = wraps_ ? line[halo + i] : 0.0F;
  }
}

void CfarDetector::mark_line(MatrixView<const float> power, std::size_t gate, const RangeSpan& span,
                             const Scratch& scratch) {
  const std::size_t bins = shape_.doppler_bin_count;
  const std::size_t halo = train_doppler_ + guard_doppler_;

  const auto far = scratch.far.subspan(halo, bins);
  std::fill(far.begin(), far.end(), 0.0F);
  add_lines(power, span.far_begin, span.near_begin, far);
  add_lines(power, span.near_end, span.far_end, far);
  fill_halo(scratch.far);

  const auto sum = scratch.sum.first(bins);
  std::fill(sum.begin(), sum.end(), 0.0F);
  add_shifted(scratch.far.data(), 0, 2 * halo + 1, sum);
  if (train_doppler_ > 0) {
    const auto near = scratch.near.subspan(halo, bins);
    std::fill(near.begin(), near.end(), 0.0F);
    add_lines(power, span.near_begin, span.near_end, near);
    fill_halo(scratch.near);
    add_shifted(scratch.near.data(), 0, train_doppler_, sum);
    add_shifted(scratch.near.data(), train_doppler_ + 2 * guard_doppler_ + 1, 2 * halo + 1, sum);
  }

  const float* const cells = power.line(gate).data();
  const float* const scale = scratch.scale.data();
  // Alarms are rare: first ask whether the line holds any, with a loop that vectorises.
  unsigned any = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) any |= cells[bin] > scale[bin] * sum[bin] ? 1U : 0U;
  const auto words = std::span(hits_).subspan(gate * words_per_line_, words_per_line_);
  std::fill(words.begin(), words.end(), 0);
  if (any == 0) return;
  for (std::size_t bin = 0; bin < bins; ++bin)
    if (cells[bin] > scale[bin] * sum[bin]) words[bin / kBitsPerWord] |= std::uint64_t{1} << (bin % kBitsPerWord);
}

double CfarDetector::training_mean(MatrixView<const float> power, std::size_t gate, std::size_t doppler_bin) const {
  const RangeSpan span = range_span(gate);
  const auto reach = static_cast<std::ptrdiff_t>(train_doppler_ + guard_doppler_);
  const auto guard = static_cast<std::ptrdiff_t>(guard_doppler_);
  const auto bins = static_cast<std::ptrdiff_t>(shape_.doppler_bin_count);
  double sum = 0.0;
  for (std::size_t line = span.far_begin; line < span.far_end; ++line) {
    const bool in_guard = line >= span.near_begin && line < span.near_end;
    for (std::ptrdiff_t shift = -reach; shift <= reach; ++shift) {
      if (in_guard && shift >= -guard && shift <= guard) continue;
      std::ptrdiff_t bin = static_cast<std::ptrdiff_t>(doppler_bin) + shift;
      if (wraps_) bin = (bin + bins) % bins;
      if (bin >= 0 && bin < bins) sum += static_cast<double>(power(line, static_cast<std::size_t>(bin)));
    }
  }
  return sum / static_cast<double>(count(span, doppler_bin));
}

void CfarDetector::process(MatrixView<const float> power, ThreadPool& pool, AlarmList& out) {
  CORNERTURN_REQUIRE(power.line_count() == shape_.gate_count && power.element_count() == shape_.doppler_bin_count);
  CORNERTURN_REQUIRE(pool.thread_count() <= thread_count_);

  pool.parallel_for(shape_.gate_count, 32, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    const auto lines = scratch_.span().subspan(worker * 4 * line_stride_, 4 * line_stride_);
    const Scratch scratch{lines.subspan(0, line_stride_), lines.subspan(line_stride_, line_stride_),
                          lines.subspan(2 * line_stride_, line_stride_), lines.subspan(3 * line_stride_, line_stride_)};
    RangeSpan previous;
    for (std::size_t gate = begin; gate < end; ++gate) {
      const RangeSpan span = range_span(gate);
      if (gate == begin || !span.same_counts(previous))
        make_scale_line(span, scratch.scale.first(shape_.doppler_bin_count));
      previous = span;
      mark_line(power, gate, span, scratch);
    }
  });

  out.size_ = 0;
  out.overflow_ = 0;
  for (std::size_t gate = 0; gate < shape_.gate_count; ++gate) {
    for (std::size_t word = 0; word < words_per_line_; ++word) {
      for (std::uint64_t bits = hits_[gate * words_per_line_ + word]; bits != 0; bits &= bits - 1) {
        if (out.size_ == out.capacity()) {
          ++out.overflow_;
          continue;
        }
        CfarAlarm& alarm = out.alarms_[out.size_++];
        alarm.gate = static_cast<std::int32_t>(gate);
        alarm.doppler_bin =
            static_cast<std::int32_t>(word * kBitsPerWord + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }

  pool.parallel_for(out.size_, 64, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      CfarAlarm& alarm = out.alarms_[i];
      const auto gate = static_cast<std::size_t>(alarm.gate);
      const auto bin = static_cast<std::size_t>(alarm.doppler_bin);
      alarm.power = power(gate, bin);
      alarm.noise_mean = static_cast<float>(training_mean(power, gate, bin));
    }
  });
}

}  // namespace cornerturn
