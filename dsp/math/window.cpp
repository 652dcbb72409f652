#include "dsp/math/window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <numbers>
#include <span>
#include <utility>

#include "dsp/vocabulary/contract.h"
#include "dsp/vocabulary/units.h"
#include "dsp/vocabulary/word_table.h"

namespace cornerturn {
namespace {

constexpr double kPi = std::numbers::pi;

// All makers give the symmetric form; make_window takes one point more and drops it for the periodic form.

// w(n) = a0 - a1 cos(x) + a2 cos(2x) - ..., x = 2 pi n / (N - 1); Harris 1978, eq. 24 to 33.
std::vector<double> cosine_sum(std::span<const double> coefficients, std::size_t count) {
  std::vector<double> weights(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double x = 2.0 * kPi * static_cast<double>(n) / static_cast<double>(count - 1);
    double sign = 1.0;
    for (std::size_t term = 0; term < coefficients.size(); ++term, sign = -sign)
      weights[n] += sign * coefficients[term] * std::cos(static_cast<double>(term) * x);
  }
  return weights;
}

std::vector<double> cosine_sum(std::initializer_list<double> coefficients, std::size_t count) {
  return cosine_sum(std::span(coefficients.begin(), coefficients.size()), count);
}

// Chebyshev polynomial T_order(x) for any real x.
double chebyshev_polynomial(double order, double x, bool order_is_even) {
  if (x > 1.0) return std::cosh(order * std::acosh(x));
  if (x < -1.0) return (order_is_even ? 1.0 : -1.0) * std::cosh(order * std::acosh(-x));
  return std::cos(order * std::acos(x));
}

// Inverse transform of the equiripple spectrum; Harris 1978, eq. 48.
std::vector<double> dolph_chebyshev(double sidelobe_db, std::size_t count) {
  const auto points = static_cast<double>(count);
  const double order = points - 1.0;
  const double beta = std::cosh(std::acosh(std::pow(10.0, sidelobe_db / 20.0)) / order);
  const bool odd_count = count % 2 == 1;
  std::vector<double> spectrum(count);
  for (std::size_t k = 0; k < count; ++k)
    spectrum[k] = chebyshev_polynomial(order, beta * std::cos(kPi * static_cast<double>(k) / points), odd_count);
  // cos(pi j / N) for j modulo 2 N: the sum below takes N^2 / 2 cosines, of which only 2 N differ.
  std::vector<double> cosine(2 * count);
  for (std::size_t j = 0; j < cosine.size(); ++j) cosine[j] = std::cos(kPi * static_cast<double>(j) / points);

  std::vector<double> weights(count);
  for (std::size_t m = 0; m <= (count - 1) / 2; ++m) {  // m counts from the centre outwards
    const std::size_t twice_offset = odd_count ? 2 * m : 2 * m + 1;
    double sum = 0.0;
    std::size_t j = 0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += spectrum[k] * cosine[j];
      j = (j + twice_offset) % cosine.size();
    }
    const std::size_t right = count / 2 + m;
    weights[right] = sum;
    weights[count - 1 - right] = sum;
  }
  const double peak = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight /= peak;
  return weights;
}

// Carrara, Goodman & Majewski 1995, app. D.2: w = 1 + 2 sum F_m cos(2 pi m (n - (N - 1)/2) / N), mean 1.
std::vector<double> taylor(double sidelobe_db, int nbar, std::size_t count) {
  const double a = std::acosh(std::pow(10.0, sidelobe_db / 20.0)) / kPi;
  const double dilation = nbar * nbar / (a * a + (nbar - 0.5) * (nbar - 0.5));
  std::vector<double> weights(count, 1.0);
  for (int m = 1; m < nbar; ++m) {
    double numerator = m % 2 == 1 ? 1.0 : -1.0;
    double denominator = 2.0;
    for (int i = 1; i < nbar; ++i) {
      numerator *= 1.0 - m * m / (dilation * (a * a + (i - 0.5) * (i - 0.5)));
      if (i != m) denominator *= 1.0 - static_cast<double>(m * m) / (i * i);
    }
    const double coefficient = numerator / denominator;
    for (std::size_t n = 0; n < count; ++n) {
      const double centred = static_cast<double>(n) - 0.5 * static_cast<double>(count - 1);
      weights[n] += 2.0 * coefficient * std::cos(2.0 * kPi * m * centred / static_cast<double>(count));
    }
  }
  return weights;
}

// w(n) = I0(beta sqrt(1 - t^2)) / I0(beta), t from -1 to 1; Harris 1978, eq. 46.
std::vector<double> kaiser(double beta, std::size_t count) {
  std::vector<double> weights(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double t = 2.0 * static_cast<double>(n) / static_cast<double>(count - 1) - 1.0;
    weights[n] = std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1.0 - t * t))) / std::cyl_bessel_i(0.0, beta);
  }
  return weights;
}

