#include "kernels/chain/device_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

#include "dsp/vocabulary/contract.h"
#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {
namespace {

// Small CPIs need more of them in flight to hide the way through host and launch.
constexpr std::size_t kLanesOfSmallCpis = 6;
constexpr std::size_t kLanesOfLargeCpis = 3;
constexpr std::chrono::microseconds kShortWait(100);
constexpr std::size_t kSmallLaneBytes = std::size_t{64} << 20;

std::size_t host_threads(std::size_t asked) {
  if (asked != 0) return asked;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

/// Of a segment in the slot whose first byte the device sees at `slot_address`; null: the device cannot see it.
const void* device_address(const RawSlot& slot, const std::byte* slot_address, const RawSegment& segment) {
  const std::byte* const first = slot.memory.host.data();
  const std::byte* const bytes = segment.bytes.data();
  if (slot_address == nullptr || bytes < first || bytes + segment.bytes.size() > first + slot.memory.host.size())
    return nullptr;
  return slot_address + (bytes - first);
}

bool is_whole(const RawSlot& slot) {
  const std::size_t count = slot.cpi.segments.size();
  return count > 0 && slot.has_segment(count - 1);
}

}  // namespace

DeviceBackend::DeviceBackend(std::shared_ptr<const ChainPlan> plan, const Options& options)
    : plan_(std::move(plan)),
      device_(options.device),
      traits_(traits_of(options.strategy)),
      note_(options.note),
      measure_stages_(options.measure_stages),
      foreign_slots_(options.foreign_slots),
      input_slots_(traits_.slots, device_.index),
      result_memory_(std::make_shared<HostSlots>(
          traits_.slots == SlotKind::pageable ? SlotKind::pageable : SlotKind::pinned, device_.index)),
      tables_((check(cudaSetDevice(device_.index), "cudaSetDevice"), std::make_shared<const DeviceTables>(plan_))),
      ingest_stream_(Priority::high),
      finish_stream_(Priority::high),
      detection_(plan_, host_threads(options.threads)),
      jobs_(lane_count()),
      launch_queue_(jobs_.size()),
      release_queue_(jobs_.size()),
      finish_queue_(jobs_.size()) {
  results_ = ResultPool::make(plan_, options.result_slots + jobs_.size(), result_memory_);
  make_lanes(options);
  launcher_ = std::thread([this] { launcher_loop(); });
  releaser_ = std::thread([this] { releaser_loop(); });
  finisher_ = std::thread([this] { finisher_loop(); });
}

/// As many CPIs in flight as overlap needs, fewer where device memory is short, one at the least.
std::size_t DeviceBackend::lane_count() const {
  const std::size_t lane_bytes = Lane::device_bytes(*tables_, traits_);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  const std::size_t reserve = total_bytes / 20;  // work areas of cuFFT, kernels, other programs
  const std::size_t usable = free_bytes - std::min(free_bytes, reserve);
  if (lane_bytes > usable)
    throw OutOfMemory("device memory for one CPI", lane_bytes, usable, cudaErrorMemoryAllocation,
                      std::source_location::current());
  if (!traits_.overlaps) return 1;
  return std::min(lane_bytes <= kSmallLaneBytes ? kLanesOfSmallCpis : kLanesOfLargeCpis, usable / lane_bytes);
}

void DeviceBackend::make_lanes(const Options& options) {
  for (Job& job : jobs_) job.lane = std::make_unique<Lane>(tables_, Lane::Options{traits_, options.measure_stages});
}

DeviceBackend::~DeviceBackend() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  launch_changed_.notify_all();
  release_changed_.notify_all();
  finish_changed_.notify_all();
  launcher_.join();
  releaser_.join();
  finisher_.join();
  cudaSetDevice(device_.index);
  cudaDeviceSynchronize();  // before the memory goes that kernels may still use
}

BackendInfo DeviceBackend::info() const {
  std::string strategy(traits_.name);
  if (!note_.empty()) strategy += " (" + note_ + ")";
  for (const std::string& fallback : {input_slots_.fallback(), result_memory_->fallback()})
    if (!fallback.empty()) {
      strategy += " (" + fallback + ")";
      break;
    }
  return {"cuda", device_.name, strategy};
}

DeviceBackend::Job& DeviceBackend::find(Ticket ticket) {
  for (Job& job : jobs_)
    if (job.state != Job::State::free && job.id == ticket.id) return job;
  CORNERTURN_REQUIRE(!"a ticket is waited for once");
  std::abort();
}

