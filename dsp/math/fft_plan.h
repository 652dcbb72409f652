#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>

namespace cornerturn {

/// A planned single-precision Fourier transform of `batch` lines that follow each other in memory.
/// forward: X[k] = sum_n x[n] exp(-j 2 pi k n / N); inverse: x[n] = sum_k X[k] exp(+j 2 pi k n / N), not divided by N.
/// Requires: arrays aligned as AlignedBuffer aligns its start.
/// Threads: one plan may be executed by any number of threads at a time, on different arrays.
/// Source: Frigo & Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005.
class FftPlan {
 public:
  /// Measures algorithms for this length (once per process and length).
  static FftPlan forward(std::size_t length, std::size_t batch = 1);
  static FftPlan inverse(std::size_t length, std::size_t batch = 1);
  /// Real lines of `length` to complex lines of length / 2 + 1.
  static FftPlan real_forward(std::size_t length, std::size_t batch = 1);

  FftPlan(FftPlan&&) noexcept = default;
  FftPlan& operator=(FftPlan&&) noexcept = default;

  std::size_t length() const { return length_; }
  std::size_t batch() const { return batch_; }

  /// Shape: in and out (batch * length); they must not overlap, `in` is kept. For plans of forward() and inverse().
  void execute(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const;
  /// Shape: in (batch * length), out (batch * (length / 2 + 1)). For plans of real_forward().
  void execute(std::span<const float> in, std::span<std::complex<float>> out) const;

 private:
  enum class Kind { complex, real };
  struct Destroy {
    void operator()(void* plan) const;
  };
  FftPlan(void* plan, Kind kind, std::size_t length, std::size_t batch)
      : plan_(plan), kind_(kind), length_(length), batch_(batch) {}
  static FftPlan make_complex(std::size_t length, std::size_t batch, int sign);

  std::unique_ptr<void, Destroy> plan_;
  Kind kind_ = Kind::complex;
  std::size_t length_ = 0;
  std::size_t batch_ = 0;
};

/// The smallest length >= `minimum` that is a product of 2, 3, 5 and 7: FFTW is fast there.
std::size_t good_fft_length(std::size_t minimum);

}  // namespace cornerturn
