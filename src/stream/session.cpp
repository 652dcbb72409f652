#include "src/stream/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "src/stream/guarded.h"

namespace cornerturn {
namespace {

// How soon stop() is noticed; it may come from a signal handler, which can wake nobody.
constexpr std::chrono::milliseconds kStopPeriod{10};

// Results that the sinks can hold between them, and the one that is being handed over: with as many slots in the pool,
// lossy sinks never hold the backend, however slow they are. Lossless sinks get every result in order, so that what
// they hold together is one run of results, as long as the longest queue; what lossy ones hold may lie anywhere.
std::size_t result_slots_for(const std::vector<SinkSetup>& sinks) {
  std::size_t lossless = 0;
  std::size_t lossy = 0;
  for (const SinkSetup& setup : sinks) {
    const std::size_t held = std::max<std::size_t>(setup.queue_capacity, 1) + 1;  // in the queue and in work
    if (setup.policy == SinkPolicy::lossless) {
      lossless = std::max(lossless, held);
    } else {
      lossy += held;
    }
  }
  return lossless + lossy + 1;
}

}  // namespace

Session::Session(std::unique_ptr<CaptureSource> source, StreamConfiguration configuration, std::vector<SinkSetup> sinks,
                 SessionOptions options)
    : source_(std::move(source)),
      info_(source_->info()),
      first_configuration_(std::move(configuration)),
      options_(std::move(options)),
      result_slots_(result_slots_for(sinks)),
      sink_setups_(std::move(sinks)),
      statistics_(info_.shape.samples(), info_.slot_bytes) {}

Session::~Session() = default;

SessionReport Session::run() {
  const Expected<void> ran = guarded("session", [&]() -> Expected<void> {
    if (Expected<void> started = start(); !started) return started;
    run_threads();
    return {};
  });
  if (!ran) end_with(ran.error());
  finish_sinks();

  std::deque<std::unique_ptr<Pipeline>> pipelines;
  std::optional<Built> pending;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    pipelines.swap(pipelines_);
    pending.swap(pending_);
  }
  pipelines.clear();
  return make_report();
}

Expected<Session::Built> Session::build(const StreamConfiguration& configuration) const {
  return guarded("pipeline", [&]() -> Expected<Built> {
    Expected<std::unique_ptr<Backend>> backend = configuration.make_backend(info_, configuration.chain, result_slots_);
    if (!backend) return unexpected(std::move(backend.error()));

    Built built;
    built.run.program_version = options_.program_version;
    built.run.capture_path = info_.path;
    built.run.capture_format = info_.format;
    built.run.capture_hash = options_.capture_hash;
    built.run.chain_toml = configuration.chain_toml;
    built.run.chain_summary = configuration.chain_summary;
    built.run.backend = (*backend)->info();
    built.run.plan = std::make_shared<const ChainPlan>((*backend)->plan());
    built.run.cpi_period_s = info_.cpi_period_s;

    Pipeline::Setup setup;
    setup.backend = std::move(*backend);
    setup.products = configuration.products;
    setup.light = light_parameters(configuration.chain);
    setup.slot_count = options_.ring_slots;
    setup.slot_bytes = info_.slot_bytes;
    built.pipeline = std::make_unique<Pipeline>(std::move(setup), statistics_);
    return built;
  });
}

Expected<void> Session::start() {
  if (options_.first_cpi != 0) {
    if (Expected<void> sought = source_->seek(options_.first_cpi); !sought) return sought;
  }
  Expected<Built> built = build(first_configuration_);
  if (!built) return unexpected(std::move(built.error()));

  std::vector<SinkRunner*> runners;
  {
    const std::lock_guard lock(mutex_);
    built->pipeline->begin_version(std::move(built->run), ++last_version_);
    pipelines_.push_back(std::move(built->pipeline));
    for (SinkSetup& setup : sink_setups_) {
      const SinkPolicy policy = setup.policy;
      runners_.push_back(
          std::make_unique<SinkRunner>(std::move(setup), pipelines_.front()->run(),
                                       [this, policy](const Error& error) { on_sink_error(error, policy); }));
      runners.push_back(runners_.back().get());
    }
  }
  // A sink that cannot begin (directory not writable) is known before the first sample is read: on_sink_error has then
  // stopped the streams, and the threads end at once.
  for (SinkRunner* runner : runners) runner->wait_until_begun();
  return {};
}

