// Sustained rate of the CUDA backend on the four workloads, slots filled before with random samples, beside the rate of
// the link measured in the same run. Usage: cuda_stream_bench [workload [strategy]]
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/chain/product_catalogue.h"
#include "kernels/chain/cuda_backend.h"
#include "kernels/chain/memory_strategy.h"
#include "tests/bench/link_probe.h"

namespace {

using namespace cornerturn;  // NOLINT: a program
using Clock = std::chrono::steady_clock;

struct Workload {
  const char* name;
  CpiShape shape;
  std::size_t replica;  // 0: FMCW
};
const std::array<Workload, 4> kWorkloads = {{{"W1", {16, 128, 4096}, 512},
                                             {"W2", {16, 128, 9000}, 1000},
                                             {"W3", {4, 128, 256}, 0},
                                             {"W4", {64, 128, 4096}, 512}}};

ChainPlan plan_of(const Workload& workload) {
  RadarDescription radar;
  Waveform& waveform = radar.waveform;
  ChainConfig config;
  config.covariance.enabled = true;
  waveform.pri_s = 1e-3;
  if (workload.replica > 0) {
    waveform.kind = WaveformKind::pulse;
    waveform.carrier_hz = 10e9;
    waveform.sample_rate_hz = 10e6;
    waveform.bandwidth_hz = 8e6;
    waveform.pulse_width_s = static_cast<double>(workload.replica) / 10e6;
    config.canceller = Canceller::three_pulse;
  } else {
    waveform.carrier_hz = 77e9;
    waveform.sample_rate_hz = 5e6;
    waveform.slope_hz_per_s = 30e12;
  }
  radar.array = ArrayGeometry::uniform_line(workload.shape.channel_count, radar.waveform.wavelength_m() / 2.0);
  auto plan = make_chain_plan(radar, make_contiguous_layout(workload.shape, SampleFormat::int16, IqOrder::iq),
                              workload.shape, config);
  if (!plan) {
    std::fprintf(stderr, "%s\n", plan.error().message().c_str());
    std::exit(1);
  }
  return std::move(*plan);
}

class Slots final : public SlotOwner<RawSlot> {
 public:
  Slots(Backend& backend, std::size_t count) : allocator_(backend.input_allocator()) {
    const ChainPlan& plan = backend.plan();
    const std::size_t bytes = required_bytes(plan.layout, plan.shape).value();
    // Noise of 300 counts; one block of it repeated at odd places keeps the filling short and the data random.
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0.0F, 300.0F);
    std::vector<std::int16_t> noise(1 << 20);
    for (std::int16_t& value : noise) value = static_cast<std::int16_t>(normal(random));
    for (std::size_t i = 0; i < count; ++i) {
      auto& slot = slots_.emplace_back(std::make_unique<RawSlot>());
      slot->memory = allocator_.allocate(bytes);
      slot->owner = this;
      slot->cpi.segments = {{slot->memory.host, 0, plan.shape.pulse_count}};
      slot->set_write_state(1);
      for (std::size_t at = 0; at < bytes;) {
        const std::size_t skip = (random() % 4096) * 2;
        const std::size_t part = std::min(bytes - at, noise.size() * 2 - skip);
        std::memcpy(slot->memory.host.data() + at, reinterpret_cast<const char*>(noise.data()) + skip, part);
        at += part;
      }
    }
  }
  ~Slots() {
    for (auto& slot : slots_) allocator_.free(slot->memory);
  }
  ReadLease lease() {
    RawSlot& slot = *slots_[next_++ % slots_.size()];
    slot.holders.fetch_add(1);  // read by several CPIs in a row: nobody writes it
    return ReadLease::adopt(slot);
  }
  void recycle(RawSlot&) noexcept override {}

 private:
  SlotAllocator& allocator_;
  std::vector<std::unique_ptr<RawSlot>> slots_;
  std::size_t next_ = 0;
};

std::unique_ptr<Backend> backend_of(const Workload& workload, const std::string& memory, bool measure_stages = false) {
  BackendOptions options;
  options.memory = memory;
  options.result_slots = 2;
  options.measure_stages = measure_stages;
  auto backend = cuda::make_cuda_backend(plan_of(workload), options);
  if (!backend) {
    std::printf("%s %s: %s\n", workload.name, memory.c_str(), backend.error().message().c_str());
    return nullptr;
  }
  return std::move(*backend);
}

void must(const Expected<ResultLease>& result) {
  if (result) return;
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

/// Seconds per CPI of `count` CPIs in a row.
double stream(Backend& backend, Slots& slots, const CpiRequest& request, std::size_t count) {
  std::deque<Ticket> tickets;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    if (tickets.size() == backend.max_in_flight()) {
      must(backend.wait(tickets.front()));
      tickets.pop_front();
    }
    tickets.push_back(backend.enqueue(slots.lease(), request));
  }
  for (const Ticket ticket : tickets) must(backend.wait(ticket));
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(count);
}

