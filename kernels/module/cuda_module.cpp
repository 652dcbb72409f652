#include "dsp/chain/backend_module.h"
#include "kernels/chain/cuda_backend.h"

namespace {

constexpr cornerturn::BackendModule kModule = {
    cornerturn::BackendModule::kInterfaceVersion,
    "cuda",
    &cornerturn::cuda::describe_devices,
    &cornerturn::cuda::make_cuda_backend,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const cornerturn::BackendModule* cornerturn_backend_module() {
  return &kModule;
}
