#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cornerturn {

/// What the JSON of a recording says about one sensor.
struct A121Settings {
  std::size_t points = 0;  ///< of all subsweeps
  std::size_t sweeps_per_frame = 1;
  std::vector<std::vector<double>> subsweep_gates_m;
  double sweep_period_s = 0.0;  ///< 0: not stated
  double frame_period_s = 0.0;  ///< 0: not stated
  bool sweep_rate_is_limit = false;
  bool continuous = false;
  std::size_t entries = 1;
};

/// The subsweeps that are read: they follow each other in range as they do in the file.
struct SubsweepRun {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t first_point = 0;
  std::vector<double> gates_m;
};

/// Subsweeps from `first` on, up to the first that goes back in range (the vendor's distance detector records near and
/// far parts that overlap).
SubsweepRun rising_run(const A121Settings& settings, std::size_t first);

/// Reads the JSON texts session_config and metadata of a recording, its first sensor.
/// Throws std::exception where a needed key is missing, has another type or cannot be true.
A121Settings parse_a121_settings(const std::string& session_text, const std::string& metadata_text);

/// Ticks per second of the device clock from the JSON text server_info; 0: not stated. Throws as above.
double parse_a121_tick_rate_hz(const std::string& server_text);

}  // namespace cornerturn
