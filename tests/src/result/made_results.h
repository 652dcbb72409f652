#pragma once

#include <cmath>
#include <complex>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "dsp/chain/chain_plan.h"
#include "dsp/stage/detection.h"
#include "dsp/vocabulary/product.h"
#include "src/result/result_sink.h"

namespace cornerturn::testing {

/// Sizes of a made result.
struct MadeShape {
  std::size_t gates = 64;
  std::size_t bins = 32;
  std::size_t channels = 4;  ///< 0: no covariance
  double gate_m = 0.5;
  double bin_mps = -0.25;  ///< falling, as behind a mixer that turns the phase the other way
};

/// A CpiResult with its own memory: a map of noise with peaks, detections and packed covariance matrices.
class MadeResult {
 public:
  explicit MadeResult(std::uint64_t index, std::vector<Detection> detections = {}, MadeShape shape = {})
      : MadeResult(index, std::move(detections), make_axes(shape), shape.channels) {}

  MadeResult(std::uint64_t index, std::vector<Detection> detections, std::vector<Axis> map_axes, std::size_t channels) {
    result_.header.index = index;
    result_.header.start_time_s = 0.125 * static_cast<double>(index);
    result_.header.sensor_time_s = std::nan("");
    result_.quality.masked_samples = index % 3;
    add_map(std::move(map_axes), detections, static_cast<unsigned>(index + 1));
    if (channels > 0) add_covariance(channels);
    columns_.resize(detection_column_bytes(detections.size() + 1));
    std::vector<Product> columns = make_detection_columns(columns_, detections.size() + 1);
    write_detection_columns(columns, detections);
    for (Product& column : columns) result_.products.push_back(std::move(column));
  }

  CpiResult& result() { return result_; }
  const std::vector<float>& map() const { return map_; }
  const std::vector<std::complex<float>>& packed_covariance() const { return covariance_; }

  static std::vector<Axis> make_axes(const MadeShape& shape) {
    const double first_mps = -shape.bin_mps * std::floor(static_cast<double>(shape.bins) / 2.0);
    return {Axis::uniform("range", "m", 1.0, shape.gate_m, shape.gates),
            Axis::uniform("range_rate", "m s-1", first_mps, shape.bin_mps, shape.bins)};
  }

 private:
  void add_map(std::vector<Axis> axes, const std::vector<Detection>& detections, unsigned seed) {
    const std::size_t gates = axes[0].count();
    const std::size_t bins = axes[1].count();
    std::mt19937 random(seed);
    std::exponential_distribution<float> noise(1.0F);
    map_.resize(gates * bins);
    for (float& cell : map_) cell = noise(random);
    for (const Detection& detection : detections)
      for (std::size_t gate = 0; gate < gates; ++gate)
        for (std::size_t bin = 0; bin < bins; ++bin) {
          const double from_gate = static_cast<double>(gate) - axes[0].index_of(detection.range_m);
          const double from_bin = static_cast<double>(bin) - axes[1].index_of(detection.range_rate_mps);
          map_[gate * bins + bin] += static_cast<float>(std::pow(10.0, detection.power_db / 10.0) *
                                                        std::exp(-(from_gate * from_gate + from_bin * from_bin)));
        }
    Product product;
    product.name = "range_doppler_power";
    product.description = "power over range and range rate";
    product.axes = std::move(axes);
    product.unit = "count2";
    product.type = ElementType::float32;
    product.bytes = std::as_writable_bytes(std::span(map_));
    result_.products.push_back(std::move(product));
  }

  void add_covariance(std::size_t channels) {
    const Axis gate_axis = result_.products.front().axes.front();
    const std::size_t packed = channels * (channels + 1) / 2;
    covariance_.resize(gate_axis.count() * packed);
    for (std::size_t gate = 0; gate < gate_axis.count(); ++gate) {
      std::size_t element = gate * packed;
      for (std::size_t row = 0; row < channels; ++row)
        for (std::size_t column = 0; column <= row; ++column, ++element) {
          const double phase = 0.7 * static_cast<double>(row - column);
          const float level = row == column ? 2.0F : 1.0F + 0.01F * static_cast<float>(gate);
          covariance_[element] = std::polar(level, static_cast<float>(phase));
        }
    }
    Product product;
    product.name = "covariance";
    product.description = "sample covariance of each gate";
    product.axes = {gate_axis, Axis::index("channel_row", channels), Axis::index("channel_column", channels)};
    product.unit = "count2";
    product.type = ElementType::complex64;
    product.storage = Storage::hermitian_lower;
    product.bytes = std::as_writable_bytes(std::span(covariance_));
    result_.products.push_back(std::move(product));
  }

  CpiResult result_;
  std::vector<float> map_;
  std::vector<std::complex<float>> covariance_;
  std::vector<std::byte> columns_;
};

inline Detection make_detection(double range_m, double range_rate_mps, double power_db) {
  Detection detection;
  detection.range_m = range_m;
  detection.range_rate_mps = range_rate_mps;
  detection.power_db = power_db;
  detection.snr_db = power_db;
  detection.azimuth_deg = std::nan("");
  detection.flags = kNoAngle;
  return detection;
}

inline RunDescription make_run(std::uint32_t version = 1) {
  RunDescription run;
  run.program_version = "0.1.0";
  run.capture_path = "captures/road, \"north\".h5";
  run.capture_format = "capture v1";
  run.capture_hash = "xxh3-128:0123456789abcdef0123456789abcdef";
  run.chain_toml = "[range]\nwindow = \"hann\"\n";
  run.chain_summary = "range FFT 64 (hann) -> Doppler FFT 32 (hann) -> CA-CFAR over range_doppler, Pfa 1e-06";
  run.configuration_version = version;
  run.backend = {"cpu", "test processor, 2 threads", "host"};
  auto plan = std::make_shared<ChainPlan>();
  plan->radar.sensor = "simulator";
  plan->radar.waveform.carrier_hz = 77e9;
  plan->radar.full_scale_counts = 2048.0;
  plan->shape = {4, 32, 64};
  run.plan = std::move(plan);
  run.cpi_period_s = 0.125;
  return run;
}

/// A folder that lives as long as the object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("cornerturn_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace cornerturn::testing
