#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsp/chain/lease.h"
#include "dsp/config/chain_config.h"
#include "dsp/simulate/scene.h"
#include "dsp/vocabulary/error.h"
#include "dsp/vocabulary/radar_description.h"
#include "dsp/vocabulary/raw_layout.h"

namespace cornerturn {

class WriteLease;  // dsp/chain/write_lease.h

/// Something in a capture that may be wrong, with the evidence and what to do about it.
struct Doubt {
  std::string what;
  std::string evidence;
  std::string remedy;
};

/// How a capture was understood.
struct CaptureInfo {
  std::string path;
  std::string format;                   ///< "capture v1", "TI 2-lane .bin", "Acconeer A121" ...
  std::vector<std::string> understood;  ///< lines for `info`: which axis is what, where parameters came from
  std::vector<Doubt> doubts;

  RadarDescription radar;
  RawLayout layout;  ///< of each CPI in its slot
  CpiShape shape;
  std::size_t slot_bytes = 0;  ///< bytes of one CPI in its slot
  std::size_t cpi_count = 0;   ///< 0: live, not known
  double cpi_period_s = 0.0;   ///< from the start of one CPI to the next
  bool live = false;           ///< cannot be told to wait: the ring drops the oldest

  /// A sensible chain for this kind of capture, where the general default would not do.
  ChainConfig suggested_chain;
  std::optional<std::vector<SceneTarget>> truth;  ///< of simulated captures; a scene of noise has no targets
};

/// Delivers CPIs one after the other. Files, shared memory, network and the simulator are sources alike.
/// Threads: fill by one thread; request_stop from any.
class CaptureSource {
 public:
  enum class Fill { filled, end };

  virtual ~CaptureSource() = default;
  virtual const CaptureInfo& info() const = 0;

  /// Fills the slot's memory and header with the next CPI and publishes its segments (WriteLease::publish_segment; the
  /// caller commits). Filled without all segments published: the CPI could not be completed and is dropped (abandoned).
  /// End: nothing was written. Errors: input, with file and byte position.
  virtual Expected<Fill> fill(WriteLease& slot) = 0;
  /// Makes the next fill deliver CPI `cpi_index`. Errors: usage when it does not exist or the source is live.
  virtual Expected<void> seek(std::size_t cpi_index) = 0;
  /// From now on every fill that waits (for a live source, a slow link) returns soon. Called from any thread.
  virtual void request_stop() {}
};

}  // namespace cornerturn
