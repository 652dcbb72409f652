#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "src/result/result_sink.h"
#include "src/result/result_writer_options.h"
#include "src/result/segment_file.h"
#include "src/result/segment_folder.h"

namespace cornerturn {

/// Writes results to one netCDF-4 file (docs/result-format.md). While the run lasts they lie in closed segment files in
/// the folder "<path>.parts", so that a kill costs at most the last segment; finish() joins them, and recover_result()
/// does so after a kill.
/// Errors: runtime (directory not writable, disk full; segments closed before are kept); usage when the folder holds
/// segments of an earlier run.
class Hdf5ResultSink final : public ResultSink {
 public:
  explicit Hdf5ResultSink(const ResultWriterOptions& options) : options_(options) {}

  std::string name() const override { return "results"; }
  Expected<void> begin(const RunDescription& run) override;
  Expected<void> accept(const CpiResult& result) override;
  Expected<void> finish(bool complete) override;

 private:
  Expected<void> open_segment();
  Expected<void> close_segment();
  Expected<void> remember(Expected<void> outcome);

  ResultWriterOptions options_;
  std::optional<SegmentFolder> folder_;
  RunDescription run_;
  std::optional<std::uint32_t> first_version_;
  std::optional<SegmentFile> segment_;
  std::chrono::steady_clock::time_point last_closed_;
  bool failed_ = false;
};

}  // namespace cornerturn
