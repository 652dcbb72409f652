#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cornerturn {

/// A device as a person asks about it.
struct DeviceDescription {
  unsigned index = 0;  ///< what --devices calls it
  std::string name;
  std::string summary;  ///< one line
  std::string bus_id;   ///< where the system lists it ("0000:3b:00.0"); empty: not known
  bool usable = true;   ///< false: too old; the summary says so
  /// Names and values of what it can do, for people ("copy engines", "3").
  std::vector<std::pair<std::string, std::string>> facts;
};

/// How the link between host and a device is measured.
struct LinkQuestion {
  unsigned device = 0;
  std::size_t in_bytes = 0;       ///< of one buffer towards the device
  std::size_t results_bytes = 0;  ///< that go back for each of these buffers while it comes in; 0: not measured
};

/// Rates of the link, medians of a few rounds. Units: bytes per second; 0: not measured.
struct LinkRates {
  double copy_in = 0.0;               ///< copy engine, host to device, alone
  double copy_out = 0.0;              ///< copy engine, device to host, alone
  double copy_both = 0.0;             ///< the same at once, each way
  double copy_in_beside = 0.0;        ///< host to device while results go back
  double pageable_in = 0.0;           ///< host to device from memory that is not page-locked
  double read_in_place = 0.0;         ///< a kernel that reads mapped host memory, alone
  double write_in_place = 0.0;        ///< a kernel that writes mapped host memory, alone
  double read_in_place_beside = 0.0;  ///< reads in place while results go back
};

/// How a kernel reads host memory in place, and the rate of the bytes that it uses.
struct AccessRate {
  enum class Pattern {
    strided,  ///< granules at every stride-th byte, in order
    random,   ///< granules anywhere in the window
  };
  Pattern pattern = Pattern::strided;
  std::size_t granule_bytes = 0;  ///< read as one
  std::size_t stride_bytes = 0;   ///< of the strided pattern, from one granule to the next
  std::size_t window_bytes = 0;   ///< memory that the pattern lies in
  double bytes_per_s = 0.0;       ///< useful bytes
};

}  // namespace cornerturn
