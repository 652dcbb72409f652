#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/batch/bench_run.h"

namespace cornerturn {

/// Tables of a benchmark, each rate beside its limit.
std::string format_bench(const BenchReport& report);
nlohmann::json bench_json(const BenchReport& report);

/// Rates of the link in two tables: sizes, and results going back.
std::string format_link(const std::vector<LinkRow>& sizes, const std::vector<LinkRow>& results_back);

}  // namespace cornerturn
