#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cornerturn {

/// What a stream of random numbers is for; streams of different purposes are independent.
enum class DrawPurpose : std::uint64_t { target = 1, fluctuation = 2, clutter = 3, noise = 4 };

/// Key of one stream: the same four numbers give the same stream, whatever was drawn before or elsewhere.
std::uint64_t stream_key(std::uint64_t seed, DrawPurpose purpose, std::uint64_t index, std::uint64_t sub_index = 0);

/// SplitMix64: for the few draws that are not made per sample, and for seeding.
/// Source: Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
class DrawStream {
 public:
  explicit DrawStream(std::uint64_t key) : state_(key) {}
  std::uint64_t next();
  /// In (0, 1].
  double uniform();
  /// Zero mean, unit variance.
  double normal();

 private:
  std::uint64_t state_;
};

/// White Gaussian noise for samples: xoshiro128++ in 16 lanes and Box-Muller on polynomials, so that it vectorises.
/// Two 24-bit uniforms make one pair, so |value| <= 5.9; moments and tails up to there are those of the normal law.
/// Source: Blackman & Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021;
/// Box & Muller, Ann. Math. Stat. 29(2), 1958.
class GaussianNoise {
 public:
  explicit GaussianNoise(std::uint64_t key);
  /// Fills both spans (of one size) with independent values of zero mean and unit variance.
  void fill(std::span<float> first, std::span<float> second);

 private:
  static constexpr std::size_t kLanes = 16;
  using Lanes = std::array<std::uint32_t, kLanes>;
  void next(Lanes& bits);
  void next_pairs(float* first, float* second);

  std::array<Lanes, 4> state_;
};

}  // namespace cornerturn
