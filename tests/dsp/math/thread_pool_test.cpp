#include "dsp/math/thread_pool.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(ThreadPool, VisitsEachLineOnce) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.thread_count(), threads);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}})
      for (const std::size_t grain : {std::size_t{1}, std::size_t{3}, std::size_t{2000}}) {
        std::vector<int> visits(count);  // each line by one thread: no race when the pool is right
        pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
          EXPECT_LT(worker, threads);
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(visits, std::vector<int>(count, 1));
      }
  }
}

TEST(ThreadPool, AWorkerNumberIsNeverUsedByTwoThreadsAtATime) {
  ThreadPool pool(3);
  std::vector<long> sums(3);  // scratch of each worker, not atomic on purpose: the thread sanitizer watches
  for (int job = 0; job < 500; ++job)
    pool.parallel_for(64, 1, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      sums[worker] += static_cast<long>(end - begin);
    });
  EXPECT_EQ(sums[0] + sums[1] + sums[2], 500 * 64);
}

TEST(ThreadPool, RethrowsAndGoesOn) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(100, 1,
                                 [](std::size_t begin, std::size_t, std::size_t) {
                                   if (begin >= 20) throw std::runtime_error("line 20");
                                 }),
               std::runtime_error);
  std::atomic<int> count = 0;
  pool.parallel_for(10, 1,
                    [&](std::size_t begin, std::size_t end, std::size_t) { count += static_cast<int>(end - begin); });
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace cornerturn
