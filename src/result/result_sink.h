#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/product.h"

namespace cornerturn {

/// Provenance of a run: what every result file says about itself.
struct RunDescription {
  std::string program_version;
  std::string capture_path;
  std::string capture_format;
  std::string capture_hash;   ///< "xxh3-128:<hex>", empty for live sources
  std::string chain_toml;     ///< the effective chain, as printed by --print-chain
  std::string chain_summary;  ///< the chain in one line, for titles; may be empty
  std::uint32_t configuration_version = 1;
  BackendInfo backend;
  std::shared_ptr<const ChainPlan> plan;
  double cpi_period_s = 0.0;
};

/// Takes finished results: files, pictures, tables, a window's mailbox.
/// Life: begin (again for each configuration version), accept for each CPI in order, finish once.
/// Threads: all calls by one thread, the sink's own.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual std::string name() const = 0;
  virtual Expected<void> begin(const RunDescription& run) = 0;
  virtual Expected<void> accept(const CpiResult& result) = 0;
  /// `complete` is false after an interruption or error: what was accepted must be kept and valid all the same.
  virtual Expected<void> finish(bool complete) = 0;
};

}  // namespace cornerturn
