#include "src/batch/bench_run.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dsp/chain/product_catalogue.h"
#include "src/batch/host_memory.h"
#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

constexpr std::array<std::string_view, 6> kParts = {"link", "access", "strategies", "live", "stages", "latency"};
constexpr std::size_t kMebi = std::size_t{1} << 20;

template <typename Words> bool holds(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool reads_in_place(std::string_view memory) { return memory.starts_with("zero-copy") || memory == "hybrid"; }

class Bench {
 public:
  Bench(const BenchOptions& options, const BackendModule* module, const std::function<void(const std::string&)>& tell)
      : options_(options), module_(module), tell_(tell) {
    if (options.quick) effort_ = {3, 0.05};
  }

  BenchReport run() {
    if (module_ != nullptr && wants("link")) measure_link_sizes();
    if (module_ != nullptr && wants("access")) measure_access();
    for (const BenchWorkload& workload : bench_workloads()) {
      if (!options_.workloads.empty() && !holds(options_.workloads, workload.name)) continue;
      if (module_ == nullptr && options_.workloads.empty() && workload.name == "W4") continue;  // takes minutes
      measure_workload(workload);
    }
    return std::move(report_);
  }

  BenchReport& report() { return report_; }

 private:
  bool wants(std::string_view part) const { return options_.parts.empty() || holds(options_.parts, part); }
  void tell(const std::string& line) const {
    if (tell_) tell_(line);
  }
  void note(const std::string& what, const Error& error) {
    report_.notes.push_back(fmt::format("{}: {}", what, error.message()));
  }

  void measure_link_sizes() {
    for (const std::size_t bytes : {kMebi / 16, kMebi, 16 * kMebi, 256 * kMebi}) {
      tell(fmt::format("link, buffers of {} KiB", bytes >> 10));
      const Expected<LinkRates> rates = module_->measure_link({options_.device, bytes, 0});
      if (!rates) return note("link", rates.error());
      report_.link.push_back({bytes, 0, *rates});
    }
    constexpr std::size_t kBytes = 32 * kMebi;
    for (const std::size_t part : {8U, 4U, 2U, 1U}) {
      tell(fmt::format("link, results of 1/{} going back", part));
      const Expected<LinkRates> rates = module_->measure_link({options_.device, kBytes, kBytes / part});
      if (!rates) return note("link beside results", rates.error());
      report_.results_back.push_back({kBytes, kBytes / part, *rates});
    }
  }

  void measure_access() {
    tell("access patterns of reads in place");
    const std::size_t largest = options_.quick ? 64 * kMebi : 1024 * kMebi;
    const std::size_t available = host_memory().available_bytes;
    const Expected<std::vector<AccessRate>> rates =
        module_->measure_access(options_.device, std::min(largest, std::max(available / 4, 16 * kMebi)));
    if (!rates) return note("access patterns", rates.error());
    report_.access = *rates;
  }

  void measure_workload(const BenchWorkload& workload) {
    if (!wants("strategies") && !wants("live") && !wants("stages") && !wants("latency")) return;
    tell(fmt::format("{}: {} x {} x {}, {}", workload.name, workload.shape.channel_count, workload.shape.pulse_count,
                     workload.shape.sample_count, workload.kind));
    const BenchSamples samples(workload);
    LinkRates link;
    if (module_ != nullptr) {
      const Expected<ChainPlan> plan = bench_plan(workload);
      if (!plan) return note(std::string(workload.name), plan.error());
      const Expected<LinkRates> rates =
          module_->measure_link({options_.device, samples.bytes(), product_bytes(*plan, ProductKind::covariance)});
      if (!rates) return note(fmt::format("{}, link", workload.name), rates.error());
      link = *rates;
    }
    const double memory_rate = module_ == nullptr ? bench_memory_copy(samples) : 0.0;
    for (const std::string& memory : memories()) {
      if (wants("strategies")) measure_filled_before(samples, memory, link, memory_rate);
      if (wants("live") && (module_ == nullptr || holds(kLiveMemories, memory))) measure_live(samples, memory);
      if (wants("stages") && (module_ == nullptr || memory == "overlapped" || memory == "hybrid"))
        measure_stages(samples, memory);
      if (wants("latency") && workload.name == "W3" && (module_ == nullptr || holds(kLiveMemories, memory)))
        measure_latency(samples, memory);
    }
  }

  static constexpr std::array<std::string_view, 4> kLiveMemories = {"overlapped", "zero-copy", "zero-copy-wc",
                                                                    "hybrid"};

  std::vector<std::string> memories() const {
    if (module_ == nullptr) return {"host"};
    std::vector<std::string> names;
    for (const std::string_view name : memory_names())
      if (name != "auto") names.emplace_back(name);
    return names;
  }

  std::string backend() const { return module_ == nullptr ? "cpu" : "cuda"; }
  BackendOptions backend_options(const std::string& memory) const {
    BackendOptions options;
    if (module_ == nullptr) return options;
    options.memory = memory;
    options.devices = {options_.device};
    return options;
  }

  void measure_filled_before(const BenchSamples& samples, const std::string& memory, const LinkRates& link,
                             double memory_rate) {
    const std::string name(samples.workload().name);
    tell(fmt::format("  {} {}", name, memory));
    Expected<StreamRate> rate = bench_filled_before(samples, backend(), backend_options(memory), effort_);
    if (!rate) return note(fmt::format("{} {}", name, memory), rate.error());
    StreamRow row{name, memory, "before", std::move(*rate), 0.0, {}, 0.0, 0.0};
    row.copy_bytes_per_s = link.copy_in_beside > 0.0 ? link.copy_in_beside : link.copy_in;
    if (module_ == nullptr) {
      row.limit_bytes_per_s = memory_rate;
      row.limit = "copy in memory, one thread";
    } else if (memory == "pageable") {
      row.limit_bytes_per_s = link.pageable_in;
      row.limit = "pageable copy";
    } else if (reads_in_place(memory)) {
      row.limit_bytes_per_s = link.read_in_place;
      row.limit = "read in place";
      row.beside_bytes_per_s = link.read_in_place_beside;
    } else {
      row.limit_bytes_per_s = row.copy_bytes_per_s;
      row.limit = "copy engine beside results";
    }
    report_.streams.push_back(std::move(row));
  }

  /// The limit is whichever is slower: who fills, or the same strategy with slots filled before.
  void measure_live(const BenchSamples& samples, const std::string& memory) {
    const std::string name(samples.workload().name);
    double chain_rate = 0.0;
    double copy_rate = 0.0;
    for (const StreamRow& row : report_.streams)
      if (row.workload == name && row.memory == memory && row.filling == "before") {
        chain_rate = row.rate.bytes_per_s;
        copy_rate = row.copy_bytes_per_s;
      }
    for (const LiveFilling filling : {LiveFilling::copy, LiveFilling::simulator}) {
      // The simulator is far slower than any strategy: one of them tells as much as all.
      if (filling == LiveFilling::simulator && module_ != nullptr && memory != "hybrid") continue;
      const std::string word = filling == LiveFilling::copy ? "copy" : "simulator";
      tell(fmt::format("  {} {}, filled live ({})", name, memory, word));
      Expected<StreamRate> rate = bench_filled_live(samples, filling, backend(), backend_options(memory), effort_);
      if (!rate) {
        note(fmt::format("{} {}, filled live", name, memory), rate.error());
        continue;
      }
      StreamRow row{name, memory, word, std::move(*rate), 0.0, {}, copy_rate, 0.0};
      const bool filling_is_slower = chain_rate == 0.0 || row.rate.fill_bytes_per_s < chain_rate;
      row.limit_bytes_per_s = filling_is_slower ? row.rate.fill_bytes_per_s : chain_rate;
      row.limit = filling_is_slower ? "filling alone" : "slots filled before";
      report_.streams.push_back(std::move(row));
    }
  }

  void measure_stages(const BenchSamples& samples, const std::string& memory) {
    const std::string name(samples.workload().name);
    Expected<std::vector<StageTime>> stages = bench_stages(samples, backend(), backend_options(memory));
    if (!stages) return note(fmt::format("{} {}, stages", name, memory), stages.error());
    report_.stages.push_back({name, memory, std::move(*stages)});
  }

  void measure_latency(const BenchSamples& samples, const std::string& memory) {
    const std::string name(samples.workload().name);
    const Expected<LatencyFigures> latency = bench_latency(samples, backend(), backend_options(memory));
    if (!latency) return note(fmt::format("{} {}, latency", name, memory), latency.error());
    report_.latencies.push_back({name, memory, *latency});
  }

  const BenchOptions& options_;
  const BackendModule* module_;  // null: the CPU
  const std::function<void(const std::string&)>& tell_;
  BenchEffort effort_;
  BenchReport report_;
};

Expected<void> check_words(const BenchOptions& options) {
  for (const std::string& part : options.parts)
    if (!holds(kParts, part))
      return usage_error("--parts", fmt::format("'{}' is no part of the benchmark", part),
                         fmt::format("use some of: {}", fmt::join(kParts, ", ")));
  for (const std::string& name : options.workloads) {
    const auto workloads = bench_workloads();
    if (std::none_of(workloads.begin(), workloads.end(), [&](const auto& known) { return known.name == name; }))
      return usage_error("--workloads", fmt::format("'{}' is no workload", name), "use some of: W1, W2, W3, W4");
  }
  if (!holds(backend_names(), options.backend))
    return usage_error("--backend", fmt::format("'{}' is not a backend", options.backend), "use auto, cpu or cuda");
  return {};
}

}  // namespace

