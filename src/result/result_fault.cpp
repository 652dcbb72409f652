#include "src/result/result_fault.h"

namespace cornerturn {

tl::unexpected<Error> result_fault(const std::string& path, const h5::Hdf5Error& error) {
  // HDF5: "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf = ..."
  constexpr std::string_view kSystemReason = "error message = '";
  const std::string& cause = error.cause();
  const std::size_t start = cause.find(kSystemReason);
  if (start == std::string::npos) return runtime_error(path, error.what(), "check the disk, or write to another place");
  const std::size_t begin = start + kSystemReason.size();
  return runtime_error(path, "cannot be written: " + cause.substr(begin, cause.find('\'', begin) - begin),
                       "free some space or write to another disk");
}

}  // namespace cornerturn
