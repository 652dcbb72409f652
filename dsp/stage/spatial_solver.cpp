#include "dsp/stage/spatial_solver.h"

#include <algorithm>
#include <cmath>

#include "dsp/stage/covariance.h"
#include "dsp/theory/steering.h"
#include "dsp/vocabulary/contract.h"

namespace cornerturn {

namespace {

using Complex = std::complex<double>;

/// (re, im) -= value * (line_re, line_im), element by element.
void subtract_scaled(Complex value, std::span<const double> line_re, std::span<const double> line_im,
                     std::span<double> re, std::span<double> im) {
  const double a = value.real();
  const double b = value.imag();
  for (std::size_t i = 0; i < re.size(); ++i) {
    re[i] -= a * line_re[i] - b * line_im[i];
    im[i] -= a * line_im[i] + b * line_re[i];
  }
}

}  // namespace

SteeringTable::SteeringTable(const ArrayGeometry& array, double wavelength_m, std::vector<double> azimuths_deg)
    : channel_count_(array.elements.size()),
      azimuths_deg_(std::move(azimuths_deg)),
      real_(channel_count_ * azimuths_deg_.size()),
      imaginary_(real_.size()) {
  CORNERTURN_REQUIRE(channel_count_ >= 1 && !azimuths_deg_.empty());
  for (std::size_t i = 0; i < azimuths_deg_.size(); ++i) {
    const auto response = steering_vector(array, wavelength_m, azimuths_deg_[i]);
    for (std::size_t channel = 0; channel < channel_count_; ++channel) {
      real_[channel * azimuths_deg_.size() + i] = response[channel].real();
      imaginary_[channel * azimuths_deg_.size() + i] = response[channel].imag();
    }
  }
}

bool factorise_cholesky(std::span<Complex> packed, std::size_t order, double least_pivot) {
  CORNERTURN_REQUIRE(packed.size() == packed_size(order));
  for (std::size_t row = 0; row < order; ++row) {
    Complex* const here = packed.data() + packed_index(row, 0);
    for (std::size_t column = 0; column < row; ++column) {
      const Complex* const there = packed.data() + packed_index(column, 0);
      Complex sum = here[column];
      for (std::size_t k = 0; k < column; ++k) sum -= here[k] * std::conj(there[k]);
      here[column] = sum / there[column].real();
    }
    double pivot = here[row].real();
    for (std::size_t k = 0; k < row; ++k) pivot -= std::norm(here[k]);
    if (!(pivot > least_pivot)) return false;
    here[row] = std::sqrt(pivot);
  }
  return true;
}

SpatialSolver::SpatialSolver(const SteeringTable& steering)
    : steering_(&steering),
      grid_size_(steering.azimuths_deg().size()),
      factor_(packed_size(steering.channel_count())),
      whitened_(steering.channel_count()),
      real_(steering.channel_count() * grid_size_),
      imaginary_(real_.size()),
      norm_(grid_size_) {
  channels_.reserve(steering.channel_count());
}

void SpatialSolver::use_channels(std::span<const std::size_t> channels) {
  CORNERTURN_REQUIRE(channels.size() <= steering_->channel_count());
  channels_.assign(channels.begin(), channels.end());
}

bool SpatialSolver::set_matrix(std::span<const Complex> packed, double loading, double epsilon) {
  CORNERTURN_REQUIRE(packed.size() == packed_size(order()));
  double mean_diagonal = 0.0;
  for (std::size_t m = 0; m < order(); ++m)
    mean_diagonal += packed[packed_index(m, m)].real() / static_cast<double>(order());
  CORNERTURN_REQUIRE(mean_diagonal > 0.0);

  const auto factor = std::span(factor_).first(packed.size());
  bool regular = true;
  for (double added = loading;; added = std::max(1e-6, 10.0 * added)) {
    std::copy(packed.begin(), packed.end(), factor.begin());
    for (std::size_t m = 0; m < order(); ++m) factor[packed_index(m, m)] += added * mean_diagonal;
    if (factorise_cholesky(factor, order(), epsilon * mean_diagonal)) break;
    regular = false;
    if (added > static_cast<double>(order())) {
      // More than the trace did not help: no covariance at all (elements that are no numbers).
      set_identity();
      return false;
    }
  }
  whiten_steering();
  return regular;
}

void SpatialSolver::set_identity() {
  const auto factor = std::span(factor_).first(packed_size(order()));
  std::fill(factor.begin(), factor.end(), Complex{});
  for (std::size_t m = 0; m < order(); ++m) factor[packed_index(m, m)] = 1.0;
  whiten_steering();
}

void SpatialSolver::whiten_steering() {
  std::fill(norm_.begin(), norm_.end(), 0.0);
  for (std::size_t m = 0; m < order(); ++m) {
    const auto re = whitened_line(real_, m);
    const auto im = whitened_line(imaginary_, m);
    std::ranges::copy(steering_->real(channels_[m]), re.begin());
    std::ranges::copy(steering_->imaginary(channels_[m]), im.begin());
    for (std::size_t k = 0; k < m; ++k)
      subtract_scaled(factor_[packed_index(m, k)], whitened_line(real_, k), whitened_line(imaginary_, k), re, im);
    const double inverse_pivot = 1.0 / factor_[packed_index(m, m)].real();
    for (std::size_t i = 0; i < grid_size_; ++i) {
      re[i] *= inverse_pivot;
      im[i] *= inverse_pivot;
      norm_[i] += re[i] * re[i] + im[i] * im[i];
    }
  }
}

void SpatialSolver::bartlett(std::span<const Complex> packed, std::span<double> out) const {
  CORNERTURN_REQUIRE(packed.size() == packed_size(order()) && out.size() == grid_size_);
  std::fill(out.begin(), out.end(), 0.0);
  const double scale = 1.0 / static_cast<double>(order() * order());
  for (std::size_t row = 0; row < order(); ++row) {
    const auto row_re = steering_->real(channels_[row]);
    const auto row_im = steering_->imaginary(channels_[row]);
    for (std::size_t column = 0; column <= row; ++column) {
      // An element below the diagonal stands for its mirror image too: twice the real part of conj(a_r) R_rc a_c.
      const Complex element = (column == row ? 1.0 : 2.0) * scale * packed[packed_index(row, column)];
      const auto column_re = steering_->real(channels_[column]);
      const auto column_im = steering_->imaginary(channels_[column]);
      for (std::size_t i = 0; i < grid_size_; ++i) {
        const double product_re = row_re[i] * column_re[i] + row_im[i] * column_im[i];
        const double product_im = row_re[i] * column_im[i] - row_im[i] * column_re[i];
        out[i] += element.real() * product_re - element.imag() * product_im;
      }
    }
  }
  // A form that is exactly zero may come out below it by rounding.
  for (double& value : out) value = std::max(value, 0.0);
}

void SpatialSolver::capon(std::span<double> out) const {
  CORNERTURN_REQUIRE(out.size() == grid_size_);
  for (std::size_t i = 0; i < grid_size_; ++i) out[i] = 1.0 / norm_[i];
}

namespace {

/// out = |sum_m conj(a_m) x_m|^2 with a_m given by lines; `line_of(m)` returns the pair (real, imaginary).
template <typename LineOf>
void matched_power(std::span<const Complex> snapshot, LineOf line_of, std::span<double> out) {
  // One azimuth's sum needs a real and an imaginary part; a fixed tile of azimuths keeps both off the heap.
  constexpr std::size_t kTile = 64;
  for (std::size_t first = 0; first < out.size(); first += kTile) {
    const std::size_t count = std::min(kTile, out.size() - first);
    double sum_re[kTile] = {};
    double sum_im[kTile] = {};
    for (std::size_t m = 0; m < snapshot.size(); ++m) {
      const auto [line_re, line_im] = line_of(m);
      const double a = snapshot[m].real();
      const double b = snapshot[m].imag();
      for (std::size_t i = 0; i < count; ++i) {
        sum_re[i] += line_re[first + i] * a + line_im[first + i] * b;
        sum_im[i] += line_re[first + i] * b - line_im[first + i] * a;
      }
    }
    for (std::size_t i = 0; i < count; ++i) out[first + i] = sum_re[i] * sum_re[i] + sum_im[i] * sum_im[i];
  }
}

}  // namespace

void SpatialSolver::bartlett_of_snapshot(std::span<const Complex> snapshot, std::span<double> out) const {
  CORNERTURN_REQUIRE(snapshot.size() == order() && out.size() == grid_size_);
  matched_power(
      snapshot,
      [&](std::size_t m) { return std::pair(steering_->real(channels_[m]), steering_->imaginary(channels_[m])); }, out);
  const double scale = 1.0 / static_cast<double>(order() * order());
  for (double& value : out) value *= scale;
}

void SpatialSolver::adaptive_of_snapshot(std::span<const Complex> snapshot, std::span<double> out) {
  CORNERTURN_REQUIRE(snapshot.size() == order() && out.size() == grid_size_);
  const auto whitened = std::span(whitened_).first(order());
  for (std::size_t m = 0; m < order(); ++m) {
    Complex sum = snapshot[m];
    for (std::size_t k = 0; k < m; ++k) sum -= factor_[packed_index(m, k)] * whitened[k];
    whitened[m] = sum / factor_[packed_index(m, m)].real();
  }
  matched_power(
      whitened, [&](std::size_t m) { return std::pair(whitened_line(real_, m), whitened_line(imaginary_, m)); }, out);
  for (std::size_t i = 0; i < grid_size_; ++i) out[i] /= norm_[i];
}

}  // namespace cornerturn
