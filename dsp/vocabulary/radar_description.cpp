#include "dsp/vocabulary/radar_description.h"

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"

namespace cornerturn {

std::string_view to_string(WaveformKind kind) {
  switch (kind) {
    case WaveformKind::fmcw:
      return "fmcw";
    case WaveformKind::pulse:
      return "pulse";
    case WaveformKind::profiled:
      return "profiled";
  }
  return "?";
}

double Waveform::wavelength_m() const {
  CORNERTURN_REQUIRE(carrier_hz > 0.0);
  return kSpeedOfLight_mps / carrier_hz;
}

ArrayGeometry ArrayGeometry::uniform_line(std::size_t channel_count, double spacing_m) {
  ArrayGeometry array;
  array.elements.resize(channel_count);
  for (std::size_t m = 0; m < channel_count; ++m) array.elements[m].x_m = static_cast<double>(m) * spacing_m;
  return array;
}

}  // namespace cornerturn