double median_stream(Backend& backend, Slots& slots, const CpiRequest& request) {
  const double first = stream(backend, slots, request, 4 * backend.max_in_flight());
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(0.12 / first), 8, 20000);
  std::array<double, 5> seconds{};
  for (double& value : seconds) value = stream(backend, slots, request, count);
  std::sort(seconds.begin(), seconds.end());
  return seconds[2];
}

CpiRequest request_of(bool covariance) {
  CpiRequest request;
  request.products = {false, true, covariance, false, false};
  return request;
}

void measure(const Workload& workload, const std::string& only) {
  const ChainPlan plan = plan_of(workload);
  const std::size_t in_bytes = required_bytes(plan.layout, plan.shape).value();
  const std::size_t out_bytes = product_bytes(plan, ProductKind::covariance);
  const bench::LinkRates link = bench::measure_link(in_bytes, out_bytes);
  std::printf(
      "%s in %.2f MB, matrices %.2f MB; copy engine %.1f GB/s, beside results %.1f; read in place %.1f, beside results "
      "%.1f\n",
      workload.name, 1e-6 * static_cast<double>(in_bytes), 1e-6 * static_cast<double>(out_bytes), 1e-9 * link.copy_in,
      1e-9 * link.copy_in_beside, 1e-9 * link.read_in_place, 1e-9 * link.read_in_place_beside);
  for (const cuda::StrategyTraits& traits : cuda::kStrategies) {
    const std::string name(traits.name);
    if (!only.empty() && only != name) continue;
    const auto backend = backend_of(workload, name);
    if (!backend) continue;
    Slots slots(*backend, std::max<std::size_t>(backend->max_in_flight() + 2, 4));
    const double with = median_stream(*backend, slots, request_of(true));
    const double without = median_stream(*backend, slots, request_of(false));
    const double rate = static_cast<double>(in_bytes) / with;
    std::printf(
        "  %-13s %8.3f ms %9.1f CPI/s %6.2f GB/s  %.3f of copy, %.3f of in-place (%.3f beside results); without "
        "matrices %.3f ms\n",
        name.c_str(), 1e3 * with, 1.0 / with, 1e-9 * rate, rate / link.copy_in_beside, rate / link.read_in_place,
        rate / link.read_in_place_beside, 1e3 * without);
    std::fflush(stdout);
  }
}

void stages(const Workload& workload) {
  for (const char* memory : {"hybrid", "overlapped"}) {
    const auto backend = backend_of(workload, memory, true);
    if (!backend) return;
    Slots slots(*backend, 4);
    constexpr std::size_t kCpis = 20;
    for (std::size_t i = 0; i < 3; ++i) must(backend->wait(backend->enqueue(slots.lease(), request_of(true))));
    const std::vector<StageTime> before = backend->stage_times();
    for (std::size_t i = 0; i < kCpis; ++i) must(backend->wait(backend->enqueue(slots.lease(), request_of(true))));
    const std::vector<StageTime> after = backend->stage_times();
    std::printf("%s %s stages, ms:", workload.name, memory);
    for (std::size_t i = 0; i < after.size(); ++i)
      std::printf(" %s %.3f;", after[i].stage.c_str(), 1e3 * (after[i].seconds - before[i].seconds) / kCpis);
    std::printf("\n");
  }
}

void latency(const Workload& workload) {
  for (const char* memory : {"overlapped", "zero-copy", "hybrid"}) {
    const auto backend = backend_of(workload, memory);
    if (!backend) return;
    Slots slots(*backend, 4);
    std::vector<double> seconds;
    std::vector<double> launch_seconds;
    for (int i = 0; i < 3000; ++i) {
      const auto start = Clock::now();
      const Ticket ticket = backend->enqueue(slots.lease(), request_of(false));
      const auto launched = Clock::now();
      must(backend->wait(ticket));
      if (i < 500) continue;
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      launch_seconds.push_back(std::chrono::duration<double>(launched - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    std::sort(launch_seconds.begin(), launch_seconds.end());
    std::printf("%s %s latency: p50 %.1f us, p99 %.1f us; of it enqueue() p50 %.1f us\n", workload.name, memory,
                1e6 * seconds[seconds.size() / 2], 1e6 * seconds[seconds.size() * 99 / 100],
                1e6 * launch_seconds[launch_seconds.size() / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string workload = argc > 1 ? argv[1] : "";
  const std::string strategy = argc > 2 ? argv[2] : "";
  const auto devices = cuda::describe_devices();
  if (!devices) {
    std::printf("skipped: %s\n", devices.error().message().c_str());
    return 0;
  }
  std::printf("%s\n", devices->front().c_str());
  for (const Workload& w : kWorkloads) {
    if (!workload.empty() && workload != w.name) continue;
    measure(w, strategy);
    stages(w);
    if (std::string(w.name) == "W3") latency(w);
  }
  return 0;
}