void Session::run_threads() {
  std::jthread source;
  std::jthread pipeline;
  try {
    source = std::jthread([this] { source_loop(); });
    pipeline = std::jthread([this] { pipeline_loop(); });
    supervise();
  } catch (...) {
    stop_streams();
    throw;
  }
}

// Between the threads and the caller: passes on stop() and reports progress.
void Session::supervise() {
  std::uint64_t total = options_.cpi_count;
  if (info_.cpi_count > options_.first_cpi) {
    const std::uint64_t available = info_.cpi_count - options_.first_cpi;
    total = total == 0 ? available : std::min(total, available);
  }
  const auto report_progress = [&] {
    if (!options_.progress) return;
    const StatisticsSnapshot now = statistics_.snapshot();
    options_.progress(now.processed + now.dropped.total(), total);
  };

  auto next_report = StreamClock::now() + options_.progress_period;
  for (bool done = false; !done;) {
    if (stop_requested_.load(std::memory_order_relaxed)) stop_streams();
    {
      std::unique_lock lock(mutex_);
      done = changed_.wait_for(lock, kStopPeriod, [&] { return pipeline_done_; });
    }
    if (StreamClock::now() >= next_report && !done) {
      report_progress();
      next_report = StreamClock::now() + options_.progress_period;
    }
  }
  report_progress();
}

void Session::finish_sinks() {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    complete = !error_ && !was_interrupted();
  }
  for (const auto& runner : runners_) runner->finish(complete);
}

bool Session::was_interrupted() const {
  if (!stop_requested_.load(std::memory_order_relaxed)) return false;
  return !source_complete_ || statistics_.snapshot().dropped[DropCause::stopped] > 0;
}

SessionReport Session::make_report() const {
  SessionReport report;
  report.statistics = statistics();
  const std::lock_guard lock(mutex_);
  report.error = error_;
  report.first_cpi_error = first_cpi_error_;
  report.sink_errors = sink_errors_;
  report.interrupted = was_interrupted();
  report.backend = backend_info_;
  report.stage_times = stage_times_;
  return report;
}

Expected<void> Session::reconfigure(const StreamConfiguration& configuration) {
  Expected<Built> built = build(configuration);
  if (!built) return unexpected(std::move(built.error()));
  std::optional<Built> replaced(std::move(*built));
  const std::lock_guard lock(mutex_);
  if (ended_) return runtime_error("session", "the run has ended", "start a new one with the new configuration");
  pending_.swap(replaced);
  return {};
}

void Session::set_light(const LightParameters& light) {
  const std::lock_guard lock(mutex_);
  for (const auto& pipeline : pipelines_) pipeline->set_light(light);
  if (pending_) pending_->pipeline->set_light(light);
}

StatisticsSnapshot Session::statistics() const {
  StatisticsSnapshot snapshot = statistics_.snapshot();
  const std::lock_guard lock(mutex_);
  for (const auto& runner : runners_) snapshot.sinks.push_back(runner->statistics());
  return snapshot;
}

void Session::end_with(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  stop_streams();
}

void Session::on_sink_error(const Error& error, SinkPolicy policy) {
  if (policy == SinkPolicy::lossless) return end_with(error);
  const std::lock_guard lock(mutex_);
  sink_errors_.push_back(error);
}

void Session::stop_streams() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& pipeline : pipelines_) pipeline->ring().stop();  // before the source: its CPI counts as stopped
  }
  source_->request_stop();
}

}  // namespace cornerturn
