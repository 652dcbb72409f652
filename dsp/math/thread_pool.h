#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace cornerturn {

/// Fixed set of threads that share the lines of one job; the caller works too. Allocates nothing per job.
/// Threads: one job at a time; parallel_for is called by one thread.
class ThreadPool {
 public:
  /// 0: one thread per core.
  explicit ThreadPool(std::size_t thread_count);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t thread_count() const;

  /// Calls body(begin, end, worker) over chunks of [0, count), `grain` lines at the least; worker < thread_count()
  /// names the scratch space that the call may use. Returns when all are done. The first exception of a body is
  /// rethrown.
  template <typename Body> void parallel_for(std::size_t count, std::size_t grain, Body&& body) {
    auto call = [](void* context, std::size_t begin, std::size_t end, std::size_t worker) {
      (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end, worker);
    };
    run(count, grain, call, &body);
  }

 private:
  using Call = void (*)(void* context, std::size_t begin, std::size_t end, std::size_t worker);
  void run(std::size_t count, std::size_t grain, Call call, void* context);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cornerturn
