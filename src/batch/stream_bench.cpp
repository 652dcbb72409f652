#include "src/batch/stream_bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dsp/chain/write_lease.h"
#include "dsp/simulate/echo_simulator.h"
#include "src/capture/simulator_source.h"
#include "src/stream/backend_choice.h"
#include "src/stream/guarded.h"
#include "src/stream/session.h"

namespace cornerturn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Slots in a backend's own memory, filled once and read by many CPIs.
class FilledSlots final : public SlotOwner<RawSlot> {
 public:
  FilledSlots(Backend& backend, const BenchSamples& samples, std::size_t count)
      : allocator_(backend.input_allocator()) {
    for (std::size_t i = 0; i < count; ++i) {
      auto& slot = slots_.emplace_back(std::make_unique<RawSlot>());
      slot->memory = allocator_.allocate(samples.bytes());
      slot->owner = this;
      std::memcpy(slot->memory.host.data(), samples.values().data(), samples.bytes());
      slot->cpi.segments = {{slot->memory.host, 0, samples.workload().shape.pulse_count}};
      slot->set_write_state(1);
    }
  }
  ~FilledSlots() {
    for (const auto& slot : slots_) allocator_.free(slot->memory);
  }
  FilledSlots(const FilledSlots&) = delete;
  FilledSlots& operator=(const FilledSlots&) = delete;

  ReadLease lease() {
    RawSlot& slot = *slots_[next_++ % slots_.size()];
    slot.holders.fetch_add(1);  // several CPIs may read it at a time: nobody writes it
    return ReadLease::adopt(slot);
  }
  void recycle(RawSlot&) noexcept override {}
  std::span<std::byte> memory(std::size_t i) const { return slots_[i % slots_.size()]->memory.host; }

 private:
  SlotAllocator& allocator_;
  std::vector<std::unique_ptr<RawSlot>> slots_;
  std::size_t next_ = 0;
};

/// Copies the same samples into every slot.
class CopySource final : public CaptureSource {
 public:
  CopySource(const BenchSamples& samples, CaptureInfo info) : samples_(samples), info_(std::move(info)) {}
  const CaptureInfo& info() const override { return info_; }
  Expected<Fill> fill(WriteLease& slot) override {
    if (next_ == info_.cpi_count) return Fill::end;
    std::memcpy(slot.memory().data(), samples_.values().data(), samples_.bytes());
    slot.header().index = next_++;
    slot.publish_segment({slot.memory().first(samples_.bytes()), 0, info_.shape.pulse_count});
    return Fill::filled;
  }
  Expected<void> seek(std::size_t cpi_index) override {
    next_ = cpi_index;
    return {};
  }

 private:
  const BenchSamples& samples_;
  CaptureInfo info_;
  std::size_t next_ = 0;
};

CpiRequest wanted(bool covariance) {
  CpiRequest request;
  request.products.map = false;
  request.products.covariance = covariance;
  return request;
}

/// Seconds per CPI of `count` CPIs, as many in flight as the backend takes.
Expected<double> stream(Backend& backend, FilledSlots& slots, std::size_t count) {
  const CpiRequest request = wanted(true);
  std::deque<Ticket> tickets;
  std::optional<Error> error;
  const auto retire = [&] {
    const Expected<ResultLease> result = backend.wait(tickets.front());
    if (!result && !error) error = result.error();
    tickets.pop_front();
  };
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count && !error; ++i) {
    if (tickets.size() == backend.max_in_flight()) retire();
    tickets.push_back(backend.enqueue(slots.lease(), request));
  }
  while (!tickets.empty()) retire();
  if (error) return unexpected(*error);
  return seconds_since(start) / static_cast<double>(count);
}

Expected<std::unique_ptr<Backend>> make_for(const BenchSamples& samples, const std::string& name,
                                            BackendOptions options) {
  Expected<ChainPlan> plan = bench_plan(samples.workload());
  if (!plan) return unexpected(std::move(plan.error()));
  options.result_slots = 2;
  Expected<BackendChoice> choice = make_backend(name, std::move(*plan), options);
  if (!choice) return unexpected(std::move(choice.error()));
  return std::move(choice->backend);
}

