#include <algorithm>
#include <cmath>
#include <limits>

#include "dsp/stage/angle.h"
#include "dsp/stage/covariance.h"
#include "dsp/stage/spatial_solver.h"
#include "dsp/theory/steering.h"

namespace cornerturn {

namespace {

using Complex = std::complex<double>;
using Cube = CubeView<const std::complex<float>>;

bool has_alarm(std::span<const CfarAlarm> alarms, std::size_t gate, std::size_t bin) {
  const auto key = std::pair(static_cast<std::int32_t>(gate), static_cast<std::int32_t>(bin));
  const auto found = std::lower_bound(alarms.begin(), alarms.end(), key, [](const CfarAlarm& alarm, const auto& value) {
    return std::pair(alarm.gate, alarm.doppler_bin) < value;
  });
  return found != alarms.end() && std::pair(found->gate, found->doppler_bin) == key;
}

}  // namespace

struct AngleEstimator::State {
  /// What one thread needs for one detection.
  struct Worker {
    explicit Worker(const SteeringTable& steering)
        : solver(steering),
          matrix(packed_size(steering.channel_count())),
          cell(steering.channel_count()),
          snapshot(steering.channel_count()),
          spectrum(steering.azimuths_deg().size()) {
      live.reserve(steering.channel_count());
    }
    SpatialSolver solver;
    std::vector<Complex> matrix;
    std::vector<Complex> cell;      // the detection's own snapshot, channels in use
    std::vector<Complex> snapshot;  // of a training gate
    std::vector<std::size_t> live;
    std::vector<double> spectrum;
  };

  State(const ChainConfig::Angle& angle_config, const ArrayGeometry& array, double wavelength_m,
        std::size_t thread_count)
      : config(angle_config),
        steering(array, wavelength_m, azimuth_grid_deg(config.min_deg, config.max_deg, config.step_deg)) {
    CORNERTURN_REQUIRE(thread_count >= 1 && config.loading >= 0.0);
    workers.reserve(thread_count);
    for (std::size_t i = 0; i < thread_count; ++i) workers.emplace_back(steering);
  }

  void estimate(const Cube& cube, std::span<const CfarAlarm> alarms, Worker& worker, Detection& detection) const;
  bool train(const Cube& cube, std::span<const CfarAlarm> alarms, std::size_t gate, std::size_t bin,
             Worker& worker) const;

