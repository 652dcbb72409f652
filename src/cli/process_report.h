#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/batch/job_estimate.h"
#include "src/batch/process_job.h"

namespace cornerturn {

/// What a run understood, did, found and wrote, on about one screen.
std::string format_report(const JobReport& report);
nlohmann::json report_json(const JobReport& report);

/// What a run would do and take (--dry-run).
std::string format_estimate(const Job& job, const JobEstimate& estimate);
nlohmann::json estimate_json(const Job& job, const JobEstimate& estimate);

/// Rates of a run. Raw bytes as stored; real time is the time that the radar took for the same CPIs.
struct RunRates {
  double cpis_per_s = 0.0;
  double bytes_per_s = 0.0;
  double real_time_factor = 0.0;  ///< 0: not known
};
RunRates rates_of(const JobReport& report);

}  // namespace cornerturn
