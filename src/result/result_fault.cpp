#include "src/result/result_fault.h"

namespace cornerturn {

tl::unexpected<Error> result_fault(const std::string& path, const h5::Hdf5Error& error) {
  const std::string reason = error.system_reason();
  if (reason.empty()) return runtime_error(path, error.what(), "check the disk, or write to another place");
  return runtime_error(path, "cannot be written: " + reason, "free some space or write to another disk");
}

}  // namespace cornerturn
