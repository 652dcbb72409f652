#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dsp/chain/backend_module.h"
#include "src/batch/bench_workloads.h"

namespace cornerturn {

/// Sustained rates of one workload through one backend; wanted are detections and correlation matrices.
struct StreamRate {
  double cpi_s = 0.0;             ///< per CPI
  double bytes_per_s = 0.0;       ///< of raw samples
  double fill_bytes_per_s = 0.0;  ///< of whoever fills the slots, measured alone; 0: they were filled before
  std::string strategy;           ///< as the backend tells it
};

/// Who fills the slots while the chain runs.
enum class LiveFilling {
  copy,       ///< one thread that copies samples made before, as a receiver's or a file's reader does
  simulator,  ///< the echo simulator
};

/// CPIs of a workload made before anything is timed.
class BenchSamples {
 public:
  explicit BenchSamples(const BenchWorkload& workload);
  const BenchWorkload& workload() const { return workload_; }
  const std::vector<std::int16_t>& values() const { return values_; }
  std::size_t bytes() const { return values_.size() * sizeof(std::int16_t); }

 private:
  BenchWorkload workload_;
  std::vector<std::int16_t> values_;
};

/// How long each figure may take; medians of `rounds` rounds of about `round_s` seconds.
struct BenchEffort {
  std::size_t rounds = 5;
  double round_s = 0.12;
};

/// Slots filled before. `backend` is a name as in --backend. Errors: those of making and running the backend.
Expected<StreamRate> bench_filled_before(const BenchSamples& samples, const std::string& backend,
                                         const BackendOptions& options, const BenchEffort& effort);

/// Slots filled live, through ring, pipeline and session. Errors: likewise.
Expected<StreamRate> bench_filled_live(const BenchSamples& samples, LiveFilling filling, const std::string& backend,
                                       const BackendOptions& options, const BenchEffort& effort);

/// Seconds per CPI in each stage, one CPI after the other.
Expected<std::vector<StageTime>> bench_stages(const BenchSamples& samples, const std::string& backend,
                                              const BackendOptions& options);

/// From the last sample written to detections on the host, one CPI at a time.
struct LatencyFigures {
  double p50_s = 0.0;
  double p99_s = 0.0;
};
Expected<LatencyFigures> bench_latency(const BenchSamples& samples, const std::string& backend,
                                       const BackendOptions& options);

/// Bytes per second of one thread that copies a CPI's samples from memory to memory.
double bench_memory_copy(const BenchSamples& samples);

}  // namespace cornerturn
