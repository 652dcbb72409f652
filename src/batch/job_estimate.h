#pragma once

#include <cstddef>
#include <string>

#include "src/batch/process_job.h"

namespace cornerturn {

/// What a job would take.
struct JobEstimate {
  std::size_t cpi_count = 0;  ///< 0: not known (a live source)

  std::size_t input_bytes = 0;   ///< ring of raw CPIs
  std::size_t work_bytes = 0;    ///< of the backend, CPIs in flight
  std::size_t result_bytes = 0;  ///< results in flight and held by the writers
  std::size_t memory_bytes() const { return input_bytes + work_bytes + result_bytes; }
  std::size_t available_bytes = 0;  ///< memory that this machine has free now; 0: not known
  std::size_t output_bytes = 0;     ///< results of all CPIs as numbers, before any file's own overhead

  double cpi_s = 0.0;    ///< measured on one CPI of the capture; 0: not measured
  double total_s = 0.0;  ///< of all CPIs
  BackendInfo backend;
  std::string backend_note;  ///< why this one, where "auto" had to settle for it
};

/// Plans the job, and processes one CPI of it a few times to see how long it takes. Writes nothing.
/// Errors: as the job's own.
Expected<JobEstimate> estimate_job(Job job, const JobOptions& options);

}  // namespace cornerturn
