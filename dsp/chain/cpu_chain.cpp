#include "dsp/chain/cpu_chain.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "dsp/chain/grouping_geometry.h"
#include "dsp/chain/product_catalogue.h"
#include "dsp/stage/corner_turn.h"
#include "dsp/stage/integrate.h"

namespace cornerturn {
namespace {

constexpr std::size_t kElementsPerCacheLine =
    AlignedBuffer<std::complex<float>>::kAlignment / sizeof(std::complex<float>);

// Whole cache lines, and one more: lines a power of two apart would all fall into the same few sets of the cache.
std::size_t padded_length(std::size_t length) {
  return (length + kElementsPerCacheLine - 1) / kElementsPerCacheLine * kElementsPerCacheLine + kElementsPerCacheLine;
}

template <typename T> std::span<T> values_of(CpiResult& result, const char* name) {
  for (Product& product : result.products)
    if (product.name == name) return product.mutable_values<T>();
  return {};
}

}  // namespace

/// What one thread of the pool works in.
struct CpuChain::Worker {
  Worker(const ChainPlan& plan, const RangeStage& range)
      : line(range.work_length()),
        profile_stride(padded_length(range.output_length())),
        profiles(kCornerTurnPulses * profile_stride),
        pulses(plan.shape.channel_count * plan.doppler_fft_length),
        spectra(plan.shape.channel_count * plan.doppler_fft_length),
        channel_has_signal(plan.shape.channel_count) {}

