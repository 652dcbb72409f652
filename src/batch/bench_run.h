#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dsp/chain/device_probe.h"
#include "src/batch/stream_bench.h"

namespace cornerturn {

struct BenchOptions {
  std::vector<std::string> parts;      ///< words of bench_parts(); empty: all
  std::vector<std::string> workloads;  ///< "W1" ...; empty: all that suit the backend
  std::string backend = "auto";
  unsigned device = 0;
  bool quick = false;  ///< fewer and shorter rounds
};

/// "link", "access", "strategies", "live", "stages", "latency".
std::vector<std::string> bench_parts();

/// One size of buffer on the link.
struct LinkRow {
  std::size_t bytes = 0;
  std::size_t results_bytes = 0;
  LinkRates rates;
};

/// One rate of the chain beside the limit that was measured in the same run.
struct StreamRow {
  std::string workload;
  std::string memory;   ///< strategy, "host" on the CPU
  std::string filling;  ///< "before", "copy", "simulator"
  StreamRate rate;
  double limit_bytes_per_s = 0.0;
  std::string limit;                ///< what that is
  double copy_bytes_per_s = 0.0;    ///< the copy engine beside results; 0: no device
  double beside_bytes_per_s = 0.0;  ///< reads in place beside results; 0: not read in place
};

struct StageRow {
  std::string workload;
  std::string memory;
  std::vector<StageTime> stages;  ///< seconds per CPI
};

struct LatencyRow {
  std::string workload;
  std::string memory;
  LatencyFigures latency;
};

struct BenchReport {
  std::string backend;
  std::string device;
  std::vector<LinkRow> link;
  std::vector<LinkRow> results_back;  ///< one size, more and more results going back
  std::vector<AccessRate> access;
  std::vector<StreamRow> streams;
  std::vector<StageRow> stages;
  std::vector<LatencyRow> latencies;
  std::vector<std::string> notes;  ///< what was left out or failed, and why
};

/// Measures what the options name. `tell` gets a line before each part. Parts that fail become notes.
/// Errors: usage for unknown words or an unavailable backend.
Expected<BenchReport> run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& tell);

}  // namespace cornerturn
