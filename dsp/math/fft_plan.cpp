#include "dsp/math/fft_plan.h"

#include <cstdint>
#include <mutex>
#include <new>

#include <fftw3.h>

#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

// FFTW's planner and plan destruction share tables and are not safe to call from two threads; execution is.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

fftwf_complex* fftw_pointer(const std::complex<float>* values) {
  // FFTW takes no pointers to const; plans made with FFTW_PRESERVE_INPUT leave their input as it was.
  return reinterpret_cast<fftwf_complex*>(const_cast<std::complex<float>*>(values));
}

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0; }

// Measuring lines of millions of points would take minutes; past this limit FFTW takes the best plan it has.
constexpr double kPlanSeconds = 5.0;
constexpr unsigned kPlanFlags = FFTW_MEASURE | FFTW_PRESERVE_INPUT;

}  // namespace

void FftPlan::Destroy::operator()(void* plan) const {
  const std::lock_guard lock(planner_mutex());
  fftwf_destroy_plan(static_cast<fftwf_plan>(plan));
}

FftPlan FftPlan::make_complex(std::size_t length, std::size_t batch, int sign) {
  CORNERTURN_REQUIRE(length >= 1 && batch >= 1);
  // Planning overwrites its arrays, so it gets its own.
  AlignedBuffer<std::complex<float>> in(length * batch);
  AlignedBuffer<std::complex<float>> out(length * batch);
  const int points = static_cast<int>(length);
  const std::lock_guard lock(planner_mutex());
  fftwf_set_timelimit(kPlanSeconds);
  fftwf_plan plan = fftwf_plan_many_dft(1, &points, static_cast<int>(batch), fftw_pointer(in.data()), nullptr, 1,
                                        points, fftw_pointer(out.data()), nullptr, 1, points, sign, kPlanFlags);
  if (plan == nullptr) throw std::bad_alloc();
  return FftPlan(plan, Kind::complex, length, batch);
}

FftPlan FftPlan::forward(std::size_t length, std::size_t batch) { return make_complex(length, batch, FFTW_FORWARD); }
FftPlan FftPlan::inverse(std::size_t length, std::size_t batch) { return make_complex(length, batch, FFTW_BACKWARD); }

FftPlan FftPlan::real_forward(std::size_t length, std::size_t batch) {
  CORNERTURN_REQUIRE(length >= 1 && batch >= 1);
  const std::size_t bins = length / 2 + 1;
  AlignedBuffer<float> in(length * batch);
  AlignedBuffer<std::complex<float>> out(bins * batch);
  const int points = static_cast<int>(length);
  const std::lock_guard lock(planner_mutex());
  fftwf_set_timelimit(kPlanSeconds);
  fftwf_plan plan = fftwf_plan_many_dft_r2c(1, &points, static_cast<int>(batch), in.data(), nullptr, 1, points,
                                            fftw_pointer(out.data()), nullptr, 1, static_cast<int>(bins), kPlanFlags);
  if (plan == nullptr) throw std::bad_alloc();
  return FftPlan(plan, Kind::real, length, batch);
}

void FftPlan::execute(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(kind_ == Kind::complex);
  CORNERTURN_REQUIRE(in.size() == length_ * batch_ && out.size() == in.size());
  CORNERTURN_REQUIRE(is_aligned(in.data()) && is_aligned(out.data()));
  fftwf_execute_dft(static_cast<fftwf_plan>(plan_.get()), fftw_pointer(in.data()), fftw_pointer(out.data()));
}

void FftPlan::execute(std::span<const float> in, std::span<std::complex<float>> out) const {
  CORNERTURN_REQUIRE(kind_ == Kind::real);
  CORNERTURN_REQUIRE(in.size() == length_ * batch_ && out.size() == (length_ / 2 + 1) * batch_);
  CORNERTURN_REQUIRE(is_aligned(in.data()) && is_aligned(out.data()));
  fftwf_execute_dft_r2c(static_cast<fftwf_plan>(plan_.get()), const_cast<float*>(in.data()), fftw_pointer(out.data()));
}

std::size_t good_fft_length(std::size_t minimum) {
  for (std::size_t length = minimum;; ++length) {
    std::size_t rest = length;
    for (const std::size_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

}  // namespace cornerturn