/// Seconds per CPI that a simulator or a copying thread needs alone, in the backend's own slots; the median.
double fill_seconds(const BenchSamples& samples, LiveFilling filling, Backend& backend, double budget_s) {
  FilledSlots slots(backend, samples, 4);
  std::optional<EchoSimulator> simulator;
  if (filling == LiveFilling::simulator) simulator.emplace(bench_scene(samples.workload()));
  std::vector<double> seconds;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < 5 || (seconds_since(begin) < budget_s && i < 2000); ++i) {
    const std::span<std::byte> memory = slots.memory(i);
    const auto start = Clock::now();
    if (simulator) {
      simulator->fill(i, {reinterpret_cast<std::int16_t*>(memory.data()), samples.values().size()});
    } else {
      std::memcpy(memory.data(), samples.values().data(), samples.bytes());
    }
    if (i > 0) seconds.push_back(seconds_since(start));  // the first one warms up
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

BenchSamples::BenchSamples(const BenchWorkload& workload) : workload_(workload), values_(2 * workload.shape.samples()) {
  EchoSimulator(bench_scene(workload)).fill(0, values_);
}

double bench_memory_copy(const BenchSamples& samples) {
  constexpr std::size_t kSlots = 4;  // in turn, so that a small CPI is not copied inside the cache alone
  std::vector<std::vector<std::int16_t>> targets(kSlots, std::vector<std::int16_t>(samples.values().size()));
  std::vector<double> rates;
  for (std::size_t round = 0; round <= 5; ++round) {
    const auto start = Clock::now();
    std::size_t count = 0;
    do {
      std::memcpy(targets[count % kSlots].data(), samples.values().data(), samples.bytes());
      ++count;
    } while (count < kSlots || seconds_since(start) < 0.02);
    if (round > 0) rates.push_back(static_cast<double>(count * samples.bytes()) / seconds_since(start));
  }
  std::nth_element(rates.begin(), rates.begin() + 2, rates.end());
  return rates[2];
}

Expected<StreamRate> bench_filled_before(const BenchSamples& samples, const std::string& backend_name,
                                         const BackendOptions& options, const BenchEffort& effort) {
  return guarded(std::string(samples.workload().name), [&]() -> Expected<StreamRate> {
    const Expected<std::unique_ptr<Backend>> backend = make_for(samples, backend_name, options);
    if (!backend) return unexpected(backend.error());
    FilledSlots slots(**backend, samples, std::max<std::size_t>((*backend)->max_in_flight() + 2, 4));
    const Expected<double> first = stream(**backend, slots, 2 * (*backend)->max_in_flight());
    if (!first) return unexpected(first.error());
    const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(effort.round_s / *first), 2, 20000);
    std::vector<double> seconds;
    for (std::size_t round = 0; round < effort.rounds; ++round) {
      const Expected<double> cpi_s = stream(**backend, slots, count);
      if (!cpi_s) return unexpected(cpi_s.error());
      seconds.push_back(*cpi_s);
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    StreamRate rate;
    rate.cpi_s = seconds[seconds.size() / 2];
    rate.bytes_per_s = static_cast<double>(samples.bytes()) / rate.cpi_s;
    rate.strategy = (*backend)->info().strategy;
    return rate;
  });
}

Expected<StreamRate> bench_filled_live(const BenchSamples& samples, LiveFilling filling,
                                       const std::string& backend_name, const BackendOptions& options,
                                       const BenchEffort& effort) {
  StreamRate rate;
  double fill_s = 0.0;
  double chain_s = 0.0;  // roughly, so that the number of CPIs suits the slower of the two
  const Expected<void> measured = guarded(std::string(samples.workload().name), [&]() -> Expected<void> {
    const Expected<std::unique_ptr<Backend>> backend = make_for(samples, backend_name, options);
    if (!backend) return unexpected(backend.error());
    fill_s = fill_seconds(samples, filling, **backend, effort.round_s);
    FilledSlots slots(**backend, samples, (*backend)->max_in_flight());
    const Expected<double> cpi_s = stream(**backend, slots, 2 * (*backend)->max_in_flight());
    if (!cpi_s) return unexpected(cpi_s.error());
    chain_s = *cpi_s;
    return {};
  });
  if (!measured) return unexpected(measured.error());
  rate.fill_bytes_per_s = static_cast<double>(samples.bytes()) / fill_s;
  const double whole_s = effort.round_s * static_cast<double>(effort.rounds);
  const std::size_t cpi_count =
      std::clamp<std::size_t>(static_cast<std::size_t>(whole_s / std::max(fill_s, chain_s)), 8, 20000);

  std::unique_ptr<CaptureSource> source = make_simulator_source(
      bench_scene(samples.workload()), "sim://" + std::string(samples.workload().name), {false, cpi_count});
  if (filling == LiveFilling::copy) source = std::make_unique<CopySource>(samples, source->info());
  StreamConfiguration configuration{.chain = bench_chain(samples.workload()),
                                    .chain_toml = {},
                                    .products = wanted(true).products,
                                    .make_backend = chain_backend_factory(backend_name, options)};
  Session session(std::move(source), std::move(configuration), {});
  const SessionReport report = session.run();
  if (report.error) return unexpected(*report.error);
  if (report.first_cpi_error) return unexpected(*report.first_cpi_error);
  // The statistics' time begins when the first CPI is whole, so it holds one filling less than there are CPIs.
  rate.cpi_s = report.statistics.elapsed_s / static_cast<double>(report.statistics.processed - 1);
  rate.bytes_per_s = static_cast<double>(samples.bytes()) / rate.cpi_s;
  rate.strategy = report.backend.strategy;
  return rate;
}

Expected<std::vector<StageTime>> bench_stages(const BenchSamples& samples, const std::string& backend_name,
                                              const BackendOptions& options) {
  return guarded(std::string(samples.workload().name), [&]() -> Expected<std::vector<StageTime>> {
    BackendOptions measured = options;
    measured.measure_stages = true;
    const Expected<std::unique_ptr<Backend>> backend = make_for(samples, backend_name, measured);
    if (!backend) return unexpected(backend.error());
    FilledSlots slots(**backend, samples, 4);
    const auto run = [&](std::size_t count) -> Expected<void> {
      for (std::size_t i = 0; i < count; ++i) {
        const Expected<ResultLease> result = (*backend)->wait((*backend)->enqueue(slots.lease(), wanted(true)));
        if (!result) return unexpected(result.error());
      }
      return {};
    };
    const auto start = Clock::now();
    if (const Expected<void> warmed = run(2); !warmed) return unexpected(warmed.error());
    const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(0.4 / seconds_since(start)), 2, 20);
    const std::vector<StageTime> before = (*backend)->stage_times();
    if (const Expected<void> done = run(count); !done) return unexpected(done.error());
    std::vector<StageTime> times = (*backend)->stage_times();
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i].seconds = (times[i].seconds - before[i].seconds) / static_cast<double>(count);
    return times;
  });
}

