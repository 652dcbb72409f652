#include "dsp/stage/matched_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

// out = a b, written out because operator* of std::complex calls a function that looks for NaN, which does not
// vectorise.
void multiply(std::span<const std::complex<float>> a, std::span<const std::complex<float>> b,
              std::span<std::complex<float>> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const float re = a[k].real() * b[k].real() - a[k].imag() * b[k].imag();
    const float im = a[k].real() * b[k].imag() + a[k].imag() * b[k].real();
    out[k] = {re, im};
  }
}

}  // namespace

std::vector<std::complex<float>> make_lfm_replica(double bandwidth_hz, double pulse_width_s, double sample_rate_hz) {
  const auto count = static_cast<std::size_t>(std::llround(pulse_width_s * sample_rate_hz));
  std::vector<std::complex<float>> replica(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double time_s = static_cast<double>(i) / sample_rate_hz - 0.5 * pulse_width_s;
    replica[i] =
        std::complex<float>(std::polar(1.0, std::numbers::pi * bandwidth_hz / pulse_width_s * time_s * time_s));
  }
  return replica;
}

MatchedFilter::MatchedFilter(std::span<const std::complex<float>> replica, std::size_t sample_count)
    : sample_count_(sample_count),
      gate_count_(sample_count - replica.size() + 1),
      forward_(FftPlan::forward(fft_length(sample_count))),
      inverse_(FftPlan::inverse(fft_length(sample_count))),
      spectrum_(fft_length(sample_count)) {
  CORNERTURN_REQUIRE(!replica.empty() && replica.size() <= sample_count);
  AlignedBuffer<std::complex<float>> padded(fft_length());
  std::copy(replica.begin(), replica.end(), padded.data());
  forward_.execute(std::as_const(padded).span(), spectrum_.span());
  const float scale = 1.0F / static_cast<float>(fft_length());
  for (std::complex<float>& value : spectrum_.span()) value = std::conj(value) * scale;
}

void MatchedFilter::process(std::span<std::complex<float>> line, std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(line.size() == fft_length() && out.size() == fft_length());
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(sample_count_), line.end(), std::complex<float>{});
  forward_.execute(std::span<const std::complex<float>>(line), out);
  multiply(out, spectrum_.span(), line);
  inverse_.execute(std::span<const std::complex<float>>(line), out);
}

}  // namespace cornerturn