  ChainConfig::Angle config;
  SteeringTable steering;
  std::vector<Worker> workers;
};

/// Fills worker.matrix with the mean outer product of the training gates. False when there is nothing to train from.
bool AngleEstimator::State::train(const Cube& cube, std::span<const CfarAlarm> alarms, std::size_t gate,
                                  std::size_t bin, Worker& worker) const {
  const std::size_t order = worker.live.size();
  const auto matrix = std::span(worker.matrix).first(packed_size(order));
  std::fill(matrix.begin(), matrix.end(), Complex{});
  std::size_t gate_count = 0;
  const auto add_gate = [&](std::size_t other) {
    // A gate that holds a target of its own would teach the estimator to cancel it.
    if (has_alarm(alarms, other, bin)) return;
    for (std::size_t m = 0; m < order; ++m) worker.snapshot[m] = Complex(cube(other, worker.live[m], bin));
    for (std::size_t row = 0; row < order; ++row)
      for (std::size_t column = 0; column <= row; ++column)
        matrix[packed_index(row, column)] += worker.snapshot[row] * std::conj(worker.snapshot[column]);
    ++gate_count;
  };
  const std::size_t gates = cube.outer_count();
  for (std::size_t distance = config.guard_gates + 1; distance <= config.guard_gates + config.train_gates; ++distance) {
    if (gate >= distance) add_gate(gate - distance);
    if (gate + distance < gates) add_gate(gate + distance);
  }
  double trace = 0.0;
  for (std::size_t m = 0; m < order; ++m) trace += matrix[packed_index(m, m)].real();
  if (gate_count == 0 || !(trace > 0.0) || !std::isfinite(trace)) return false;

  for (Complex& element : matrix) element /= static_cast<double>(gate_count);
  if (config.forward_backward && order == steering.channel_count()) make_forward_backward(matrix, order);
  return true;
}

void AngleEstimator::State::estimate(const Cube& cube, std::span<const CfarAlarm> alarms, Worker& worker,
                                     Detection& detection) const {
  const auto gate = static_cast<std::size_t>(detection.gate);
  const auto bin = static_cast<std::size_t>(detection.doppler_bin);
  worker.live.clear();
  for (std::size_t channel = 0; channel < steering.channel_count(); ++channel) {
    const Complex value(cube(gate, channel, bin));
    if (!(std::norm(value) > 0.0) || !std::isfinite(std::norm(value))) continue;
    worker.cell[worker.live.size()] = value;
    worker.live.push_back(channel);
  }
  const unsigned other_flags = detection.flags & ~static_cast<unsigned>(kNoAngle | kAngleDoubtful);
  if (worker.live.size() < 2) {
    detection.azimuth_deg = std::numeric_limits<double>::quiet_NaN();
    detection.azimuth_bartlett_deg = std::numeric_limits<double>::quiet_NaN();
    detection.flags = static_cast<std::uint8_t>(other_flags | kNoAngle);
    return;
  }

  worker.solver.use_channels(worker.live);
  bool trusted = worker.live.size() == steering.channel_count();
  if (train(cube, alarms, gate, bin, worker)) {
    const auto matrix = std::span(worker.matrix).first(packed_size(worker.live.size()));
    const bool regular = worker.solver.set_matrix(matrix, config.loading, 4.0 * std::numeric_limits<double>::epsilon());
    trusted = trusted && regular;
  } else {
    worker.solver.set_identity();
    trusted = false;
  }

  const auto cell = std::span(worker.cell).first(worker.live.size());
  worker.solver.bartlett_of_snapshot(cell, worker.spectrum);
  detection.azimuth_bartlett_deg = peak_azimuth_deg(steering.azimuths_deg(), worker.spectrum);
  worker.solver.adaptive_of_snapshot(cell, worker.spectrum);
  detection.azimuth_deg = peak_azimuth_deg(steering.azimuths_deg(), worker.spectrum);
  const auto peak = std::max_element(worker.spectrum.begin(), worker.spectrum.end());
  if (peak == worker.spectrum.begin() || peak + 1 == worker.spectrum.end()) trusted = false;
  detection.flags = static_cast<std::uint8_t>(other_flags | (trusted ? 0U : static_cast<unsigned>(kAngleDoubtful)));
}

AngleEstimator::AngleEstimator(const ChainConfig::Angle& config, const ArrayGeometry& array, double wavelength_m,
                               std::size_t thread_count)
    : state_(std::make_unique<State>(config, array, wavelength_m, thread_count)) {}
AngleEstimator::~AngleEstimator() = default;
AngleEstimator::AngleEstimator(AngleEstimator&&) noexcept = default;
AngleEstimator& AngleEstimator::operator=(AngleEstimator&&) noexcept = default;

void AngleEstimator::set_loading(double loading) {
  CORNERTURN_REQUIRE(loading >= 0.0);
  state_->config.loading = loading;
}

std::size_t AngleEstimator::process(CubeView<const std::complex<float>> cube, std::span<const CfarAlarm> alarms,
                                    ThreadPool& pool, std::span<Detection> detections) {
  CORNERTURN_REQUIRE(cube.middle_count() == state_->steering.channel_count());
  CORNERTURN_REQUIRE(pool.thread_count() <= state_->workers.size());
  pool.parallel_for(detections.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    for (std::size_t i = begin; i < end; ++i) state_->estimate(cube, alarms, state_->workers[worker], detections[i]);
  });
  return static_cast<std::size_t>(std::count_if(detections.begin(), detections.end(), [](const Detection& detection) {
    return (detection.flags & (kNoAngle | kAngleDoubtful)) != 0;
  }));
}

}  // namespace cornerturn
