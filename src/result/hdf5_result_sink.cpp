#include "src/result/hdf5_result_sink.h"

#include <fmt/format.h>

#include "src/result/join_segments.h"
#include "src/result/result_fault.h"

namespace cornerturn {

Expected<void> Hdf5ResultSink::remember(Expected<void> outcome) {
  if (!outcome) failed_ = true;
  return outcome;
}

Expected<void> Hdf5ResultSink::begin(const RunDescription& run) {
  if (!folder_) {
    Expected<SegmentFolder> folder = SegmentFolder::create(options_.hdf5_path);
    if (!folder) return remember(unexpected(folder.error()));
    folder_.emplace(std::move(*folder));
    last_closed_ = std::chrono::steady_clock::now();
  }
  if (Expected<void> closed = close_segment(); !closed) return closed;
  run_ = run;
  if (!first_version_) first_version_ = run.configuration_version;
  return open_segment();
}

Expected<void> Hdf5ResultSink::open_segment() {
  // The first configuration's results lie at the root, where every tool looks; later ones in groups beside them.
  const std::string group =
      run_.configuration_version == *first_version_ ? "/" : fmt::format("version_{}", run_.configuration_version);
  try {
    segment_.emplace(run_, group, options_.deflate_level);
    return {};
  } catch (const h5::Hdf5Error& error) {
    return remember(result_fault(options_.hdf5_path, error));
  }
}

Expected<void> Hdf5ResultSink::close_segment() {
  if (!segment_ || segment_->cpi_count() == 0) return {};
  const std::size_t cpi_count = segment_->cpi_count();
  try {
    const h5::MemoryFile::Image image = segment_->finish();
    segment_.reset();
    Expected<void> added = folder_->add(image.bytes());
    if (!added) {
      Error error = added.error();
      error.remedy = fmt::format("{}; {} CPI(s) are lost, those before are kept: 'cornerturn recover {}' joins them",
                                 error.remedy, cpi_count, options_.hdf5_path);
      return remember(unexpected(std::move(error)));
    }
  } catch (const h5::Hdf5Error& error) {
    segment_.reset();
    return remember(result_fault(options_.hdf5_path, error));
  }
  last_closed_ = std::chrono::steady_clock::now();
  return {};
}

Expected<void> Hdf5ResultSink::accept(const CpiResult& result) {
  if (!segment_ || !segment_->takes(result)) {
    if (Expected<void> closed = close_segment(); !closed) return closed;
    if (Expected<void> opened = open_segment(); !opened) return opened;
  }
  try {
    segment_->append(result);
  } catch (const h5::Hdf5Error& error) {
    return remember(result_fault(options_.hdf5_path, error));
  }
  // Measured from the last closed segment, so that a slow stream (a CPI in ten seconds) is safe CPI by CPI.
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - last_closed_;
  if (segment_->bytes() < options_.segment_bytes && age.count() < options_.segment_s) return {};
  return close_segment();
}

Expected<void> Hdf5ResultSink::finish(bool complete) {
  if (!folder_) return {};
  if (segment_ && segment_->cpi_count() > 0 && !failed_) {
    if (Expected<void> closed = close_segment(); !closed) return closed;
  }
  if (segment_ && folder_->segments().empty() && !failed_) {
    // A run without a single CPI leaves a valid file all the same.
    try {
      if (Expected<void> added = folder_->add(segment_->finish().bytes()); !added) return remember(std::move(added));
    } catch (const h5::Hdf5Error& error) {
      return remember(result_fault(options_.hdf5_path, error));
    }
  }
  segment_.reset();
  const std::vector<std::string> segments = folder_->segments();
  if (segments.empty()) {
    folder_->retire({});
    folder_.reset();
    return {};
  }
  Expected<JoinReport> joined = join_segments(segments, folder_->path(), options_.hdf5_path, complete && !failed_, {});
  if (!joined) {
    Error error = joined.error();
    error.what += fmt::format("; the results are safe in {} segment(s) in {}", segments.size(), folder_->path());
    error.remedy += fmt::format(", then run 'cornerturn recover {}'", options_.hdf5_path);
    folder_.reset();
    return unexpected(std::move(error));
  }
  folder_->retire(joined->joined);
  const std::string kept_in = folder_->path();
  folder_.reset();
  if (!joined->skipped.empty())
    return runtime_error(
        options_.hdf5_path,
        fmt::format("{} segment(s) could not be read back, first {}", joined->skipped.size(), joined->skipped.front()),
        "they are kept in " + kept_in);
  return {};
}

}  // namespace cornerturn
