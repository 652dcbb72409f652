#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"
#include "src/capture/capture_source.h"
#include "src/result/result_sink.h"
#include "src/stream/backend_choice.h"
#include "src/stream/pipeline.h"
#include "src/stream/sink_runner.h"
#include "src/stream/stream_statistics.h"

namespace cornerturn {

/// Everything that makes a new pipeline when it changes.
struct StreamConfiguration {
  ChainConfig chain;
  std::string chain_toml;  ///< for the provenance of results
  ProductSet products;
  BackendFactory make_backend;
  std::string chain_summary{};  ///< the chain in one line, for titles; may be empty
};

struct SessionOptions {
  std::size_t first_cpi = 0;   ///< the source is told to seek when not 0
  std::size_t cpi_count = 0;   ///< 0: to the end
  std::size_t ring_slots = 0;  ///< 0: as many as may be in flight and two more; a recorder that holds slots needs more
  std::string program_version;
  std::string capture_hash;

  /// Called by run()'s thread from time to time and once at the end; total is 0 when it is not known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::chrono::milliseconds progress_period{100};
  /// Each raw CPI before it is processed, on the pipeline's thread; share() the lease to keep it (a recorder).
  std::function<void(const ReadLease&)> raw_tap;
};

/// How a run ended.
struct SessionReport {
  StatisticsSnapshot statistics;
  std::optional<Error> error;            ///< what ended the run before its time
  std::optional<Error> first_cpi_error;  ///< CPIs failed (statistics.dropped), the others went on
  std::vector<Error> sink_errors;        ///< of lossy sinks, which do not end the run
  bool interrupted = false;              ///< stop() came before the end; results are valid up to the last whole CPI
  BackendInfo backend;                   ///< of the last configuration version
  std::vector<StageTime> stage_times;    ///< of all versions

  bool complete() const { return !error && !interrupted; }
};

/// Runs a capture through a chain into sinks: owns source, pipelines, sinks and every thread, and joins the threads
/// before anything that they use dies. The one place where exceptions become errors.
///
/// Threads of a run: source (fills the ring), pipeline (feeds the backend, retires results in order) and one per sink.
/// run() by one thread, once; stop, reconfigure, set_light and statistics by any.
class Session {
 public:
  Session(std::unique_ptr<CaptureSource> source, StreamConfiguration configuration, std::vector<SinkSetup> sinks,
          SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs to the end of the source, to the first error or to stop().
  SessionReport run();

  /// Ends the run soon: CPIs in flight are finished, those still waiting are dropped and counted as stopped.
  /// Only sets a flag, so that a signal handler may call it.
  void stop() noexcept { stop_requested_.store(true, std::memory_order_relaxed); }

  /// Builds the pipeline of another configuration beside the running one, in the calling thread; the source changes
  /// over at the next CPI boundary (and not before an earlier version is drained), so that no CPI is lost. One that is
  /// still waiting for its turn is replaced. Errors: those of the backend factory; the run goes on as it was.
  Expected<void> reconfigure(const StreamConfiguration& configuration);
  /// Holds for every CPI that is enqueued from now on, until a reconfiguration brings its own.
  void set_light(const LightParameters& light);

  StatisticsSnapshot statistics() const;

 private:
  struct Built {
    std::unique_ptr<Pipeline> pipeline;
    RunDescription run;
  };

  Expected<Built> build(const StreamConfiguration& configuration) const;
  Expected<void> start();
  void run_threads();
  void supervise();
  void finish_sinks();
  SessionReport make_report() const;
  bool was_interrupted() const;

  // source's thread
  void source_loop();
  Expected<bool> fill_ring();
  Pipeline* pipeline_for_next_cpi();

  // pipeline's thread
  void pipeline_loop();
  Pipeline* next_to_drain();
  void deliver(const Pipeline& pipeline, const ResultLease& result);
  void release_drained();
  void collect(const Pipeline& pipeline);

  // any thread
  void end_with(const Error& error);
  void on_sink_error(const Error& error, SinkPolicy policy);
  void stop_streams();

  const std::unique_ptr<CaptureSource> source_;
  const CaptureInfo info_;  // a copy: the source's own belongs to the source's thread
  const StreamConfiguration first_configuration_;
  const SessionOptions options_;
  const std::size_t result_slots_;  // of each backend
  std::vector<SinkSetup> sink_setups_;
  mutable StreamStatistics statistics_;
  std::atomic<bool> stop_requested_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Oldest first: drained ones whose results or slots are still held, the one being drained, the one being filled.
  std::deque<std::unique_ptr<Pipeline>> pipelines_;
  std::size_t drained_count_ = 0;
  std::optional<Built> pending_;
  std::uint32_t last_version_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  bool source_complete_ = false;
  bool pipeline_done_ = false;
  std::optional<Error> error_;
  std::optional<Error> first_cpi_error_;
  std::vector<Error> sink_errors_;
  BackendInfo backend_info_;
  std::vector<StageTime> stage_times_;

  std::vector<std::unique_ptr<SinkRunner>> runners_;  // last: their threads end before the pipelines die
};

}  // namespace cornerturn
