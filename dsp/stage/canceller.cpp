#include "dsp/stage/canceller.h"

#include <algorithm>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

PulseCanceller::PulseCanceller(Canceller canceller, std::size_t pulse_count)
    : canceller_(canceller), pulse_count_(pulse_count) {
  CORNERTURN_REQUIRE(output_count() >= 1);
}

std::size_t PulseCanceller::output_count(Canceller canceller, std::size_t pulse_count) {
  switch (canceller) {
    case Canceller::none:
      return pulse_count;
    case Canceller::mean:
      return pulse_count >= 2 ? pulse_count : 0;
    case Canceller::two_pulse:
      return pulse_count >= 2 ? pulse_count - 1 : 0;
    case Canceller::three_pulse:
      return pulse_count >= 3 ? pulse_count - 2 : 0;
  }
  return 0;
}

void PulseCanceller::process(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(in.size() == pulse_count_ && out.size() == output_count());
  switch (canceller_) {
    case Canceller::none:
      if (in.data() != out.data()) std::copy(in.begin(), in.end(), out.begin());
      return;
    case Canceller::mean: {
      // In double: the mean is what strong clutter is cancelled by, so its rounding is what is left of the clutter.
      std::complex<double> sum = 0.0;
      for (const std::complex<float> value : in) sum += std::complex<double>(value);
      const std::complex<float> mean(sum / static_cast<double>(in.size()));
      for (std::size_t pulse = 0; pulse < out.size(); ++pulse) out[pulse] = in[pulse] - mean;
      return;
    }
    case Canceller::two_pulse:
      for (std::size_t pulse = 0; pulse < out.size(); ++pulse) out[pulse] = in[pulse + 1] - in[pulse];
      return;
    case Canceller::three_pulse:
      for (std::size_t pulse = 0; pulse < out.size(); ++pulse)
        out[pulse] = (in[pulse + 2] - in[pulse + 1]) - (in[pulse + 1] - in[pulse]);
      return;
  }
}

}  // namespace cornerturn
