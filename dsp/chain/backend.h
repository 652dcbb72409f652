#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsp/chain/chain_plan.h"
#include "dsp/chain/lease.h"
#include "dsp/config/chain_config.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Stands for one CPI given to a backend; waited for exactly once.
struct Ticket {
  std::uint64_t id = 0;
};

/// What a caller wants of one CPI.
struct CpiRequest {
  ProductSet products;
  LightParameters light;
};

/// For people, files and the log.
struct BackendInfo {
  std::string name;      ///< "cpu", "cuda"
  std::string device;    ///< "AMD EPYC, 2 threads"
  std::string strategy;  ///< memory strategy, "host" on the CPU
};

/// Time spent in one stage since the backend was made.
struct StageTime {
  std::string stage;
  double seconds = 0.0;
};

/// Runs the chain of one ChainPlan. CPU and CUDA implement it; the CPU is the oracle.
///
/// Constructors allocate, plan and make tables; enqueue and wait allocate nothing. Backends keep no state across CPIs:
/// same input, same output. Several CPIs may be in flight, up to max_in_flight(); tickets may be waited for in any
/// order and CPIs may complete in any order.
///
/// The input lease is released as soon as the *input* has been consumed, not when results are done.
/// Results live in a fixed pool; when all are held, enqueue blocks (back-pressure, counted in result_waits()).
///
/// A CPI goes on by itself once it is enqueued; wait() only waits.
///
/// Errors: wait() returns the error of that one CPI (abandoned input, failed launch); the others go on. An exception of
/// enqueue or wait ends the session; its input lease has then ended or ends with the wait of its ticket.
/// Threads: enqueue and wait by one thread (the session's pipeline thread); leases may end in any thread.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual BackendInfo info() const = 0;
  virtual const ChainPlan& plan() const = 0;
  virtual SlotAllocator& input_allocator() = 0;
  virtual std::size_t max_in_flight() const = 0;

  virtual Ticket enqueue(ReadLease&& input, const CpiRequest& request) = 0;
  /// Blocks until that CPI is done.
  virtual Expected<ResultLease> wait(Ticket ticket) = 0;
  /// True when wait(ticket) would not block.
  virtual bool is_done(Ticket ticket) = 0;

  virtual std::vector<StageTime> stage_times() const = 0;
  virtual std::uint64_t result_waits() const = 0;
};

struct CpuBackendOptions {
  std::size_t threads = 0;       ///< 0: one per core
  std::size_t result_slots = 4;  ///< results that sinks and callers may hold at a time, plus those in flight
};

/// The CPU backend. Errors: runtime (memory) only; the plan has been validated.
Expected<std::unique_ptr<Backend>> make_cpu_backend(ChainPlan plan, const CpuBackendOptions& options = {});

}  // namespace cornerturn