Error DeviceBackend::error_of(const char* what) const {
  return {ErrorKind::runtime, device_.name, what, "the other CPIs go on; --backend cpu does without the GPU"};
}

Ticket DeviceBackend::enqueue(ReadLease&& input, const CpiRequest& request) {
  ResultLease result = results_->acquire();
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  results_->prepare(*result, request.products);
  std::unique_lock lock(mutex_);
  const auto free_job =
      std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.state == Job::State::free; });
  CORNERTURN_REQUIRE(free_job != jobs_.end());  // no more than max_in_flight() before the first is waited for
  Job& job = *free_job;
  job.id = next_id_++;
  job.input = std::move(input);
  job.request = request;
  job.result = std::move(result);
  job.state = Job::State::queued;
  job.input_released = false;
  job.finished = false;
  const Ticket ticket{job.id};
  const bool at_once = launch_queue_.empty() && is_whole(*job.input);
  launch_queue_.push(job);
  if (!at_once) {
    launch_changed_.notify_one();
    return ticket;
  }
  // The queue is not empty while this goes on, so that the next ones wait for their turn.
  job.state = Job::State::launched;
  lock.unlock();
  launch(job);
  return ticket;
}

Expected<ResultLease> DeviceBackend::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  Job& job = find(ticket);
  // Being woken takes as long as a small CPI: look for a moment before going to sleep.
  if (job.state != Job::State::done) {
    lock.unlock();
    const auto end = std::chrono::steady_clock::now() + kShortWait;
    while (!job.is_done.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    lock.lock();
  }
  done_changed_.wait(lock, [&] { return job.state == Job::State::done; });
  job.state = Job::State::free;
  job.is_done.store(false, std::memory_order_relaxed);
  ResultLease result = std::move(job.result);
  if (job.error) return unexpected(*std::exchange(job.error, std::nullopt));
  return result;
}

bool DeviceBackend::is_done(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  return find(ticket).state == Job::State::done;
}

ResultTargets DeviceBackend::targets_of(CpiResult& result) const {
  ResultTargets targets;
  for (Product& product : result.products) {
    if (product.name == "range_doppler_power") targets.map = reinterpret_cast<float*>(product.bytes.data());
    if (product.name == "covariance") targets.covariance = reinterpret_cast<float2*>(product.bytes.data());
    if (product.name == "range_profiles") targets.range_profiles = reinterpret_cast<float2*>(product.bytes.data());
    if (product.name == "doppler_cube") targets.doppler_cube = reinterpret_cast<float2*>(product.bytes.data());
    targets.detections = targets.detections || product.is_detection_column();
  }
  return targets;
}

/// Write-combined memory may have another address on each device.
const std::byte* DeviceBackend::slot_address(const RawSlot& slot) const {
  if (slot.memory.device == nullptr || !foreign_slots_) return static_cast<const std::byte*>(slot.memory.device);
  void* address = nullptr;
  if (cudaHostGetDevicePointer(&address, slot.memory.host.data(), 0) == cudaSuccess)
    return static_cast<const std::byte*>(address);
  cudaGetLastError();
  return nullptr;  // it is copied then
}

/// Hands the CPI to the device segment by segment.
Expected<void> DeviceBackend::feed(Job& job) {
  const RawSlot& slot = *job.input;
  const auto failed = [&](const std::string& what) {
    return runtime_error("CPI " + std::to_string(slot.cpi.header.index), what, "the CPI is dropped");
  };
  const std::byte* const address = slot_address(slot);
  std::size_t pulse_count = 0;
  for (std::size_t i = 0; pulse_count < plan_->shape.pulse_count; ++i) {
    if (i == slot.cpi.segments.size() || !slot.wait_for_segment(i))
      return failed("the source delivered " + std::to_string(pulse_count) + " of " +
                    std::to_string(plan_->shape.pulse_count) + " pulses");
    if (i == 0) {
      job.result->result.header = slot.cpi.header;
      job.lane->begin(job.result->result.header.gaps);
    }
    const RawSegment& segment = slot.cpi.segments[i];
    if (segment.first_pulse != pulse_count || segment.pulse_count > plan_->shape.pulse_count - pulse_count)
      return failed("segment " + std::to_string(i) + " does not follow the one before");
    if (segment.pulse_count == 0) continue;
    const CpiShape part{plan_->shape.channel_count, segment.pulse_count, plan_->shape.sample_count};
    const auto needed = required_bytes(plan_->layout, part);
    if (!needed || *needed > segment.bytes.size())
      return failed("a segment of " + std::to_string(segment.bytes.size()) + " bytes is too short for its " +
                    std::to_string(segment.pulse_count) + " pulses");
    job.lane->ingest(segment, device_address(slot, address, segment), ingest_stream_.get());
    pulse_count += segment.pulse_count;
  }
  job.lane->finish_ingest(ingest_stream_.get());
  job.lane->compute(targets_of(job.result->result), job.request.light);
  return {};
}

