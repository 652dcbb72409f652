#include "dsp/math/window.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

constexpr std::size_t kPoints = 1024;

struct Row {
  WindowSpec spec;
  double coherent_gain, enbw_bins, scalloping_db, peak_sidelobe_db;
  double gain_digits = 5e-6;  // half of the last digit printed in the table
  double enbw_digits = 5e-5;
  double sidelobe_digits_db = 5e-3;
};

void expect_row(const Row& row) {
  SCOPED_TRACE(std::string(to_string(row.spec.kind)));
  const WindowFigures figures = window_figures(make_window(row.spec, kPoints));
  EXPECT_NEAR(figures.coherent_gain, row.coherent_gain, row.gain_digits);
  EXPECT_NEAR(figures.enbw_bins, row.enbw_bins, row.enbw_digits);
  EXPECT_NEAR(figures.scalloping_db, row.scalloping_db, 5e-4);
  EXPECT_NEAR(figures.peak_sidelobe_db, row.peak_sidelobe_db, row.sidelobe_digits_db);
}

TEST(Window, CosineSumsMatchHarris) {
  expect_row({{WindowKind::rectangular}, 1.0, 1.0, 3.922, -13.26});
  expect_row({{WindowKind::hann}, 0.5, 1.5, 1.424, -31.47});
  expect_row({{WindowKind::hamming}, 0.54, 1.3628, 1.751, -42.67});
  expect_row({{WindowKind::blackman}, 0.42, 1.7268, 1.099, -58.11});
  expect_row({{WindowKind::blackman_harris}, 0.35875, 2.0044, 0.826, -92.01});
  expect_row({{WindowKind::flat_top}, 0.21558, 3.7702, 0.010, -93.01});
}

TEST(Window, ParametrisedWindowsMatchTheTable) {
  const auto chebyshev = [](double level_db, WindowForm form = WindowForm::automatic) {
    return WindowSpec{WindowKind::chebyshev, form, level_db};
  };
  const auto taylor = [](double level_db, int nbar, WindowForm form = WindowForm::automatic) {
    return WindowSpec{WindowKind::taylor, form, level_db, nbar};
  };
  const auto kaiser = [](double beta) { return WindowSpec{WindowKind::kaiser, WindowForm::automatic, 0.0, 0, beta}; };
  expect_row({chebyshev(60), 0.4789, 1.5182, 1.422, -60.0, 5e-5, 5e-5, 5e-2});
  expect_row({chebyshev(80), 0.4141, 1.7430, 1.087, -80.0, 5e-5, 5e-5, 5e-2});
  expect_row({taylor(35, 4), 1.0, 1.2343, 2.123, -35.17});
  expect_row({taylor(40, 5), 1.0, 1.3005, 1.916, -40.14});
  expect_row({kaiser(6.0), 0.5000, 1.4668, 1.5093, -43.80, 5e-5});  // the table rounds the loss to 1.51
  expect_row({kaiser(8.6), 0.4208, 1.7214, 1.109, -63.26, 5e-5});

  const auto figures = [](const WindowSpec& spec) { return window_figures(make_window(spec, kPoints)); };
  EXPECT_NEAR(figures(chebyshev(60, WindowForm::periodic)).peak_sidelobe_db, -56.56, 5e-3);
  EXPECT_NEAR(figures(chebyshev(80, WindowForm::periodic)).peak_sidelobe_db, -76.40, 5e-3);
  EXPECT_NEAR(figures(chebyshev(60, WindowForm::periodic)).enbw_bins, 1.5180, 5e-5);
  EXPECT_NEAR(figures(chebyshev(80, WindowForm::periodic)).enbw_bins, 1.7415, 5e-5);
  EXPECT_NEAR(figures(taylor(35, 4, WindowForm::periodic)).enbw_bins, 1.2337, 5e-5);
  EXPECT_NEAR(figures(taylor(40, 5, WindowForm::periodic)).enbw_bins, 1.2997, 5e-5);
  EXPECT_NEAR(figures(taylor(35, 4, WindowForm::periodic)).peak_sidelobe_db, -35.04, 5e-3);
  EXPECT_NEAR(figures(taylor(40, 5, WindowForm::periodic)).peak_sidelobe_db, -39.97, 5e-3);
}

TEST(Window, SymmetricHannDiffersFromPeriodic) {
  const WindowFigures figures = window_figures(make_window({WindowKind::hann, WindowForm::symmetric}, 64));
  EXPECT_NEAR(figures.coherent_gain, 0.4922, 5e-5);
  EXPECT_NEAR(figures.enbw_bins, 1.5238, 5e-5);
}

TEST(Window, SymmetricFormMirrorsAndPeriodicFormDropsItsLastPoint) {
  for (int kind = 0; kind <= static_cast<int>(WindowKind::kaiser); ++kind)
    for (const std::size_t count : {std::size_t{2}, std::size_t{15}, std::size_t{16}}) {
      const WindowSpec symmetric{static_cast<WindowKind>(kind), WindowForm::symmetric};
      const WindowSpec periodic{static_cast<WindowKind>(kind), WindowForm::periodic};
      const auto weights = make_window(symmetric, count + 1);
      const auto shorter = make_window(periodic, count);
      for (std::size_t n = 0; n <= count; ++n) EXPECT_NEAR(weights[n], weights[count - n], 1e-12);
      for (std::size_t n = 0; n < count; ++n) EXPECT_EQ(weights[n], shorter[n]);
    }
}

TEST(Window, OnePointPassesUnchanged) {
  for (int kind = 0; kind <= static_cast<int>(WindowKind::kaiser); ++kind)
    EXPECT_EQ(make_window({static_cast<WindowKind>(kind)}, 1), std::vector<double>{1.0});
}

TEST(Window, WordsRoundTripAndUnknownOnesListTheChoice) {
  for (int kind = 0; kind <= static_cast<int>(WindowKind::kaiser); ++kind)
    EXPECT_EQ(parse_window_kind(to_string(static_cast<WindowKind>(kind))).value(), static_cast<WindowKind>(kind));
  EXPECT_NE(parse_window_kind("hanning").error().remedy.find("hann, hamming"), std::string::npos);
}

}  // namespace
}  // namespace cornerturn