std::vector<std::string> bench_parts() { return {kParts.begin(), kParts.end()}; }

Expected<BenchReport> run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& tell) {
  if (const Expected<void> known = check_words(options); !known) return unexpected(known.error());
  const std::vector<BackendAvailability> backends = available_backends();
  const BackendAvailability& cuda = backends.back();
  if (options.backend == "cuda" && !cuda.available)
    return usage_error("--backend cuda", cuda.reason, "use --backend cpu, or auto");
  const bool use_cuda = options.backend != "cpu" && cuda.available;
  const BackendModule* module = nullptr;
  std::string device = backends.front().devices.front();
  if (use_cuda) {
    const auto known = std::find_if(cuda.descriptions.begin(), cuda.descriptions.end(),
                                    [&](const DeviceDescription& entry) { return entry.index == options.device; });
    if (known == cuda.descriptions.end())
      return usage_error("--device", fmt::format("there is no GPU {}", options.device),
                         "cornerturn devices lists them");
    device = known->summary;
    module = *cuda_module();
  }
  Bench bench(options, module, tell);
  bench.report().backend = use_cuda ? "cuda" : "cpu";
  bench.report().device = device;
  if (!use_cuda && options.backend == "auto")
    bench.report().notes.push_back("no link, access patterns and memory strategies, because there is no GPU: " +
                                   cuda.reason);
  if (!use_cuda && options.workloads.empty())
    bench.report().notes.emplace_back(
        "W4 is left out on the processor, where it takes minutes; --workloads W4 runs it");
  return bench.run();
}

}  // namespace cornerturn
