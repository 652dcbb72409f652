#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn::cuda {

/// What one GPU can do.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string bus_id;  ///< "0000:3b:00.0"
  int compute_major = 0;
  int compute_minor = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_multiprocessor = 0;
  int multiprocessors = 0;
  int copy_engines = 0;
  bool maps_host_memory = false;
  bool host_pointers_are_device_pointers = false;  ///< of registered memory
  bool atomic_with_host = false;
  bool reads_pageable_memory = false;  ///< in place, without page-locking it
  bool managed_on_demand = false;      ///< pages move by themselves when either side touches them
  int driver_version = 0;              ///< newest CUDA that the driver supports, 1000 * major + 10 * minor
  bool integrated = false;             ///< shares the host's memory: zero-copy costs nothing there

  /// One line for people.
  std::string text() const;
  /// Compute capability of 7.5 or newer.
  bool is_new_enough() const;
};

/// "13.0"
std::string version_text(int version);

/// The oldest GPU that the code is compiled for.
inline constexpr int kOldestComputeMajor = 7;
inline constexpr int kOldestComputeMinor = 5;

/// Every GPU of this machine. Errors: runtime, saying what is missing: driver, a driver new enough, or a GPU.
Expected<std::vector<DeviceInfo>> find_devices();

}  // namespace cornerturn::cuda
