// Single stages and the device-resident chain, each beside what limits it, measured in the same run.
// Usage: cuda_stage_bench [chain|range|covariance|all [DUMP_FOLDER]]
// With a folder, one channel of the chain's input, map and alarms go there for tests/bench/check_chain.py.
#include <cstdio>
#include <string>

#include "tests/bench/device_bench.h"

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  try {
    if (what == "chain" || what == "all") cornerturn::bench::bench_chain(argc > 2 ? argv[2] : nullptr);
    if (what == "covariance" || what == "all") cornerturn::bench::bench_covariance();
    if (what == "range" || what == "all") cornerturn::bench::bench_range();
  } catch (const cornerturn::cuda::CudaError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
