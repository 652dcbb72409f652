#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/config/chain_config.h"
#include "dsp/stage/sample_codec.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

/// What was found in the samples of one or more lines.
struct LineQuality {
  std::uint64_t masked_samples = 0;     ///< NaN, Inf, gaps and values beyond kLargestSample
  std::uint64_t saturated_samples = 0;  ///< samples with I or Q at an end of the integer range
  bool has_signal = false;              ///< any sample that is not zero
};

/// Larger magnitudes cannot be squared and summed in single precision; they are masked like Inf.
inline constexpr float kLargestSample = 1e15F;

/// Converts lines of raw samples to complex float: x = calibration_channel ((code - zero_level) - line mean).
/// NaN, Inf and gap samples become zero, are counted, and take no part in the mean, so that they never spread.
/// Any RawLayout is read by one generic path; contiguous little-endian int16 IQ, int16 IIQQ and float32 IQ have fast
/// paths with the same results. 32-bit integers are converted through double.
/// Shape: out (sample). Units: ADC counts. Requires: the segment holds required_bytes() of the layout.
/// Threads: any number, on different lines.
class Unpacker {
 public:
  /// `calibration` (channel), or empty for none.
  Unpacker(const RawLayout& layout, std::size_t sample_count, DcRemoval dc_removal,
           std::vector<std::complex<float>> calibration);

  std::size_t sample_count() const { return sample_count_; }
  /// For real sampling the imaginary parts are zero before calibration.
  void process(const RawLine& line, std::span<std::complex<float>> out, LineQuality& quality) const;
  /// Real sampling only, without calibration: for a real-to-complex range transform, which applies it afterwards.
  void process_real(const RawLine& line, std::span<float> out, LineQuality& quality) const;
  /// As process(), by the generic path; the oracle of the fast ones.
  void process_generic(const RawLine& line, std::span<std::complex<float>> out, LineQuality& quality) const;

  /// The factor of a channel, 1 without calibration.
  std::complex<float> calibration(std::size_t channel) const {
    return calibration_.empty() ? std::complex<float>(1.0F) : calibration_[channel];
  }

 private:
  void process_with(LineConverter convert, const RawLine& line, std::span<std::complex<float>> out,
                    LineQuality& quality) const;
  template <std::size_t kParts> void clean(const RawLine& line, std::span<float> values, LineQuality& quality) const;

  RawLayout layout_;
  std::size_t sample_count_;
  DcRemoval dc_removal_;
  std::vector<std::complex<float>> calibration_;
  LineConverter generic_;
  LineConverter fast_;   // generic_ where no fast path fits
  FormatEnds ends_;      // values there are saturated
  FormatEnds ordinary_;  // values between these have no fault
};

}  // namespace cornerturn
