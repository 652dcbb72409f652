#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/result_pool.h"
#include "kernels/chain/detection_finish.h"
#include "kernels/chain/device_tables.h"
#include "kernels/chain/lane.h"
#include "kernels/chain/memory_strategy.h"
#include "kernels/chain/slot_memory.h"
#include "kernels/cuda/device_info.h"

namespace cornerturn::cuda {

/// The chain on one GPU. A CPI goes through three hands: whoever enqueues it (or the launcher, while its segments still
/// arrive) hands its work to the device; the releaser gives the input back once the device has read it; the finisher
/// waits for the end, does what stays on the host, and reports it done.
class DeviceBackend final : public Backend {
 public:
  struct Options {
    DeviceInfo device;
    MemoryStrategy strategy = MemoryStrategy::hybrid;
    std::size_t result_slots = 4;
    std::size_t threads = 0;
    bool measure_stages = false;
    std::string note;  ///< why this strategy
    /// Slots may come from another device's backend: their address here is asked for.
    bool foreign_slots = false;
  };
  /// Throws CudaError, std::bad_alloc.
  DeviceBackend(std::shared_ptr<const ChainPlan> plan, const Options& options);
  ~DeviceBackend() override;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  BackendInfo info() const override;
  const ChainPlan& plan() const override { return *plan_; }
  SlotAllocator& input_allocator() override { return input_slots_; }
  std::size_t max_in_flight() const override { return jobs_.size(); }
  Ticket enqueue(ReadLease&& input, const CpiRequest& request) override;
  Expected<ResultLease> wait(Ticket ticket) override;
  bool is_done(Ticket ticket) override;
  std::vector<StageTime> stage_times() const override;
  std::uint64_t result_waits() const override { return results_->waits(); }

 private:
  struct Job {
    enum class State { free, queued, launched, done };
    State state = State::free;
    std::atomic<bool> is_done{false};  // the same as State::done, for a short look without the mutex
    bool input_released = true;
    bool finished = true;
    std::uint64_t id = 0;
    ReadLease input;
    CpiRequest request;
    ResultLease result;
    std::optional<Error> error;
    std::unique_ptr<Lane> lane;
  };
  /// Jobs in order of arrival, without allocating.
  class Queue {
   public:
    explicit Queue(std::size_t capacity) : jobs_(capacity) {}
    bool empty() const { return count_ == 0; }
    Job& front() { return *jobs_[first_]; }
    void push(Job& job) { jobs_[(first_ + count_++) % jobs_.size()] = &job; }
    void pop() {
      first_ = (first_ + 1) % jobs_.size();
      --count_;
    }

   private:
    std::vector<Job*> jobs_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  std::size_t lane_count() const;
  void make_lanes(const Options& options);
  Job& find(Ticket ticket);
  void launch(Job& job);
  Expected<void> feed(Job& job);
  const std::byte* slot_address(const RawSlot& slot) const;
  void fail(Job& job, Error error);
  void finish(Job& job);
  void settle(Job& job);
  void launcher_loop();
  void releaser_loop();
  void finisher_loop();
  Error error_of(const char* what) const;
  ResultTargets targets_of(CpiResult& result) const;

  std::shared_ptr<const ChainPlan> plan_;
  DeviceInfo device_;
  StrategyTraits traits_;
  std::string note_;
  bool measure_stages_;
  bool foreign_slots_;
  HostSlots input_slots_;
  std::shared_ptr<HostSlots> result_memory_;
  std::shared_ptr<ResultPool> results_;
  std::shared_ptr<const DeviceTables> tables_;
  Stream ingest_stream_;
  Stream finish_stream_;
  DetectionFinish detection_;
  std::vector<Job> jobs_;

  mutable std::mutex mutex_;
  std::condition_variable launch_changed_;
  std::condition_variable release_changed_;
  std::condition_variable finish_changed_;
  std::condition_variable done_changed_;
  Queue launch_queue_;
  Queue release_queue_;
  Queue finish_queue_;
  bool stopping_ = false;
  std::uint64_t next_id_ = 1;
  std::array<double, kGpuStageCount> stage_seconds_{};
  double host_seconds_ = 0.0;

  // last: they use all of the above
  std::thread launcher_;
  std::thread releaser_;
  std::thread finisher_;
};

}  // namespace cornerturn::cuda
