#include "src/batch/job_estimate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "dsp/chain/write_lease.h"
#include "src/batch/host_memory.h"
#include "src/batch/output_files.h"
#include "src/stream/cpi_ring.h"

namespace cornerturn {
namespace {

// As a session sizes them. Ring: one being written and one ready beside those in flight. Results: the writers' queue,
// one that is being written and one that is handed over.
constexpr std::size_t kExtraRingSlots = 2;
constexpr std::size_t kHeldResults = kWriterQueue + 2;

// Median of a few runs of the same CPI, the first (page faults, caches) left out.
Expected<double> measure_cpi_s(CaptureSource& source, Backend& backend, const Job& job) {
  StreamStatistics statistics(job.info.shape.samples(), job.info.slot_bytes);
  CpiRing ring(backend.input_allocator(), {1, job.info.slot_bytes}, statistics);
  if (job.cpis.first != 0)
    if (const Expected<void> sought = source.seek(job.cpis.first); !sought) return unexpected(sought.error());
  {
    WriteLease slot = ring.acquire_write(WritePolicy::block);
    const Expected<CaptureSource::Fill> filled = source.fill(slot);
    if (!filled) return unexpected(filled.error());
    if (*filled == CaptureSource::Fill::end) return 0.0;
    slot.commit();
  }
  const CpiRing::Claim claim = ring.acquire_read();
  std::array<double, 4> seconds{};
  for (double& run_s : seconds) {
    const auto start = std::chrono::steady_clock::now();
    const Ticket ticket = backend.enqueue(claim.lease.share(), {job.products, light_parameters(job.plan.config)});
    if (const Expected<ResultLease> result = backend.wait(ticket); !result) return unexpected(result.error());
    run_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  ring.settle(claim.sequence);
  std::sort(seconds.begin() + 1, seconds.end());
  return seconds[2];
}

}  // namespace

Expected<JobEstimate> estimate_job(Job job, const JobOptions& options) {
  Expected<BackendChoice> choice = make_backend(options.backend, job.plan, options.backend_options);
  if (!choice) return unexpected(choice.error());
  Backend& backend = *choice->backend;

  JobEstimate estimate;
  estimate.backend = backend.info();
  estimate.backend_note = choice->note;
  estimate.cpi_count = job.cpis.end == SIZE_MAX ? 0 : job.cpis.end - job.cpis.first;
  const std::size_t in_flight = backend.max_in_flight();
  const std::size_t cpi_result_bytes = job.plan.result_bytes(job.products);
  estimate.input_bytes = (in_flight + kExtraRingSlots) * job.info.slot_bytes;
  estimate.work_bytes = job.plan.work_bytes();
  estimate.result_bytes = (in_flight + kHeldResults) * cpi_result_bytes;
  estimate.available_bytes = host_memory().available_bytes;
  estimate.output_bytes = estimate.cpi_count * cpi_result_bytes;
  if (job.info.live) return estimate;  // its pace is the radar's, and a CPI taken from it would be lost

  const Expected<double> cpi_s = measure_cpi_s(*job.source, backend, job);
  if (!cpi_s) return unexpected(cpi_s.error());
  estimate.cpi_s = *cpi_s;
  estimate.total_s = *cpi_s * static_cast<double>(estimate.cpi_count);
  return estimate;
}

}  // namespace cornerturn
