#include "dsp/chain/range_stage.h"

#include <algorithm>

namespace cornerturn {

RangeStage::RangeStage(const ChainPlan& plan)
    : unpack_(plan.layout, plan.shape.sample_count, plan.config.input.dc_removal, plan.radar.channel_calibration),
      complex_samples_(plan.layout.complex_samples),
      work_length_(std::max(plan.range_fft_length, plan.shape.sample_count)),
      output_length_(plan.shape.sample_count) {
  switch (plan.radar.waveform.kind) {
    case WaveformKind::fmcw:
      fmcw_.emplace(plan.range_window, plan.range_fft_length, complex_samples_);
      output_length_ = fmcw_->gate_count();
      break;
    case WaveformKind::pulse:
      matched_filter_.emplace(plan.matched_replica, plan.shape.sample_count);
      output_length_ = matched_filter_->fft_length();
      break;
    case WaveformKind::profiled:
      break;
  }
}

void RangeStage::process(const RawLine& line, std::span<std::complex<float>> work, std::span<std::complex<float>> out,
                         LineQuality& quality) const {
  const std::size_t sample_count = unpack_.sample_count();
  if (fmcw_ && !complex_samples_) {
    const std::span<float> reals(reinterpret_cast<float*>(work.data()), work_length_);
    unpack_.process_real(line, reals.first(sample_count), quality);
    fmcw_->process_real(reals, unpack_.calibration(line.channel), out);
  } else if (fmcw_) {
    unpack_.process(line, work.first(sample_count), quality);
    fmcw_->process(work, out);
  } else if (matched_filter_) {
    unpack_.process(line, work.first(sample_count), quality);
    matched_filter_->process(work, out);
  } else {
    unpack_.process(line, out, quality);
  }
}

}  // namespace cornerturn
