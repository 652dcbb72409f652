#include "dsp/chain/backend_module.h"

namespace {

cornerturn::Expected<std::vector<cornerturn::DeviceDescription>> devices() {
  cornerturn::DeviceDescription device;
  device.name = "imagined device";
  return std::vector{device};
}

cornerturn::Expected<std::unique_ptr<cornerturn::Backend>> make(cornerturn::ChainPlan,
                                                                const cornerturn::BackendOptions& options) {
  return cornerturn::runtime_error("fake module", "cannot make '" + options.memory + "'");
}

constexpr cornerturn::BackendModule kModule = {
    cornerturn::BackendModule::kInterfaceVersion, "fake module", devices, make, nullptr, nullptr, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const cornerturn::BackendModule* cornerturn_backend_module() {
  return &kModule;
}
