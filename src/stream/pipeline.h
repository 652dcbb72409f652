#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dsp/chain/backend.h"
#include "src/result/result_sink.h"
#include "src/stream/cpi_ring.h"
#include "src/stream/stream_statistics.h"

namespace cornerturn {

/// Backend and ring of one configuration version: takes CPIs from the ring, keeps several in flight and retires their
/// results in the order in which the CPIs came in, whatever the order in which they are completed.
/// Threads: drain and fail_in_flight by one thread; ring() and set_light by any.
class Pipeline {
 public:
  struct Setup {
    std::unique_ptr<Backend> backend;
    ProductSet products;
    LightParameters light;
    std::size_t slot_count = 0;  ///< 0: as many as may be in flight and two more, one being written, one ready
    std::size_t slot_bytes = 0;
  };
  struct Callbacks {
    /// A raw CPI before it is enqueued; share() the lease to keep it. May be empty.
    std::function<void(const ReadLease&)> raw;
    std::function<void(ResultLease)> result;
    /// One CPI failed; the others go on.
    std::function<void(const Error&)> cpi_error;
  };

  /// Throws std::bad_alloc.
  Pipeline(Setup setup, StreamStatistics& statistics);

  /// Gives the pipeline its version, before its first CPI; run() is complete from then on.
  void begin_version(RunDescription run, std::uint32_t version);
  const std::shared_ptr<const RunDescription>& run() const { return run_; }
  std::uint32_t version() const { return version_; }

  CpiRing& ring() { return ring_; }
  const Backend& backend() const { return *backend_; }
  /// From the next CPI that is enqueued.
  void set_light(const LightParameters& light);

  /// Works until the ring has ended and the last result is retired. Passes on what the backend throws.
  void drain(const Callbacks& callbacks);
  /// After an exception of drain, and after the ring and its writer were stopped: gives up what is in flight.
  void fail_in_flight() noexcept;

 private:
  struct InFlight {
    Ticket ticket;
    std::uint64_t sequence = 0;
    StreamClock::time_point published;
    bool enqueued = false;
  };

  void start(CpiRing::Claim claim, const Callbacks& callbacks);
  void retire_oldest(const Callbacks& callbacks);
  void update_gauges();

  std::unique_ptr<Backend> backend_;  // before the ring, whose slots it allocated
  StreamStatistics& statistics_;
  CpiRing ring_;
  std::shared_ptr<const RunDescription> run_;
  std::uint32_t version_ = 0;
  std::vector<InFlight> in_flight_;  // oldest first

  std::mutex light_mutex_;
  CpiRequest request_;
};

}  // namespace cornerturn
