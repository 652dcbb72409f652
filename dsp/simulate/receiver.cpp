#include "dsp/simulate/receiver.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {
namespace {

inline std::int16_t quantise(float value, float lowest, float highest) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits: std::lrint would keep the loop scalar.
  constexpr float kRounder = 12582912.0F;
  const float clipped = std::min(std::max(value, lowest), highest);
  return static_cast<std::int16_t>(std::bit_cast<std::int32_t>(clipped + kRounder) -
                                   std::bit_cast<std::int32_t>(kRounder));
}

}  // namespace

Receiver::Receiver(const SceneReceiver& receiver, bool complex_samples)
    : complex_samples_(complex_samples),
      noise_counts_(static_cast<float>(receiver.noise_counts)),
      dc_i_(static_cast<float>(receiver.dc_i_counts)),
      dc_q_(static_cast<float>(receiver.dc_q_counts)) {
  const double gain = std::pow(10.0, receiver.iq_gain_imbalance_db / 20.0);
  const double phase_rad = deg_to_rad(receiver.iq_phase_imbalance_deg);
  q_from_q_ = static_cast<float>(gain * std::cos(phase_rad));
  q_from_i_ = static_cast<float>(gain * std::sin(phase_rad));
  const double half_scale = std::ldexp(1.0, receiver.adc_bits - 1);
  lowest_ = static_cast<float>(-half_scale);
  highest_ = static_cast<float>(half_scale - 1.0);
}

void Receiver::digitise(std::span<const float> real, std::span<const float> imag, std::span<const float> noise_i,
                        std::span<const float> noise_q, std::span<std::int16_t> out) const {
  const std::size_t count = real.size();
  CORNERTURN_REQUIRE(noise_i.size() == count && out.size() == count * (complex_samples_ ? 2 : 1));
  if (!complex_samples_) {
    for (std::size_t sample = 0; sample < count; ++sample)
      out[sample] = quantise(real[sample] + noise_counts_ * noise_i[sample] + dc_i_, lowest_, highest_);
    return;
  }
  CORNERTURN_REQUIRE(imag.size() == count && noise_q.size() == count);
  for (std::size_t sample = 0; sample < count; ++sample) {
    const float q = q_from_q_ * imag[sample] + q_from_i_ * real[sample];
    out[2 * sample] = quantise(real[sample] + noise_counts_ * noise_i[sample] + dc_i_, lowest_, highest_);
    out[2 * sample + 1] = quantise(q + noise_counts_ * noise_q[sample] + dc_q_, lowest_, highest_);
  }
}

}  // namespace cornerturn
