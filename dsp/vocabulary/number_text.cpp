#include "dsp/vocabulary/number_text.h"

#include <array>
#include <cstdio>

namespace cornerturn {

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace cornerturn
