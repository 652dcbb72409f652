#include "dsp/stage/covariance.h"

#include <algorithm>
#include <array>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

namespace {

constexpr std::size_t kLanes = 8;
/// Eight neighbouring snapshots; the compiler maps it to whatever registers the processor has.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float)), may_alias));

/// Snapshots in single precision before a partial sum moves on to double; also keeps the planes in cache.
constexpr std::size_t kBlockSnapshots = 256;

float sum_of(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// Real and imaginary parts of one channel's snapshots.
struct Line {
  const Lanes* real;
  const Lanes* imaginary;
};

/// sums(r, c) of a 2 x 2 block of sum_k row_k conj(column_k). Four complex sums at a time reuse each loaded line twice
/// and keep all sums in registers.
void add_block(const std::array<Line, 2>& rows, const std::array<Line, 2>& columns, std::size_t vector_count,
               std::array<float, 4>& real, std::array<float, 4>& imaginary) {
  Lanes re00{}, re01{}, re10{}, re11{}, im00{}, im01{}, im10{}, im11{};
  for (std::size_t k = 0; k < vector_count; ++k) {
    const Lanes a0 = rows[0].real[k], b0 = rows[0].imaginary[k];
    const Lanes a1 = rows[1].real[k], b1 = rows[1].imaginary[k];
    const Lanes c0 = columns[0].real[k], d0 = columns[0].imaginary[k];
    const Lanes c1 = columns[1].real[k], d1 = columns[1].imaginary[k];
    re00 += a0 * c0;
    re01 += a0 * c1;
    re10 += a1 * c0;
    re11 += a1 * c1;
    im00 += b0 * c0;
    im01 += b0 * c1;
    im10 += b1 * c0;
    im11 += b1 * c1;
    re00 += b0 * d0;
    re01 += b0 * d1;
    re10 += b1 * d0;
    re11 += b1 * d1;
    im00 -= a0 * d0;
    im01 -= a0 * d1;
    im10 -= a1 * d0;
    im11 -= a1 * d1;
  }
  real = {sum_of(re00), sum_of(re01), sum_of(re10), sum_of(re11)};
  imaginary = {sum_of(im00), sum_of(im01), sum_of(im10), sum_of(im11)};
}

}  // namespace

CovarianceStage::CovarianceStage(std::size_t channel_count, std::size_t snapshot_count, const Options& options,
                                 std::size_t thread_count)
    : channel_count_(channel_count),
      snapshot_count_(snapshot_count),
      thread_count_(thread_count),
      options_(options),
      line_stride_((std::min(snapshot_count, kBlockSnapshots) + kLanes - 1) / kLanes * kLanes),
      // One more line where the number of channels is odd: blocks are two channels wide, and it stays zero.
      plane_stride_((channel_count + channel_count % 2) * line_stride_),
      planes_(thread_count * 2 * plane_stride_),
      sums_(thread_count * 2 * packed_size(channel_count)) {
  CORNERTURN_REQUIRE(channel_count >= 1 && snapshot_count >= 1 && thread_count >= 1 && options.loading >= 0.0);
}

void CovarianceStage::set_loading(double loading) {
  CORNERTURN_REQUIRE(loading >= 0.0);
  options_.loading = loading;
}

void CovarianceStage::split_planes(MatrixView<const std::complex<float>> snapshots, std::size_t first,
                                   std::size_t count, std::span<float> planes) const {
  for (std::size_t channel = 0; channel < channel_count_; ++channel) {
    const auto* const in = reinterpret_cast<const float*>(snapshots.line(channel).data() + first);
    float* const real = planes.data() + channel * line_stride_;
    float* const imaginary = real + plane_stride_;
    for (std::size_t k = 0; k < count; ++k) {
      real[k] = in[2 * k];
      imaginary[k] = in[2 * k + 1];
    }
    std::fill(real + count, real + line_stride_, 0.0F);
    std::fill(imaginary + count, imaginary + line_stride_, 0.0F);
  }
}

void CovarianceStage::add_products(std::span<const float> planes, std::span<double> sums) const {
  const std::size_t vector_count = line_stride_ / kLanes;
  const auto line = [&](std::size_t channel) {
    const float* const real = planes.data() + channel * line_stride_;
    return Line{reinterpret_cast<const Lanes*>(real), reinterpret_cast<const Lanes*>(real + plane_stride_)};
  };
  std::array<float, 4> real;
  std::array<float, 4> imaginary;
  for (std::size_t row = 0; row < channel_count_; row += 2) {
    for (std::size_t column = 0; column <= row; column += 2) {
      add_block({line(row), line(row + 1)}, {line(column), line(column + 1)}, vector_count, real, imaginary);
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t r = row + i / 2;
        const std::size_t c = column + i % 2;
        if (r >= channel_count_ || c > r) continue;
        sums[2 * packed_index(r, c)] += static_cast<double>(real[i]);
        sums[2 * packed_index(r, c) + 1] += static_cast<double>(imaginary[i]);
      }
    }
  }
}

