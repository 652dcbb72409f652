#include "tests/src/stream/fake_backend.h"

#include <algorithm>
#include <stdexcept>

namespace cornerturn::testing {

FakeAsyncBackend::FakeAsyncBackend(FakeBackendOptions options, std::shared_ptr<Ledger> ledger)
    : options_(std::move(options)), ledger_(std::move(ledger)) {
  ++ledger_->backends;
  const std::size_t result_count = options_.max_in_flight + options_.result_slots;
  jobs_.resize(options_.max_in_flight);
  values_.assign(result_count, std::vector<double>(2));
  slots_ = std::make_unique<ResultSlot[]>(result_count);
  free_.reserve(result_count);
  for (std::size_t i = 0; i < result_count; ++i) {
    Product product;
    product.name = "fake";
    product.axes = {Axis::index("value", 2)};
    product.type = ElementType::float64;
    product.bytes = std::as_writable_bytes(std::span(values_[i]));
    slots_[i].result.products = {product};
    slots_[i].owner = this;
    free_.push_back(&slots_[i]);
  }
  for (std::size_t i = 0; i < options_.threads; ++i) {
    workers_.emplace_back([this, i] { work(options_.seed * 100 + static_cast<std::uint32_t>(i)); });
  }
}

FakeAsyncBackend::~FakeAsyncBackend() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  workers_.clear();
  --ledger_->backends;
}

Ticket FakeAsyncBackend::enqueue(ReadLease&& input, const CpiRequest& request) {
  if (input->cpi.header.index == options_.throwing_enqueue) throw std::runtime_error("device lost while enqueueing");
  std::unique_lock lock(mutex_);
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& j) { return j.state == State::free; });
  CORNERTURN_REQUIRE(job != jobs_.end());  // more in flight than max_in_flight()
  if (free_.empty()) {
    ++result_waits_;
    changed_.wait(lock, [&] { return !free_.empty(); });
  }
  job->slot = free_.back();
  free_.pop_back();
  ++ledger_->results;
  job->state = State::queued;
  job->id = next_id_++;
  job->index = input->cpi.header.index;
  job->abandoned = false;
  job->input = std::move(input);
  job->request = request;
  const auto busy = std::count_if(jobs_.begin(), jobs_.end(), [](const Job& j) { return j.state != State::free; });
  ledger_->max_in_flight = std::max<int>(ledger_->max_in_flight, static_cast<int>(busy));
  changed_.notify_all();
  return {job->id};
}

Expected<ResultLease> FakeAsyncBackend::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  Job& job = find(ticket);
  changed_.wait(lock, [&] { return job.state == State::done; });
  job.state = State::free;
  const std::uint64_t index = job.index;
  const bool abandoned = job.abandoned;
  job.slot->holders = 1;
  ResultLease lease = ResultLease::adopt(*job.slot);
  lock.unlock();  // a lease that ends here comes back through recycle()
  if (index == options_.throwing_wait) throw std::runtime_error("device lost while waiting");
  if (abandoned) return runtime_error("fake", "the input was abandoned");
  if (options_.failing.count(index) != 0) return runtime_error("fake", "CPI " + std::to_string(index) + " failed");
  return lease;
}

bool FakeAsyncBackend::is_done(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  return find(ticket).state == State::done;
}

FakeAsyncBackend::Job& FakeAsyncBackend::find(Ticket ticket) {
  const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                [&](const Job& j) { return j.state != State::free && j.id == ticket.id; });
  CORNERTURN_REQUIRE(job != jobs_.end());
  return *job;
}

void FakeAsyncBackend::work(std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::unique_lock lock(mutex_);
  for (;;) {
    std::size_t queued = 0;
    changed_.wait(lock, [&] {
      queued = static_cast<std::size_t>(
          std::count_if(jobs_.begin(), jobs_.end(), [](const Job& j) { return j.state == State::queued; }));
      return queued > 0 || stopping_;
    });
    if (queued == 0) return;
    std::size_t chosen = random() % queued;
    auto job = jobs_.begin();
    for (;; ++job) {
      if (job->state == State::queued && chosen-- == 0) break;
    }
    job->state = State::running;
    lock.unlock();
    process(*job);
    if (options_.max_delay.count() > 0) {
      std::this_thread::sleep_for(options_.max_delay * static_cast<int>(random() % 1000) / 1000);
    }
    lock.lock();
    job->state = State::done;
    for (const Job& other : jobs_) {
      if (other.state == State::running && other.id < job->id) ++ledger_->completed_out_of_order;
    }
    changed_.notify_all();
  }
}

void FakeAsyncBackend::process(Job& job) {
  const RawSlot& slot = *job.input;
  CpiResult& result = job.slot->result;
  for (std::size_t i = 0; i < slot.cpi.segments.size(); ++i) {
    if (!slot.wait_for_segment(i)) {
      job.abandoned = true;
      job.input.release();
      return;
    }
    const auto& bytes = slot.cpi.segments[i].bytes;
    const std::byte wanted = fill_byte(job.index);
    if (!std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == wanted; })) ++ledger_->torn;
  }
  result.header = slot.cpi.header;
  const auto values = result.products[0].mutable_values<double>();
  values[0] = static_cast<double>(fill_byte(job.index));
  values[1] = job.request.light.pfa;
  job.input.release();  // the input is consumed; the results may take longer
}

SlotMemory FakeAsyncBackend::allocate(std::size_t bytes) {
  ++ledger_->slots;
  return {{new std::byte[bytes], bytes}, nullptr};
}

void FakeAsyncBackend::free(const SlotMemory& memory) noexcept {
  --ledger_->slots;
  delete[] memory.host.data();
}

void FakeAsyncBackend::recycle(ResultSlot& slot) noexcept {
  const std::lock_guard lock(mutex_);
  --ledger_->results;
  free_.push_back(&slot);
  changed_.notify_all();
}

}  // namespace cornerturn::testing
