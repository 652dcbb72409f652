#pragma once

#include <memory>
#include <string>

#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/raw_cpi.h"
#include "src/capture/capture_source.h"

namespace cornerturn {

/// Writes capture v1 (docs/capture-format.md): a self-describing HDF5 file in which each CPI is one unfiltered block,
/// so that it is read back by file offset. The file has the name PATH.part until finish(): a name without .part is
/// whole. Life: create, append for each CPI in order, finish. A writer that is destroyed unfinished removes its file.
/// Threads: one at a time.
class CaptureV1Writer {
 public:
  /// Errors: runtime: the folder does not exist or is not writable.
  static Expected<CaptureV1Writer> create(const std::string& path, const CaptureInfo& info);
  ~CaptureV1Writer();
  CaptureV1Writer(CaptureV1Writer&&) noexcept;
  CaptureV1Writer& operator=(CaptureV1Writer&&) noexcept;

  /// Samples are stored as (pulse, channel, sample) with their values and byte order untouched, whatever the layout of
  /// info() in the segments. Errors: runtime: disk full.
  Expected<void> append(const RawCpi& cpi);
  /// Writes times and gaps, closes, brings the file to the disk and gives it its name. Errors: runtime.
  Expected<void> finish();

  std::size_t cpi_count() const;

 private:
  struct State;
  explicit CaptureV1Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cornerturn