/// The job stands at the front of the launch queue.
void DeviceBackend::launch(Job& job) {
  std::optional<Error> error;
  try {
    if (auto ok = feed(job); !ok) error = std::move(ok.error());
  } catch (const std::exception& exception) {
    error = error_of(exception.what());
  }
  if (error) {
    job.lane->abandon(ingest_stream_.get());
    job.input.release();
  }
  const std::lock_guard lock(mutex_);
  launch_queue_.pop();
  if (error) {
    job.error = std::move(error);
    job.input_released = true;
    job.finished = true;
    settle(job);
  } else {
    release_queue_.push(job);
    finish_queue_.push(job);
    release_changed_.notify_one();
    finish_changed_.notify_one();
  }
  if (!launch_queue_.empty()) launch_changed_.notify_one();
}

/// Under the mutex.
void DeviceBackend::settle(Job& job) {
  if (!job.input_released || !job.finished) return;
  job.state = Job::State::done;
  job.is_done.store(true, std::memory_order_release);
  done_changed_.notify_all();
}

void DeviceBackend::launcher_loop() {
  cudaSetDevice(device_.index);
  std::unique_lock lock(mutex_);
  for (;;) {
    launch_changed_.wait(lock, [&] {
      return stopping_ || (!launch_queue_.empty() && launch_queue_.front().state == Job::State::queued);
    });
    if (stopping_) return;
    Job& job = launch_queue_.front();
    job.state = Job::State::launched;
    lock.unlock();
    launch(job);
    lock.lock();
  }
}

void DeviceBackend::releaser_loop() {
  cudaSetDevice(device_.index);
  std::unique_lock lock(mutex_);
  for (;;) {
    release_changed_.wait(lock, [&] { return stopping_ || !release_queue_.empty(); });
    if (release_queue_.empty()) return;
    Job& job = release_queue_.front();
    lock.unlock();
    std::optional<Error> error;
    try {
      job.lane->input_read().wait();
    } catch (const std::exception& exception) {
      error = error_of(exception.what());
    }
    job.input.release();
    lock.lock();
    release_queue_.pop();
    if (error && !job.error) job.error = std::move(error);
    job.input_released = true;
    settle(job);
  }
}

void DeviceBackend::finisher_loop() {
  cudaSetDevice(device_.index);
  std::unique_lock lock(mutex_);
  for (;;) {
    finish_changed_.wait(lock, [&] { return stopping_ || !finish_queue_.empty(); });
    if (finish_queue_.empty()) return;
    Job& job = finish_queue_.front();
    lock.unlock();
    std::optional<Error> error;
    try {
      finish(job);
    } catch (const std::exception& exception) {
      error = error_of(exception.what());
    }
    lock.lock();
    finish_queue_.pop();
    if (error && !job.error) job.error = std::move(error);
    job.finished = true;
    settle(job);
  }
}

void DeviceBackend::finish(Job& job) {
  using Clock = std::chrono::steady_clock;
  job.lane->done().wait();
  const auto start = Clock::now();
  CpiResult& result = job.result->result;
  const QualityReport& quality = job.lane->quality();
  result.quality.masked_samples = quality.masked_samples;
  result.quality.saturated_samples = quality.saturated_samples;
  result.quality.zero_channels = quality.zero_channels;
  if (job.request.products.detections) detection_.process(*job.lane, job.request.light, finish_stream_.get(), result);
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  const std::lock_guard lock(mutex_);
  host_seconds_ += elapsed.count();
  if (measure_stages_) job.lane->add_stage_times(stage_seconds_);
}

std::vector<StageTime> DeviceBackend::stage_times() const {
  const std::lock_guard lock(mutex_);
  std::vector<StageTime> times;
  if (measure_stages_)
    for (std::size_t stage = 0; stage < kGpuStageCount; ++stage)
      times.push_back({name_of(static_cast<GpuStage>(stage)), stage_seconds_[stage]});
  times.push_back({"grouping and angles on the host", host_seconds_});
  return times;
}

}  // namespace cornerturn::cuda
