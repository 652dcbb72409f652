#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "src/batch/cpi_range.h"
#include "src/batch/detection_digest.h"
#include "src/batch/score.h"
#include "src/capture/capture_source.h"
#include "src/capture/open_capture.h"
#include "src/config/chain_toml.h"
#include "src/stream/session.h"

namespace cornerturn {

/// What to do with a capture; the same for all captures of a batch.
struct JobOptions {
  CaptureOptions capture;              ///< sidecar, order of I and Q, pulses per CPI
  std::string chain_path;              ///< empty: the default for the kind of capture
  std::vector<std::string> overrides;  ///< "cfar.pfa=1e-4"
  std::vector<std::string> products;   ///< beside map and detections: words of product_names()
  CpiRange cpis;
  std::string backend = "auto";
  BackendOptions backend_options;
  bool score = false;  ///< compare with the capture's truth
  bool hash = true;    ///< fingerprint of the capture into the results
  std::string program_version;
};

/// A capture opened and planned. Nothing has been written, no memory for samples taken.
struct Job {
  std::unique_ptr<CaptureSource> source;
  CaptureInfo info;
  ChainSettings chain;
  ProductSet products;
  ChainPlan plan;
  CpiRange cpis;  ///< clipped to the capture
};

/// How a job ended. `session.error` tells of failures; files that were begun are listed all the same.
struct JobReport {
  CaptureInfo info;
  std::vector<std::string> notes;  ///< of the plan
  std::string chain_summary;
  std::string capture_hash;
  SessionReport session;
  std::string backend_note;  ///< why this backend, where "auto" had to settle for it
  DetectionDigest digest;
  std::optional<ScoreReport> score;
  std::vector<std::string> files;
};

/// Words of --product: "covariance", "range_profiles", "doppler_cube".
std::vector<std::string> product_names();

/// The chain that is used for a capture without a chain file: what its reader suggests, with correlation matrices where
/// there are several channels.
ChainConfig default_chain(const CaptureInfo& info);

/// Opens a capture file or a simulator ("sim://SCENE.toml"). Errors: input, usage.
Expected<std::unique_ptr<CaptureSource>> open_source(const std::string& path, const CaptureOptions& options);

/// Opens the capture, reads and checks the chain, derives the plan. Errors: input, usage.
Expected<Job> open_job(const std::string& path, const JobOptions& options);

/// Runs the job into the sinks (and into the digest and the score).
/// `stop` set at any time ends the run cleanly. `progress` is called by the calling thread.
/// Errors: only of what comes before the run (hash); of the run itself in the report.
Expected<JobReport> run_job(Job job, const JobOptions& options, std::vector<SinkSetup> sinks,
                            const std::atomic<bool>& stop,
                            const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);

}  // namespace cornerturn
