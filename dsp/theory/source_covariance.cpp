#include "dsp/theory/source_covariance.h"

#include <cmath>

#include "dsp/theory/steering.h"
#include "dsp/vocabulary/contract.h"

namespace cornerturn {

namespace {

void add_outer_product(std::span<const std::complex<double>> vector, double power,
                       std::span<std::complex<double>> matrix) {
  const std::size_t order = vector.size();
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column < order; ++column)
      matrix[row * order + column] += power * vector[row] * std::conj(vector[column]);
}

}  // namespace

std::vector<std::complex<double>> source_covariance(const ArrayGeometry& array, double wavelength_m,
                                                    std::span<const PlaneWave> waves, double noise_power,
                                                    bool coherent) {
  const std::size_t order = array.elements.size();
  std::vector<std::complex<double>> covariance(order * order);
  std::vector<std::complex<double>> sum(order);
  for (const PlaneWave& wave : waves) {
    const auto response = steering_vector(array, wavelength_m, wave.azimuth_deg);
    if (!coherent) add_outer_product(response, wave.power, covariance);
    for (std::size_t channel = 0; channel < order; ++channel) sum[channel] += std::sqrt(wave.power) * response[channel];
  }
  if (coherent) add_outer_product(sum, 1.0, covariance);
  for (std::size_t channel = 0; channel < order; ++channel) covariance[channel * order + channel] += noise_power;
  return covariance;
}

std::vector<std::complex<double>> spatially_smoothed(std::span<const std::complex<double>> covariance,
                                                     std::size_t order, std::size_t subarray_size) {
  CORNERTURN_REQUIRE(covariance.size() == order * order && subarray_size >= 1 && subarray_size <= order);
  const std::size_t subarray_count = order - subarray_size + 1;
  std::vector<std::complex<double>> smoothed(subarray_size * subarray_size);
  for (std::size_t first = 0; first < subarray_count; ++first)
    for (std::size_t row = 0; row < subarray_size; ++row)
      for (std::size_t column = 0; column < subarray_size; ++column)
        smoothed[row * subarray_size + column] +=
            covariance[(first + row) * order + first + column] / static_cast<double>(subarray_count);
  return smoothed;
}

std::vector<std::complex<double>> packed_lower(std::span<const std::complex<double>> covariance, std::size_t order) {
  CORNERTURN_REQUIRE(covariance.size() == order * order);
  std::vector<std::complex<double>> packed;
  packed.reserve(order * (order + 1) / 2);
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column <= row; ++column) packed.push_back(covariance[row * order + column]);
  return packed;
}

}  // namespace cornerturn
