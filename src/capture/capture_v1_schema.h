#pragma once

#include <cstdint>

namespace cornerturn::capture_v1 {

// Names of docs/capture-format.md; writer and reader share them.
inline constexpr const char* kFormatAttribute = "cornerturn_format";
inline constexpr const char* kFormatWord = "capture";
inline constexpr const char* kVersionAttribute = "cornerturn_format_version";
inline constexpr std::int32_t kVersion = 1;
inline constexpr const char* kSamples = "samples";
inline constexpr const char* kStartTime = "start_time_s";
inline constexpr const char* kSensorTime = "sensor_time_s";
inline constexpr const char* kGaps = "gaps";
inline constexpr const char* kRadar = "radar";
inline constexpr const char* kReplica = "replica";
inline constexpr const char* kGates = "gate_range_m";
inline constexpr const char* kPositions = "element_position_m";
inline constexpr const char* kCalibration = "channel_calibration";
inline constexpr const char* kTruth = "truth";

}  // namespace cornerturn::capture_v1
