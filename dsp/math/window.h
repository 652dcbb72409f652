#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

enum class WindowKind { rectangular, hann, hamming, blackman, blackman_harris, flat_top, chebyshev, taylor, kaiser };
/// periodic: one period of the cosine sum, the right form before an FFT; symmetric: filter-design form.
/// Chebyshev and Taylor are defined as symmetric and default to it.
enum class WindowForm { automatic, periodic, symmetric };

/// A window and its parameter: Chebyshev `sidelobe_db` (positive, 80), Taylor `sidelobe_db` and `taylor_nbar`,
/// Kaiser `kaiser_beta`. Ignored where a window has no such parameter.
struct WindowSpec {
  WindowKind kind = WindowKind::hann;
  WindowForm form = WindowForm::automatic;
  double sidelobe_db = 80.0;
  int taylor_nbar = 4;
  double kaiser_beta = 6.0;
  bool operator==(const WindowSpec&) const = default;
};

std::string_view to_string(WindowKind kind);
Expected<WindowKind> parse_window_kind(std::string_view text);

/// Weights of the window, peak about 1 as in Harris 1978. Shape: (count). Requires count >= 1.
/// Source: Harris, "On the Use of Windows for Harmonic Analysis with the DFT", Proc. IEEE 66(1), 1978;
/// Taylor: Carrara, Goodman & Majewski, Spotlight SAR, 1995, app. D.2 (unnormalised scaling).
std::vector<double> make_window(const WindowSpec& spec, std::size_t count);

/// Figures of a window: coherent gain sum(w)/N, equivalent noise bandwidth in bins N sum(w^2)/sum(w)^2.
struct WindowFigures {
  double coherent_gain = 1.0;
  double enbw_bins = 1.0;
  double scalloping_db = 0.0;     ///< loss of a tone half a bin off
  double peak_sidelobe_db = 0.0;  ///< highest sidelobe, relative to the main lobe
};
WindowFigures window_figures(const std::vector<double>& weights);

}  // namespace cornerturn
