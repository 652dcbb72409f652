#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

/// Cell-averaging CFAR as dsp/stage/cfar.h defines it; reaches already clipped to the map.
struct CfarJob {
  const float* power = nullptr;  ///< (map, gate, bin)
  /// Maps with alarms of their own (of channels that are not integrated, say); launch_compact lists those of one map.
  std::uint32_t map_count = 1;
  std::uint32_t gate_count = 0;
  std::uint32_t bin_count = 0;
  std::uint32_t train_range = 0;
  std::uint32_t guard_range = 0;
  std::uint32_t train_doppler = 0;
  std::uint32_t guard_doppler = 0;
  bool doppler_wraps = true;
  const float* scale_of_count = nullptr;  ///< (training cells): factor / cells, NaN for 0; in device memory
  std::uint32_t* hits = nullptr;          ///< (map, gate, word): bit b of word w is bin 32 w + b

  constexpr std::uint32_t words_per_gate() const { return (bin_count + 31) / 32; }
};
/// Sums are formed per block from the cell's own window, never as running sums over a line: one strong cell changes no
/// threshold outside its window.
void launch_cfar(const CfarJob& job, cudaStream_t stream);

/// One alarm with what grouping and interpolation need of the map around it; neighbours beyond an edge are 0.
struct alignas(32) DeviceAlarm {
  std::int32_t gate;
  std::int32_t bin;
  float power;
  float noise_mean;
  float gate_before;
  float gate_after;
  float bin_before;
  float bin_after;
};

/// Written once per CPI, into mapped host memory.
struct AlarmCounts {
  std::uint32_t alarm_count;  ///< all, also those beyond the capacity
  std::uint32_t peak_count;   ///< local maxima of groups, in the rule of dsp/stage/grouping.h
};

/// Snapshots around cells, copied out of the Doppler cube for angles on the host:
/// out(cell, g, channel) = cube(gate + g - reach, channel, bin), zero outside the map; g = 0 .. 2 reach.
struct SnapshotJob {
  const float2* cube = nullptr;  ///< (gate, channel, bin); null: none are wanted
  std::uint32_t gate_count = 0;
  std::uint32_t channel_count = 0;
  std::uint32_t bin_count = 0;
  std::uint32_t reach = 0;
  std::uint32_t capacity = 0;  ///< cells that `out` has room for
  float2* out = nullptr;       ///< may be mapped host memory
};

struct CompactJob {
  CfarJob cfar;
  bool every_alarm_is_peak = false;  ///< grouping is off
  std::uint32_t alarm_capacity = 0;
  uint2* block_counts = nullptr;  ///< work space, compact_block_count() elements
  DeviceAlarm* alarms = nullptr;  ///< (alarm_capacity), ascending (gate, bin); may be mapped host memory
  AlarmCounts* counts = nullptr;  ///< may be mapped host memory
  SnapshotJob snapshots;          ///< of the peaks, in the order of the alarms
};
std::size_t compact_block_count(const CfarJob& job);
/// Turns hit bits into a list in the order of (gate, bin), the same in each run.
void launch_compact(const CompactJob& job, cudaStream_t stream);

/// Snapshots of listed cells (gate, bin), at most job.capacity.
void launch_gather_snapshots(const SnapshotJob& job, const int2* cells, std::uint32_t cell_count, cudaStream_t stream);

}  // namespace cornerturn::cuda
