#pragma once

#include <vector>

#include "dsp/chain/device_probe.h"
#include "dsp/vocabulary/error.h"

namespace cornerturn::cuda {

/// Every GPU with what it can do. Errors: runtime, why there is no usable one.
Expected<std::vector<DeviceDescription>> report_devices();

/// probe_link and probe_access on a device by its index. Errors: usage for an unknown device; runtime.
Expected<LinkRates> measure_link(const LinkQuestion& question);
Expected<std::vector<AccessRate>> measure_access(unsigned device, std::size_t largest_window_bytes);

}  // namespace cornerturn::cuda
