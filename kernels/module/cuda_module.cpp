#include "dsp/chain/backend_module.h"
#include "kernels/chain/cuda_backend.h"
#include "kernels/probe/device_report.h"

namespace {

constexpr cornerturn::BackendModule kModule = {
    cornerturn::BackendModule::kInterfaceVersion,
    "cuda",
    &cornerturn::cuda::report_devices,
    &cornerturn::cuda::make_cuda_backend,
    &cornerturn::cuda::choose_memory,
    &cornerturn::cuda::measure_link,
    &cornerturn::cuda::measure_access,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const cornerturn::BackendModule* cornerturn_backend_module() {
  return &kModule;
}
