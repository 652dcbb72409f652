#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dsp/chain/backend.h"
#include "src/stream/backend_choice.h"

namespace cornerturn::testing {

/// What every sample of CPI `index` is, so that a slot that was overwritten too early is seen.
inline std::byte fill_byte(std::uint64_t index) { return static_cast<std::byte>(index * 7 + 13); }

/// Outlives sessions and backends: what must be zero when all is over.
struct Ledger {
  std::atomic<int> slots{0};     ///< allocated and not freed
  std::atomic<int> results{0};   ///< leased and not returned
  std::atomic<int> backends{0};  ///< alive
  std::atomic<int> torn{0};      ///< CPIs whose bytes were not those of their index
  std::atomic<int> max_in_flight{0};
  std::atomic<int> completed_out_of_order{0};

  bool is_clear() const { return slots == 0 && results == 0 && backends == 0 && torn == 0; }
};

struct FakeBackendOptions {
  std::size_t threads = 3;
  std::size_t max_in_flight = 4;
  std::size_t result_slots = 0;            ///< beyond those in flight; 0: as the session asks
  std::chrono::microseconds max_delay{0};  ///< each CPI takes a random time up to it
  std::uint32_t seed = 1;
  std::set<std::uint64_t> failing;  ///< CPIs whose wait returns an error
  std::uint64_t throwing_enqueue = UINT64_MAX;
  std::uint64_t throwing_wait = UINT64_MAX;
};

/// Works on several CPIs at once on threads of its own and completes them in random order. The result holds the header
/// and one product "fake" with two numbers: the byte that all samples had, and the Pfa that the request asked for.
class FakeAsyncBackend final : public Backend, private SlotAllocator, private SlotOwner<ResultSlot> {
 public:
  FakeAsyncBackend(FakeBackendOptions options, std::shared_ptr<Ledger> ledger);
  ~FakeAsyncBackend() override;

  BackendInfo info() const override { return {"fake", "random", "host"}; }
  const ChainPlan& plan() const override { return plan_; }
  SlotAllocator& input_allocator() override { return *this; }
  std::size_t max_in_flight() const override { return options_.max_in_flight; }
  Ticket enqueue(ReadLease&& input, const CpiRequest& request) override;
  Expected<ResultLease> wait(Ticket ticket) override;
  bool is_done(Ticket ticket) override;
  std::vector<StageTime> stage_times() const override { return {{"fake", 1.0}}; }
  std::uint64_t result_waits() const override { return result_waits_; }

 private:
  enum class State { free, queued, running, done };
  struct Job {
    State state = State::free;
    std::uint64_t id = 0;
    std::uint64_t index = 0;
    ReadLease input;
    CpiRequest request;
    ResultSlot* slot = nullptr;
    bool abandoned = false;
  };

  SlotMemory allocate(std::size_t bytes) override;
  void free(const SlotMemory& memory) noexcept override;
  void recycle(ResultSlot& slot) noexcept override;
  void work(std::uint32_t seed);
  void process(Job& job);
  Job& find(Ticket ticket);

  const FakeBackendOptions options_;
  const std::shared_ptr<Ledger> ledger_;
  ChainPlan plan_;
  std::uint64_t next_id_ = 0;
  std::atomic<std::uint64_t> result_waits_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::vector<std::vector<double>> values_;
  std::unique_ptr<ResultSlot[]> slots_;
  std::vector<ResultSlot*> free_;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;
};

inline BackendFactory fake_factory(const FakeBackendOptions& options, const std::shared_ptr<Ledger>& ledger) {
  return [options, ledger](const CaptureInfo&, const ChainConfig&,
                           std::size_t result_slots) -> Expected<std::unique_ptr<Backend>> {
    FakeBackendOptions with_slots = options;
    if (with_slots.result_slots == 0) with_slots.result_slots = result_slots;
    return std::make_unique<FakeAsyncBackend>(with_slots, ledger);
  };
}

}  // namespace cornerturn::testing