  AlignedBuffer<std::complex<float>> line;
  std::size_t profile_stride;
  AlignedBuffer<std::complex<float>> profiles;  // (pulse of a block, range output)
  AlignedBuffer<std::complex<float>> pulses;    // (channel, pulse) of one gate
  AlignedBuffer<std::complex<float>> spectra;   // (channel, bin) of one gate
  LineQuality quality;
  std::vector<std::uint8_t> channel_has_signal;
};

/// Adds the time of a scope to a stage.
class CpuChain::Stopwatch {
 public:
  Stopwatch(CpuChain& chain, std::size_t stage) : total_ns_(chain.stage_ns_[stage]), start_(Clock::now()) {}
  ~Stopwatch() {
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    total_ns_.fetch_add(elapsed.count(), std::memory_order_relaxed);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::atomic<std::int64_t>& total_ns_;
  Clock::time_point start_;
};

CpuChain::CpuChain(std::shared_ptr<const ChainPlan> plan, std::size_t thread_count)
    : plan_(std::move(plan)),
      pool_(thread_count),
      range_(*plan_),
      canceller_(plan_->config.canceller, plan_->shape.pulse_count),
      covariance_(plan_->shape.channel_count, plan_->cancelled_pulse_count,
                  {plan_->config.covariance.forward_backward, plan_->config.covariance.loading}, pool_.thread_count()),
      doppler_(plan_->doppler_window, plan_->doppler_fft_length, plan_->shape.channel_count),
      cube_(plan_->gate_count * plan_->shape.channel_count * plan_->doppler_fft_length),
      map_(plan_->gate_count * plan_->doppler_fft_length) {
  for (std::size_t worker = 0; worker < pool_.thread_count(); ++worker) workers_.emplace_back(*plan_, range_);
  if (!plan_->config.cfar.enabled) return;
  const CfarShape shape{plan_->gate_count, plan_->doppler_fft_length, plan_->shape.channel_count};
  detector_.emplace(plan_->config.cfar, shape, pool_.thread_count());
  alarms_.emplace(alarm_capacity(*plan_));
  grouper_.emplace(plan_->config.grouping, grouping_geometry(*plan_), alarm_capacity(*plan_));
  detections_.resize(plan_->config.grouping.max_detections);
  if (plan_->angles_possible)
    angles_.emplace(plan_->config.angle, plan_->radar.array, plan_->radar.waveform.wavelength_m(),
                    pool_.thread_count());
}

CpuChain::~CpuChain() = default;

CubeView<std::complex<float>> CpuChain::cube() {
  return {cube_.data(), plan_->gate_count, plan_->shape.channel_count, plan_->doppler_fft_length};
}

MatrixView<float> CpuChain::map() { return {map_.data(), plan_->gate_count, plan_->doppler_fft_length}; }

Expected<void> CpuChain::process(ReadLease& input, const CpiRequest& request, CpiResult& result) {
  if (auto ok = run_range(*input, result); !ok) return ok;
  input.release();
  run_slow_time(request, result);
  if (request.products.detections && detector_) run_detection(request, result);
  return {};
}

Expected<void> CpuChain::run_range(const RawSlot& input, CpiResult& result) {
  for (Worker& worker : workers_) {
    worker.quality = {};
    std::fill(worker.channel_has_signal.begin(), worker.channel_has_signal.end(), std::uint8_t{0});
  }
  const std::span<std::complex<float>> profiles = values_of<std::complex<float>>(result, "range_profiles");
  std::size_t pulse_count = 0;
  for (std::size_t i = 0; pulse_count < plan_->shape.pulse_count; ++i) {
    // The wait belongs to the source and is not counted as time of the stage.
    if (i == input.cpi.segments.size() || !input.wait_for_segment(i))
      return runtime_error("CPI " + std::to_string(input.cpi.header.index),
                           "the source delivered " + std::to_string(pulse_count) + " of " +
                               std::to_string(plan_->shape.pulse_count) + " pulses",
                           "the CPI is dropped");
    if (i == 0) result.header = input.cpi.header;
    const RawSegment& segment = input.cpi.segments[i];
    if (segment.first_pulse != pulse_count || segment.pulse_count > plan_->shape.pulse_count - pulse_count)
      return runtime_error("CPI " + std::to_string(result.header.index),
                           "segment " + std::to_string(i) + " does not follow the one before",
                           "this is a fault of the source");
    if (auto ok = run_segment(segment, result.header, profiles); !ok) return ok;
    pulse_count += segment.pulse_count;
  }
  for (std::size_t channel = 0; channel < plan_->shape.channel_count; ++channel)
    if (std::none_of(workers_.begin(), workers_.end(),
                     [&](const Worker& worker) { return worker.channel_has_signal[channel] != 0; }))
      ++result.quality.zero_channels;
  for (const Worker& worker : workers_) {
    result.quality.masked_samples += worker.quality.masked_samples;
    result.quality.saturated_samples += worker.quality.saturated_samples;
  }
  return {};
}

Expected<void> CpuChain::run_segment(const RawSegment& segment, const CpiHeader& header,
                                     std::span<std::complex<float>> profiles) {
  const Stopwatch stopwatch(*this, kRange);
  const CpiShape& shape = plan_->shape;
  if (segment.pulse_count == 0) return {};
  const auto needed = required_bytes(plan_->layout, {shape.channel_count, segment.pulse_count, shape.sample_count});
  if (!needed || *needed > segment.bytes.size())
    return runtime_error("CPI " + std::to_string(header.index),
                         "a segment of " + std::to_string(segment.bytes.size()) + " bytes is too short for its " +
                             std::to_string(segment.pulse_count) + " pulses",
                         "this is a fault of the source");

  const std::size_t block_count = (segment.pulse_count + kCornerTurnPulses - 1) / kCornerTurnPulses;
  pool_.parallel_for(shape.channel_count * block_count, 1, [&](std::size_t begin, std::size_t end, std::size_t id) {
    Worker& worker = workers_[id];
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t channel = task / block_count;
      const std::size_t first = task % block_count * kCornerTurnPulses;
      const std::size_t count = std::min(kCornerTurnPulses, segment.pulse_count - first);
      LineQuality quality;
      for (std::size_t i = 0; i < count; ++i) {
        const RawLine line{segment.bytes.data(), first + i, segment.first_pulse + first + i, channel, header.gaps};
        const std::span out = worker.profiles.span().subspan(i * worker.profile_stride, range_.output_length());
        range_.process(line, worker.line.span(), out, quality);
        if (!profiles.empty())
          std::copy_n(out.data() + plan_->first_gate, plan_->gate_count,
                      &profiles[(channel * shape.pulse_count + line.pulse) * plan_->gate_count]);
      }
      corner_turn({worker.profiles.data() + plan_->first_gate, count, plan_->gate_count, worker.profile_stride},
                  channel, segment.first_pulse + first, cube());
      worker.quality.masked_samples += quality.masked_samples;
      worker.quality.saturated_samples += quality.saturated_samples;
      if (quality.has_signal) worker.channel_has_signal[channel] = 1;
    }
  });
  return {};
}

void CpuChain::run_slow_time(const CpiRequest& request, CpiResult& result) {
  const Stopwatch stopwatch(*this, kSlowTime);
  const std::size_t channel_count = plan_->shape.channel_count;
  const std::size_t bin_count = plan_->doppler_fft_length;
  const std::size_t matrix_size = packed_size(channel_count);
  const std::span covariances = values_of<std::complex<float>>(result, "covariance");
  const std::span spectra = values_of<std::complex<float>>(result, "doppler_cube");
  const bool wants_detections = request.products.detections && detector_.has_value();
  const bool wants_map = request.products.map || wants_detections;
  const bool keeps_cube = wants_detections && angles_.has_value();
  if (covariances.empty() && spectra.empty() && !wants_map) return;
  if (!covariances.empty()) covariance_.set_loading(request.light.covariance_loading);

  pool_.parallel_for(plan_->gate_count, 4, [&](std::size_t begin, std::size_t end, std::size_t id) {
    Worker& worker = workers_[id];
    const MatrixView<std::complex<float>> pulses(worker.pulses.data(), channel_count, bin_count);
    const MatrixView<std::complex<float>> block(worker.spectra.data(), channel_count, bin_count);
    for (std::size_t gate = begin; gate < end; ++gate) {
      for (std::size_t channel = 0; channel < channel_count; ++channel)
        canceller_.process(cube().line(gate, channel).first(plan_->shape.pulse_count),
                           pulses.line(channel).first(plan_->cancelled_pulse_count));
      if (!covariances.empty())
        covariance_.process({pulses.data(), channel_count, plan_->cancelled_pulse_count, bin_count},
                            covariances.subspan(gate * matrix_size, matrix_size), id);
      if (!wants_map && spectra.empty()) continue;
      doppler_.process(pulses, block);
      if (wants_map) integrate_power({worker.spectra.data(), channel_count, bin_count}, map().line(gate));
      if (keeps_cube) std::copy_n(block.data(), channel_count * bin_count, cube().matrix(gate).data());
      if (!spectra.empty())
        std::copy_n(block.data(), channel_count * bin_count, &spectra[gate * channel_count * bin_count]);
    }
  });
  if (const std::span out = values_of<float>(result, "range_doppler_power"); !out.empty())
    std::copy_n(map_.data(), map_.size(), out.data());
}

void CpuChain::run_detection(const CpiRequest& request, CpiResult& result) {
  std::size_t count = 0;
  const MatrixView<const float> power(map_.data(), plan_->gate_count, plan_->doppler_fft_length);
  {
    const Stopwatch stopwatch(*this, kDetection);
    detector_->set_pfa(request.light.pfa);
    detector_->process(power, pool_, *alarms_);
    count = grouper_->process(power, alarms_->alarms(), detections_);
    result.quality.dropped_detections = static_cast<std::uint32_t>(alarms_->overflow() + grouper_->dropped());
  }
  const std::span<Detection> detections = std::span(detections_).first(count);
  if (angles_) {
    const Stopwatch stopwatch(*this, kAngle);
    angles_->set_loading(request.light.angle_loading);
    const CubeView<const std::complex<float>> spectra(cube_.data(), plan_->gate_count, plan_->shape.channel_count,
                                                      plan_->doppler_fft_length);
    angles_->process(spectra, alarms_->alarms(), pool_, detections);
  }
  result.quality.flagged_detections =
      static_cast<std::uint32_t>(std::count_if(detections.begin(), detections.end(), [](const Detection& detection) {
        return (detection.flags & (kNoAngle | kAngleDoubtful)) != 0;
      }));

  const auto is_column = [](const Product& product) { return product.is_detection_column(); };
  const auto first = std::find_if(result.products.begin(), result.products.end(), is_column);
  const auto last = std::find_if_not(first, result.products.end(), is_column);
  write_detection_columns(std::span(first, last), detections);
}

std::vector<StageTime> CpuChain::stage_times() const {
  constexpr std::array<const char*, kStageCount> kNames = {
      "unpack, range, corner turn", "canceller, covariance, Doppler, integration", "detection", "angle"};
  std::vector<StageTime> times;
  for (std::size_t stage = 0; stage < kStageCount; ++stage)
    times.push_back({kNames[stage], 1e-9 * static_cast<double>(stage_ns_[stage].load(std::memory_order_relaxed))});
  return times;
}

}  // namespace cornerturn
