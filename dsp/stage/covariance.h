#pragma once

#include <complex>
#include <cstddef>
#include <span>

#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/cube_view.h"

namespace cornerturn {

/// Elements of the packed lower half of a Hermitian matrix: (0,0) (1,0) (1,1) (2,0) ...
constexpr std::size_t packed_size(std::size_t order) { return order * (order + 1) / 2; }
/// Place of element (row, column), row >= column, in the packed lower half.
constexpr std::size_t packed_index(std::size_t row, std::size_t column) { return row * (row + 1) / 2 + column; }

/// Sample covariance of the snapshots of one gate: R = (1/K) sum_k x_k x_k^H, then, when asked for, forward-backward
/// R <- (R + J R* J) / 2 (J the exchange matrix; right for arrays with a symmetric line), then relative loading
/// R <- R + loading tr(R)/M I.
/// Shape: in (channel, snapshot), out packed lower half of (channel, channel). Units: power.
/// K >= 2 M - 3 snapshots that hold no target cost 3 dB or less (Reed, Mallett & Brennan, T-AES 10(6), 1974).
/// Accuracy: single precision with partial sums in double; relative L2 error below 1e-6.
/// Allocates nothing after construction. Threads: process() from any thread with its own `worker` number.
/// Source: Van Trees, Optimum Array Processing (2002), section 7.2 (sample matrix), 7.2.3 (forward-backward), 7.3
/// (loading).
class CovarianceStage {
 public:
  struct Options {
    bool forward_backward = false;
    double loading = 0.0;
  };
  CovarianceStage(std::size_t channel_count, std::size_t snapshot_count, const Options& options,
                  std::size_t thread_count);

  /// A light parameter. Requires loading >= 0.
  void set_loading(double loading);

  void process(MatrixView<const std::complex<float>> snapshots, std::span<std::complex<float>> packed,
               std::size_t worker);

 private:
  void split_planes(MatrixView<const std::complex<float>> snapshots, std::size_t first, std::size_t count,
                    std::span<float> planes) const;
  void add_products(std::span<const float> planes, std::span<double> sums) const;

  std::size_t channel_count_;
  std::size_t snapshot_count_;
  std::size_t thread_count_;
  Options options_;
  std::size_t line_stride_;      // floats of one channel's line, whole vectors
  std::size_t plane_stride_;     // floats of all real (or all imaginary) parts
  AlignedBuffer<float> planes_;  // (worker, real or imaginary, channel, snapshot of a block)
  AlignedBuffer<double> sums_;   // (worker, packed element, real or imaginary)
};

/// In place on a packed lower half: R <- (R + J R* J) / 2.
void make_forward_backward(std::span<std::complex<float>> packed, std::size_t order);
void make_forward_backward(std::span<std::complex<double>> packed, std::size_t order);
/// In place on a packed lower half: R <- R + loading tr(R) / M I.
void add_relative_loading(std::span<std::complex<float>> packed, std::size_t order, double loading);

}  // namespace cornerturn