void CovarianceStage::process(MatrixView<const std::complex<float>> snapshots, std::span<std::complex<float>> packed,
                              std::size_t worker) {
  CORNERTURN_REQUIRE(snapshots.line_count() == channel_count_ && snapshots.element_count() == snapshot_count_);
  CORNERTURN_REQUIRE(packed.size() == packed_size(channel_count_) && worker < thread_count_);
  const auto planes = planes_.span().subspan(worker * 2 * plane_stride_, 2 * plane_stride_);
  const auto sums = sums_.span().subspan(worker * 2 * packed.size(), 2 * packed.size());

  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t first = 0; first < snapshot_count_; first += kBlockSnapshots) {
    split_planes(snapshots, first, std::min(kBlockSnapshots, snapshot_count_ - first), planes);
    add_products(planes, sums);
  }
  const double scale = 1.0 / static_cast<double>(snapshot_count_);
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = {static_cast<float>(sums[2 * i] * scale), static_cast<float>(sums[2 * i + 1] * scale)};
  // Fused multiply-adds leave a rounding residue where the exact imaginary part is zero.
  for (std::size_t channel = 0; channel < channel_count_; ++channel) packed[packed_index(channel, channel)].imag(0.0F);

  if (options_.forward_backward) make_forward_backward(packed, channel_count_);
  add_relative_loading(packed, channel_count_, options_.loading);
}

namespace {

template <typename Real> void average_with_mirror_image(std::span<std::complex<Real>> packed, std::size_t order) {
  CORNERTURN_REQUIRE(packed.size() == packed_size(order));
  // (J R* J)(r, c) = R(M-1-c, M-1-r), which lies in the lower half too: the average pairs elements of the packed half.
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      const std::size_t here = packed_index(row, column);
      const std::size_t mirrored = packed_index(order - 1 - column, order - 1 - row);
      if (mirrored < here) continue;
      const std::complex<Real> mean = (packed[here] + packed[mirrored]) / Real{2};
      packed[here] = mean;
      packed[mirrored] = mean;
    }
  }
}

}  // namespace

void make_forward_backward(std::span<std::complex<float>> packed, std::size_t order) {
  average_with_mirror_image(packed, order);
}

void make_forward_backward(std::span<std::complex<double>> packed, std::size_t order) {
  average_with_mirror_image(packed, order);
}

void add_relative_loading(std::span<std::complex<float>> packed, std::size_t order, double loading) {
  CORNERTURN_REQUIRE(packed.size() == packed_size(order));
  if (loading == 0.0) return;
  double trace = 0.0;
  for (std::size_t channel = 0; channel < order; ++channel)
    trace += static_cast<double>(packed[packed_index(channel, channel)].real());
  const double added = loading * trace / static_cast<double>(order);
  for (std::size_t channel = 0; channel < order; ++channel) {
    std::complex<float>& element = packed[packed_index(channel, channel)];
    element.real(static_cast<float>(static_cast<double>(element.real()) + added));
  }
}

}  // namespace cornerturn