Expected<LatencyFigures> bench_latency(const BenchSamples& samples, const std::string& backend_name,
                                       const BackendOptions& options) {
  return guarded(std::string(samples.workload().name), [&]() -> Expected<LatencyFigures> {
    const Expected<std::unique_ptr<Backend>> backend = make_for(samples, backend_name, options);
    if (!backend) return unexpected(backend.error());
    FilledSlots slots(**backend, samples, 4);
    constexpr std::size_t kWarmUp = 300;
    constexpr std::size_t kMost = 2000;
    constexpr double kLongest_s = 2.0;
    std::vector<double> seconds;
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < kMost && (i < 10 || seconds_since(begin) < kLongest_s); ++i) {
      const auto start = Clock::now();
      const Expected<ResultLease> result = (*backend)->wait((*backend)->enqueue(slots.lease(), wanted(false)));
      if (!result) return unexpected(result.error());
      seconds.push_back(seconds_since(start));
    }
    if (seconds.size() > 2 * kWarmUp) seconds.erase(seconds.begin(), seconds.begin() + kWarmUp);
    std::sort(seconds.begin(), seconds.end());
    return LatencyFigures{seconds[seconds.size() / 2], seconds[seconds.size() * 99 / 100]};
  });
}

}  // namespace cornerturn
