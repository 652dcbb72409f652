#pragma once

#include <type_traits>
#include <utility>

/// Discrete Fourier transforms of 2 to 32 points in the registers of one thread, out(k) = sum_n in(n) exp(s j 2 pi k n
/// / L) with s = -1 (forward) or +1, and the twiddle factors between passes of a larger one.
namespace cornerturn::cuda {

inline constexpr int kForward = -1;
inline constexpr int kInverse = 1;

__device__ inline float2 multiply(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ inline float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ inline float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

namespace fft_detail {

constexpr double kTwoPi = 6.283185307179586476925;

// Series in double precision: constants, formed by the compiler.
constexpr double cosine(double x) {
  double term = 1.0;
  double sum = 1.0;
  for (int i = 1; i < 24; ++i) {
    term *= -x * x / ((2.0 * i - 1.0) * (2.0 * i));
    sum += term;
  }
  return sum;
}
constexpr double sine(double x) {
  double term = x;
  double sum = x;
  for (int i = 1; i < 24; ++i) {
    term *= -x * x / ((2.0 * i) * (2.0 * i + 1.0));
    sum += term;
  }
  return sum;
}

template <int kCount, typename Body> __device__ __forceinline__ void unrolled(Body&& body) {
  [&]<int... kIndices>(std::integer_sequence<int, kIndices...>) {
    (body(std::integral_constant<int, kIndices>{}), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

/// v exp(s j 2 pi index / length).
template <int kSign, int kLength, int kIndex> __device__ __forceinline__ float2 turned(float2 v) {
  constexpr int kTurn = kSign > 0 ? kIndex % kLength : (kLength - kIndex % kLength) % kLength;
  if constexpr (kTurn == 0) {
    return v;
  } else if constexpr (4 * kTurn == kLength) {
    return make_float2(-v.y, v.x);
  } else if constexpr (2 * kTurn == kLength) {
    return make_float2(-v.x, -v.y);
  } else if constexpr (4 * kTurn == 3 * kLength) {
    return make_float2(v.y, -v.x);
  } else {
    // From the nearest quarter turn, where the series is most exact.
    constexpr float kCosine =
        static_cast<float>(cosine(kTwoPi * (2 * kTurn > kLength ? kTurn - kLength : kTurn) / kLength));
    constexpr float kSine =
        static_cast<float>(sine(kTwoPi * (2 * kTurn > kLength ? kTurn - kLength : kTurn) / kLength));
    return make_float2(v.x * kCosine - v.y * kSine, v.x * kSine + v.y * kCosine);
  }
}

}  // namespace fft_detail

/// In place, in natural order.
template <int kLength, int kSign> __device__ __forceinline__ void small_fft(float2 (&v)[kLength]) {
  using namespace fft_detail;  // NOLINT: its own details
  if constexpr (kLength == 2) {
    const float2 a = v[0];
    v[0] = a + v[1];
    v[1] = a - v[1];
  } else if constexpr (kLength == 3) {
    constexpr float kHalfRoot = 0.86602540378443864676F * static_cast<float>(kSign);
    const float2 sum = v[1] + v[2];
    const float2 difference = v[1] - v[2];
    const float2 middle = make_float2(v[0].x - 0.5F * sum.x, v[0].y - 0.5F * sum.y);
    v[0] = v[0] + sum;
    v[1] = make_float2(middle.x - kHalfRoot * difference.y, middle.y + kHalfRoot * difference.x);
    v[2] = make_float2(middle.x + kHalfRoot * difference.y, middle.y - kHalfRoot * difference.x);
  } else if constexpr (kLength == 4) {
    const float2 a = v[0] + v[2];
    const float2 b = v[0] - v[2];
    const float2 c = v[1] + v[3];
    const float2 d = turned<kSign, 4, 1>(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
  } else {
    // n = second n1 + n2, k = k1 + first k2.
    constexpr int kFirst = kLength % 3 == 0 ? 3 : kLength == 8 ? 2 : 4;
    constexpr int kSecond = kLength / kFirst;
    float2 parts[kFirst][kSecond];
    unrolled<kSecond>([&](auto n2) {
      float2 line[kFirst];
      unrolled<kFirst>([&](auto n1) { line[n1] = v[kSecond * n1 + n2]; });
      small_fft<kFirst, kSign>(line);
      unrolled<kFirst>([&](auto k1) { parts[k1][n2] = turned<kSign, kLength, k1 * n2>(line[k1]); });
    });
    unrolled<kFirst>([&](auto k1) {
      small_fft<kSecond, kSign>(parts[k1]);
      unrolled<kSecond>([&](auto k2) { v[k1 + kFirst * k2] = parts[k1][k2]; });
    });
  }
}

__device__ inline float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }

/// Entries of a twiddle table for one step w: w^1, w^2, w^3, w^4, w^8, w^12 ... as far as a transform of `length`
/// needs.
constexpr int twiddle_count(int length) { return 3 + (length + 3) / 4 - 1; }
constexpr int twiddle_power(int entry) { return entry < 3 ? entry + 1 : 4 * (entry - 2); }

/// v(k) *= w^k, or conj(w)^k on the way back. Each power is one entry of the table or the product of two, because
/// powers of a rounded w would carry its rounding k times. `table`: entry e of this w at e * stride.
template <int kSign, int kLength>
__device__ __forceinline__ void apply_twiddles(float2 (&v)[kLength], const float2* table, unsigned stride) {
  using namespace fft_detail;  // NOLINT: its own details
  const auto entry = [&](int index) {
    const float2 w = table[static_cast<unsigned>(index) * stride];
    return kSign < 0 ? w : conjugate(w);
  };
  const float2 powers[4] = {make_float2(1.0F, 0.0F), entry(0), entry(1), entry(2)};
  unrolled<(kLength + 3) / 4>([&](auto block) {
    const float2 base = block == 0 ? powers[0] : entry(block + 2);
    unrolled<4>([&](auto i) {
      constexpr int kPower = 4 * block + i;
      if constexpr (kPower > 0 && kPower < kLength)
        v[kPower] = multiply(v[kPower], block == 0 ? powers[i] : i == 0 ? base : multiply(base, powers[i]));
    });
  });
}

}  // namespace cornerturn::cuda
