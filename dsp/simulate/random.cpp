#include "dsp/simulate/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e37'79b9'7f4a'7c15u;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebu;
  return value ^ (value >> 31);
}

/// Natural logarithm of u in [2^-24, 1], absolute error below 3e-7. Plain arithmetic, so that loops vectorise.
inline float log_of_uniform(float u) {
  const auto bits = std::bit_cast<std::uint32_t>(u);
  // Mantissa into [sqrt(1/2), sqrt(2)), where the series in s = (m - 1) / (m + 1) converges fast.
  const std::uint32_t shifted = bits - 0x3f35'04f3u;
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float mantissa = std::bit_cast<float>((shifted & 0x007f'ffffu) + 0x3f35'04f3u);
  const float s = (mantissa - 1.0F) / (mantissa + 1.0F);
  const float s2 = s * s;
  const float series = 2.0F + s2 * (2.0F / 3.0F + s2 * (2.0F / 5.0F + s2 * (2.0F / 7.0F + s2 * (2.0F / 9.0F))));
  return exponent * std::numbers::ln2_v<float> + s * series;
}

/// Square root of x >= 0 by Newton steps on 1 / sqrt(x): std::sqrt may set errno, which keeps loops scalar.
inline float root(float x) {
  float inverse = std::bit_cast<float>(0x5f37'59dfu - (std::bit_cast<std::uint32_t>(x) >> 1));
  const float half = 0.5F * x;
  inverse *= 1.5F - half * inverse * inverse;
  inverse *= 1.5F - half * inverse * inverse;
  inverse *= 1.5F - half * inverse * inverse;
  return x * inverse;
}

}  // namespace

std::uint64_t stream_key(std::uint64_t seed, DrawPurpose purpose, std::uint64_t index, std::uint64_t sub_index) {
  std::uint64_t key = mix(seed + kGoldenGamma);
  key = mix(key ^ (static_cast<std::uint64_t>(purpose) * kGoldenGamma));
  key = mix(key ^ (index + kGoldenGamma));
  return mix(key ^ (sub_index + kGoldenGamma));
}

std::uint64_t DrawStream::next() {
  state_ += kGoldenGamma;
  return mix(state_);
}

double DrawStream::uniform() { return (static_cast<double>(next() >> 11) + 1.0) * 0x1p-53; }

double DrawStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

GaussianNoise::GaussianNoise(std::uint64_t key) {
  DrawStream seeds(key);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t low = seeds.next();
    const std::uint64_t high = seeds.next();
    state_[0][lane] = static_cast<std::uint32_t>(low);
    state_[1][lane] = static_cast<std::uint32_t>(low >> 32);
    state_[2][lane] = static_cast<std::uint32_t>(high);
    state_[3][lane] = static_cast<std::uint32_t>(high >> 32) | 1U;  // a state of zeros only would stay there
  }
}

void GaussianNoise::next(Lanes& bits) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::uint32_t s0 = state_[0][lane];
    std::uint32_t s1 = state_[1][lane];
    std::uint32_t s2 = state_[2][lane];
    std::uint32_t s3 = state_[3][lane];
    bits[lane] = std::rotl(s0 + s3, 7) + s0;
    const std::uint32_t shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = std::rotl(s3, 11);
    state_[0][lane] = s0;
    state_[1][lane] = s1;
    state_[2][lane] = s2;
    state_[3][lane] = s3;
  }
}

void GaussianNoise::next_pairs(float* first, float* second) {
  Lanes radius_bits;
  Lanes angle_bits;
  next(radius_bits);
  next(angle_bits);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const float u = (static_cast<float>(static_cast<std::int32_t>(radius_bits[lane] >> 8)) + 1.0F) * 0x1p-24F;
    const float radius = root(-2.0F * std::min(log_of_uniform(u), 0.0F));
    // Half of the angle lies in [-pi/2, pi/2): short Taylor series hold, and the double angle needs no quadrants.
    const float half =
        static_cast<float>(static_cast<std::int32_t>(angle_bits[lane]) >> 8) * 0x1p-24F * std::numbers::pi_v<float>;
    const float h2 = half * half;
    const float sine =
        half * (1.0F + h2 * (-1.0F / 6 +
                             h2 * (1.0F / 120 + h2 * (-1.0F / 5040 + h2 * (1.0F / 362880 - h2 * (1.0F / 39916800))))));
    const float cosine =
        1.0F +
        h2 * (-0.5F +
              h2 * (1.0F / 24 + h2 * (-1.0F / 720 + h2 * (1.0F / 40320 + h2 * (-1.0F / 3628800 + h2 / 479001600.0F)))));
    first[lane] = radius * (1.0F - 2.0F * sine * sine);
    second[lane] = radius * 2.0F * sine * cosine;
  }
}

void GaussianNoise::fill(std::span<float> first, std::span<float> second) {
  CORNERTURN_REQUIRE(first.size() == second.size());
  std::size_t index = 0;
  for (; index + kLanes <= first.size(); index += kLanes) next_pairs(first.data() + index, second.data() + index);
  if (index == first.size()) return;
  std::array<float, kLanes> first_rest;
  std::array<float, kLanes> second_rest;
  next_pairs(first_rest.data(), second_rest.data());
  const std::size_t rest = first.size() - index;
  std::copy_n(first_rest.begin(), rest, first.begin() + static_cast<std::ptrdiff_t>(index));
  std::copy_n(second_rest.begin(), rest, second.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace cornerturn