std::vector<double> make_symmetric(const WindowSpec& spec, std::size_t count) {
  switch (spec.kind) {
    case WindowKind::rectangular:
      return std::vector<double>(count, 1.0);
    case WindowKind::hann:
      return cosine_sum({0.5, 0.5}, count);
    case WindowKind::hamming:
      return cosine_sum({0.54, 0.46}, count);
    case WindowKind::blackman:
      return cosine_sum({0.42, 0.5, 0.08}, count);
    case WindowKind::blackman_harris:
      return cosine_sum({0.35875, 0.48829, 0.14128, 0.01168}, count);
    case WindowKind::flat_top:
      return cosine_sum({0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}, count);
    case WindowKind::chebyshev:
      return dolph_chebyshev(spec.sidelobe_db, count);
    case WindowKind::taylor:
      return taylor(spec.sidelobe_db, spec.taylor_nbar, count);
    case WindowKind::kaiser:
      return kaiser(spec.kaiser_beta, count);
  }
  return {};
}

bool is_periodic(const WindowSpec& spec) {
  if (spec.form != WindowForm::automatic) return spec.form == WindowForm::periodic;
  return spec.kind != WindowKind::chebyshev && spec.kind != WindowKind::taylor;
}

// In-place radix-2 transform in double precision: window figures go down to -140 dB, below what single precision shows.
void transform_power_of_two(std::vector<std::complex<double>>& values) {
  const std::size_t count = values.size();
  for (std::size_t i = 1, j = 0; i < count; ++i) {  // bit reversal
    std::size_t bit = count >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t length = 2; length <= count; length *= 2) {
    const std::complex<double> step = std::polar(1.0, -2.0 * kPi / static_cast<double>(length));
    for (std::size_t start = 0; start < count; start += length) {
      std::complex<double> twiddle = 1.0;
      for (std::size_t k = 0; k < length / 2; ++k, twiddle *= step) {
        const auto even = values[start + k];
        const auto odd = values[start + k + length / 2] * twiddle;
        values[start + k] = even + odd;
        values[start + k + length / 2] = even - odd;
      }
    }
  }
}

double peak_sidelobe_db(const std::vector<double>& weights, double sum) {
  // 64 points a bin place the top of a sidelobe within 0.001 dB; very long windows make do with fewer.
  constexpr std::size_t kOversampling = 64;
  constexpr std::size_t kLargestTransform = std::size_t{1} << 21;
  std::size_t length = 1;
  while (length < weights.size() * kOversampling && length < kLargestTransform) length *= 2;
  while (length < 4 * weights.size()) length *= 2;
  std::vector<std::complex<double>> spectrum(length);
  std::copy(weights.begin(), weights.end(), spectrum.begin());
  transform_power_of_two(spectrum);
  std::size_t k = 1;  // beyond the top, which a flat-top window ripples, and down the main lobe to its first minimum
  while (k < length / 2 && std::norm(spectrum[k]) > 0.5 * sum * sum) ++k;
  while (k < length / 2 && std::norm(spectrum[k]) < std::norm(spectrum[k - 1])) ++k;
  double highest = 0.0;
  for (; k <= length / 2; ++k) highest = std::max(highest, std::norm(spectrum[k]));
  return power_to_db(highest / (sum * sum));
}

constexpr std::array<Word<WindowKind>, 9> kWindowKinds{{{WindowKind::rectangular, "rectangular"},
                                                        {WindowKind::hann, "hann"},
                                                        {WindowKind::hamming, "hamming"},
                                                        {WindowKind::blackman, "blackman"},
                                                        {WindowKind::blackman_harris, "blackman_harris"},
                                                        {WindowKind::flat_top, "flat_top"},
                                                        {WindowKind::chebyshev, "chebyshev"},
                                                        {WindowKind::taylor, "taylor"},
                                                        {WindowKind::kaiser, "kaiser"}}};

}  // namespace

std::string_view to_string(WindowKind kind) { return word_of(kWindowKinds, kind); }
Expected<WindowKind> parse_window_kind(std::string_view text) { return parse_word(kWindowKinds, text, "window"); }

std::vector<double> make_window(const WindowSpec& spec, std::size_t count) {
  CORNERTURN_REQUIRE(count >= 1);
  if (count == 1) return {1.0};
  if (!is_periodic(spec)) return make_symmetric(spec, count);
  std::vector<double> weights = make_symmetric(spec, count + 1);
  weights.pop_back();
  return weights;
}

WindowFigures window_figures(const std::vector<double>& weights) {
  CORNERTURN_REQUIRE(!weights.empty());
  const auto count = static_cast<double>(weights.size());
  double sum = 0.0;
  double sum_of_squares = 0.0;
  std::complex<double> half_bin_off = 0.0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    sum += weights[n];
    sum_of_squares += weights[n] * weights[n];
    half_bin_off += weights[n] * std::polar(1.0, kPi * static_cast<double>(n) / count);
  }
  WindowFigures figures;
  figures.coherent_gain = sum / count;
  figures.enbw_bins = count * sum_of_squares / (sum * sum);
  figures.scalloping_db = -power_to_db(std::norm(half_bin_off) / (sum * sum));
  figures.peak_sidelobe_db = peak_sidelobe_db(weights, sum);
  return figures;
}

}  // namespace cornerturn
