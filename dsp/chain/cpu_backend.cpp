#include <array>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "dsp/chain/backend.h"
#include "dsp/chain/cpu_chain.h"
#include "dsp/chain/result_pool.h"
#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

class HostAllocator final : public SlotAllocator {
 public:
  SlotMemory allocate(std::size_t bytes) override {
    constexpr std::size_t kPage = 4096;  // so that a reader's large reads go to whole pages
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    return {{static_cast<std::byte*>(memory), bytes}, nullptr};
  }
  void free(const SlotMemory& memory) noexcept override { std::free(memory.host.data()); }
};

/// Two CPIs in flight: one in the chain, the next one waiting, so that the chain never waits for its caller.
class CpuBackend final : public Backend {
 public:
  CpuBackend(std::shared_ptr<const ChainPlan> plan, const CpuBackendOptions& options)
      : plan_(std::move(plan)),
        chain_(plan_, options.threads),
        results_(ResultPool::make(plan_, options.result_slots + kMaxInFlight)),
        runner_([this] { run(); }) {}

  ~CpuBackend() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    runner_.join();
  }

  CpuBackend(const CpuBackend&) = delete;
  CpuBackend& operator=(const CpuBackend&) = delete;

  BackendInfo info() const override {
    return {"cpu", "host processor, " + std::to_string(chain_.thread_count()) + " threads", "host"};
  }
  const ChainPlan& plan() const override { return *plan_; }
  SlotAllocator& input_allocator() override { return allocator_; }
  std::size_t max_in_flight() const override { return kMaxInFlight; }

  Ticket enqueue(ReadLease&& input, const CpiRequest& request) override {
    ResultLease result = results_->acquire();
    const std::lock_guard lock(mutex_);
    Job* job = find(State::free);
    CORNERTURN_REQUIRE(job != nullptr);  // no more than max_in_flight() before the first is waited for
    job->state = State::waiting;
    job->id = next_id_++;
    job->input = std::move(input);
    job->request = request;
    job->result = std::move(result);
    changed_.notify_all();
    return {job->id};
  }

  Expected<ResultLease> wait(Ticket ticket) override {
    std::unique_lock lock(mutex_);
    Job& job = find(ticket);
    changed_.wait(lock, [&] { return job.state == State::done; });
    job.state = State::free;
    job.input.release();
    ResultLease result = std::move(job.result);
    if (job.error) return unexpected(*std::exchange(job.error, std::nullopt));
    return result;
  }

  bool is_done(Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    return find(ticket).state == State::done;
  }

  std::vector<StageTime> stage_times() const override { return chain_.stage_times(); }
  std::uint64_t result_waits() const override { return results_->waits(); }

 private:
  static constexpr std::size_t kMaxInFlight = 2;
  enum class State { free, waiting, running, done };
  struct Job {
    State state = State::free;
    std::uint64_t id = 0;
    ReadLease input;
    CpiRequest request;
    ResultLease result;
    std::optional<Error> error;
  };

  // All under the mutex.
  Job* find(State state) {
    Job* first = nullptr;
    for (Job& job : jobs_)
      if (job.state == state && (first == nullptr || job.id < first->id)) first = &job;
    return first;
  }
  Job& find(Ticket ticket) {
    Job* found = nullptr;
    for (Job& job : jobs_)
      if (job.state != State::free && job.id == ticket.id) found = &job;
    CORNERTURN_REQUIRE(found != nullptr);  // a ticket is waited for once
    return *found;
  }

  // First come, first served.
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      changed_.wait(lock, [&] { return stopping_ || (job = find(State::waiting)) != nullptr; });
      if (stopping_) return;
      job->state = State::running;
      lock.unlock();
      std::optional<Error> error = process(*job);
      lock.lock();
      job->error = std::move(error);
      job->state = State::done;
      changed_.notify_all();
    }
  }

  std::optional<Error> process(Job& job) {
    try {
      results_->prepare(*job.result, job.request.products);
      auto ok = chain_.process(job.input, job.request, job.result->result);
      job.input.release();
      if (!ok) return std::move(ok.error());
    } catch (const std::exception& exception) {  // this thread has no caller who could
      return Error{ErrorKind::runtime, "cpu", exception.what(), {}};
    }
    return std::nullopt;
  }

  std::shared_ptr<const ChainPlan> plan_;
  HostAllocator allocator_;
  CpuChain chain_;
  std::shared_ptr<ResultPool> results_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t next_id_ = 1;
  std::array<Job, kMaxInFlight> jobs_;
  std::thread runner_;  // last: it uses all of the above
};

}  // namespace

Expected<std::unique_ptr<Backend>> make_cpu_backend(ChainPlan plan, const CpuBackendOptions& options) {
  const std::size_t work_bytes = plan.work_bytes();
  try {
    return std::make_unique<CpuBackend>(std::make_shared<const ChainPlan>(std::move(plan)), options);
  } catch (const std::bad_alloc&) {
    return runtime_error("cpu", "not enough memory for a work space of " + std::to_string(work_bytes >> 20) + " MiB",
                         "use shorter CPIs, shorter transforms or fewer gates (range.max_m)");
  }
}

}  // namespace cornerturn
