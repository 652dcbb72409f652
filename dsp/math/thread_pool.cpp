#include "dsp/math/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

struct ThreadPool::State {
  // The job; written under the mutex before the workers are woken, read by all of them until `working` is 0 again.
  Call call = nullptr;
  void* context = nullptr;
  std::size_t count = 0;
  std::size_t chunk = 1;
  std::atomic<std::size_t> next{0};

  std::mutex mutex;
  std::condition_variable job_ready;
  std::condition_variable job_done;
  std::uint64_t job_number = 0;
  std::size_t working = 0;  // helpers that have not yet finished the job
  bool stopping = false;
  std::exception_ptr first_exception;

  std::vector<std::thread> helpers;

  void take_chunks(std::size_t worker) {
    for (;;) {
      const std::size_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) return;
      try {
        call(context, begin, std::min(begin + chunk, count), worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_exception) first_exception = std::current_exception();
        next.store(count, std::memory_order_relaxed);  // the rest is not begun
      }
    }
  }

  void help(std::size_t worker) {
    std::uint64_t done_number = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      job_ready.wait(lock, [&] { return stopping || job_number != done_number; });
      if (stopping) return;
      done_number = job_number;
      lock.unlock();
      take_chunks(worker);
      lock.lock();
      if (--working == 0) job_done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(std::size_t thread_count) : state_(std::make_unique<State>()) {
  if (thread_count == 0) thread_count = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t worker = 1; worker < thread_count; ++worker)
    state_->helpers.emplace_back([state = state_.get(), worker] { state->help(worker); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->job_ready.notify_all();
  for (std::thread& helper : state_->helpers) helper.join();
}

std::size_t ThreadPool::thread_count() const { return state_->helpers.size() + 1; }

void ThreadPool::run(std::size_t count, std::size_t grain, Call call, void* context) {
  if (count == 0) return;
  CORNERTURN_REQUIRE(grain >= 1);
  State& state = *state_;
  // Chunks even out lines of unequal cost and threads that lose their core for a while; each costs one atomic add.
  constexpr std::size_t kChunksPerThread = 16;
  const std::size_t chunk = std::max(grain, count / (thread_count() * kChunksPerThread));
  if (state.helpers.empty() || count <= chunk) {
    call(context, 0, count, 0);
    return;
  }
  {
    const std::lock_guard lock(state.mutex);
    state.call = call;
    state.context = context;
    state.count = count;
    state.chunk = chunk;
    state.next.store(0, std::memory_order_relaxed);
    state.working = state.helpers.size();
    ++state.job_number;
  }
  state.job_ready.notify_all();
  state.take_chunks(0);
  std::unique_lock lock(state.mutex);
  state.job_done.wait(lock, [&] { return state.working == 0; });
  if (state.first_exception) std::rethrow_exception(std::exchange(state.first_exception, nullptr));
}

}  // namespace cornerturn
