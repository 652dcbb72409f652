#pragma once

#include <complex>
#include <cstddef>
#include <span>

// Plain loops are quick enough here, and g++ 12 warns falsely inside its own AVX-512 header.
#define EIGEN_DONT_VECTORIZE
#include <Eigen/Dense>

namespace cornerturn {

/// Real symmetric form ((Re, -Im), (Im, Re)) of a full Hermitian matrix, row by row: it has each eigenvalue twice, and
/// solves for (Re x, Im x).
inline Eigen::MatrixXd real_form(std::span<const std::complex<double>> matrix, std::size_t order) {
  const auto n = static_cast<Eigen::Index>(order);
  Eigen::MatrixXd form(2 * n, 2 * n);
  for (Eigen::Index row = 0; row < n; ++row)
    for (Eigen::Index column = 0; column < n; ++column) {
      const std::complex<double> value = matrix[static_cast<std::size_t>(row * n + column)];
      form(row, column) = form(n + row, n + column) = value.real();
      form(n + row, column) = value.imag();
      form(row, n + column) = -value.imag();
    }
  return form;
}

/// (Re x, Im x).
inline Eigen::VectorXd real_form(std::span<const std::complex<double>> vector) {
  const auto n = static_cast<Eigen::Index>(vector.size());
  Eigen::VectorXd form(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    form[i] = vector[static_cast<std::size_t>(i)].real();
    form[n + i] = vector[static_cast<std::size_t>(i)].imag();
  }
  return form;
}

}  // namespace cornerturn
