#include "kernels/chain/lane.h"

#include <algorithm>
#include <utility>

#include "dsp/chain/product_catalogue.h"
#include "dsp/stage/covariance.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/stage/covariance.h"
#include "kernels/stage/range.h"
#include "kernels/stage/slow_time.h"

namespace cornerturn::cuda {
namespace {

// A read over the link is saturated by a few blocks; the others are for the chain of the CPI before.
constexpr unsigned kIngestBlocks = 32;
constexpr std::size_t kMostBytesOfSmallCpis = std::size_t{2} << 20;
constexpr std::size_t kMostBytesWrittenInPlace = std::size_t{128} << 10;
constexpr std::size_t kRawSlack = 16384;  // segments are placed on boundaries of 256 bytes
constexpr std::size_t kMostSnapshotBytes = std::size_t{16} << 20;

std::size_t complex_bytes(std::size_t elements) { return elements * sizeof(float2); }

std::size_t lines_elements(const DeviceTables& tables) {
  const ChainPlan& plan = tables.plan();
  return std::max(tables.line_count() * tables.profile_length(),
                  plan.gate_count * plan.shape.channel_count * plan.doppler_fft_length);
}

std::size_t cube_elements(const DeviceTables& tables) {
  const ChainPlan& plan = tables.plan();
  const std::size_t length =
      tables.odd_doppler() ? std::max(plan.shape.pulse_count, plan.doppler_fft_length) : plan.shape.pulse_count;
  const std::size_t cube = plan.gate_count * plan.shape.channel_count * length;
  // Real lines wait here for their transform, which is not in place.
  const std::size_t real_lines = tables.real_transform() ? (tables.line_count() * tables.line_length() + 1) / 2 : 0;
  return std::max(cube, real_lines);
}

std::size_t raw_bytes(const DeviceTables& tables) {
  return required_bytes(tables.plan().layout, tables.plan().shape).value_or(0);
}

}  // namespace

const char* name_of(GpuStage stage) {
  constexpr std::array<const char*, kGpuStageCount> kNames = {
      "copy in",   "unpack",  "range", "corner turn", "canceller and window", "covariance", "Doppler and integration",
      "detection", "copy out"};
  return kNames[static_cast<std::size_t>(stage)];
}

/// Brackets a stage with two events where stages are measured.
class Lane::StageTimer {
 public:
  StageTimer(Lane& lane, GpuStage stage, cudaStream_t stream)
      : span_(lane.options_.measure_stages ? &lane.stage_spans_[static_cast<std::size_t>(stage)] : nullptr),
        stream_(stream) {
    if (span_ == nullptr || span_->used) return;
    span_->begin.record(stream_);
  }
  void stop() {
    if (span_ == nullptr) return;
    span_->end.record(stream_);
    span_->used = true;
  }

 private:
  Span* span_;
  cudaStream_t stream_;
};

std::size_t Lane::device_bytes(const DeviceTables& tables, const StrategyTraits& traits) {
  const ChainPlan& plan = tables.plan();
  const std::size_t cells = plan.gate_count * plan.doppler_fft_length;
  return complex_bytes(lines_elements(tables) + cube_elements(tables)) + cells * sizeof(float) +
         product_bytes(plan, ProductKind::covariance) + (traits.reads_in_place ? 0 : raw_bytes(tables));
}

Lane::Lane(std::shared_ptr<const DeviceTables> tables, const Options& options)
    : tables_(std::move(tables)),
      options_(options),
      is_small_(raw_bytes(*tables_) <= kMostBytesOfSmallCpis),
      stream_(Priority::normal),
      input_read_(Event::Kind::order),
      done_(Event::Kind::order) {
  allocate();
  plan_transforms();
  if (options_.measure_stages)
    for (Span& span : stage_spans_) span = {Event(Event::Kind::timing), Event(Event::Kind::timing), false};
  set_light(light_parameters(tables_->plan().config));
  if (!options_.measure_stages) capture_graphs();
  stream_.synchronize();
}

void Lane::allocate() {
  const ChainPlan& plan = tables_->plan();
  const std::size_t channels = plan.shape.channel_count;
  const std::size_t cells = plan.gate_count * plan.doppler_fft_length;
  if (!options_.traits.reads_in_place) raw_ = DeviceBuffer<std::byte>(raw_bytes(*tables_) + kRawSlack);
  lines_ = DeviceBuffer<float2>(lines_elements(*tables_));
  cube_ = DeviceBuffer<float2>(cube_elements(*tables_));
  power_ = DeviceBuffer<float>(cells);
  covariance_ = DeviceBuffer<float2>(plan.gate_count * packed_size(channels));
  sample_counters_ = DeviceBuffer<unsigned long long>(2);
  channel_has_signal_ = DeviceBuffer<std::uint32_t>(channels);
  loading_ = DeviceBuffer<double>(1);
  matrices_address_ = PinnedBuffer<float2*>(1);
  *matrices_address_.host() = covariance_.data();
  loading_staging_ = PinnedBuffer<double>(1);
  quality_report_ = PinnedBuffer<QualityReport>(1);
  gap_offsets_ = PinnedBuffer<std::uint32_t>(plan.shape.pulse_count + 1);
  gap_spans_ = PinnedBuffer<GapTable::Span>(plan.shape.pulse_count);
  pending_.reserve(plan.shape.pulse_count);
  clear_counters();

  alarm_counts_ = PinnedBuffer<AlarmCounts>(1);
  if (!plan.config.cfar.enabled) return;
  const CfarJob cfar = tables_->cfar_job();
  const std::size_t most_detections = plan.config.grouping.max_detections;
  hits_ = DeviceBuffer<std::uint32_t>(plan.gate_count * cfar.words_per_gate());
  block_counts_ = DeviceBuffer<uint2>(compact_block_count(cfar));
  scales_ = DeviceBuffer<float>(tables_->scale_count());
  scales_staging_ = PinnedBuffer<float>(tables_->scale_count());
  alarms_ = PinnedBuffer<DeviceAlarm>(alarm_capacity(plan));
  const std::size_t snapshot_elements = (2 * tables_->angle_reach() + 1) * channels;
  snapshot_capacity_ = std::clamp(kMostSnapshotBytes / complex_bytes(snapshot_elements), std::size_t{1},
                                  std::max(most_detections, std::size_t{1}));
  if (!plan.angles_possible) return;
  snapshots_ = PinnedBuffer<float2>(snapshot_capacity_ * snapshot_elements);
  cells_ = PinnedBuffer<int2>(snapshot_capacity_);
}

void Lane::plan_transforms() {
  const ChainPlan& plan = tables_->plan();
  using Kind = CufftPlan::Kind;
  if (tables_->has_range_transform())
    range_fft_ = CufftPlan(tables_->real_transform() ? Kind::real_to_complex : Kind::complex_to_complex,
                           tables_->line_length(), tables_->line_count());
  doppler_fft_ =
      CufftPlan(Kind::complex_to_complex, plan.doppler_fft_length, plan.gate_count * plan.shape.channel_count);
  // They run one after the other and share one work area.
  fft_work_ = DeviceBuffer<std::byte>(std::max(range_fft_ ? range_fft_.work_bytes() : 0, doppler_fft_.work_bytes()));
  if (range_fft_) range_fft_.use(fft_work_.data(), stream_.get());
  doppler_fft_.use(fft_work_.data(), stream_.get());
}

// Run once as they are first: kernels are loaded and cuFFT is set up when they first run.
void Lane::capture_graphs() {
  check(cudaMemsetAsync(lines_.data(), 0, lines_.bytes(), stream_.get()), "cudaMemsetAsync");
  check(cudaMemsetAsync(cube_.data(), 0, cube_.bytes(), stream_.get()), "cudaMemsetAsync");
  const bool has_cfar = tables_->plan().config.cfar.enabled;
  enqueue_range();
  enqueue_chain({true, has_cfar, true});
  stream_.synchronize();
  for (const bool doppler : {false, true}) {
    for (const bool detections : {false, true}) {
      if (detections && (!doppler || !has_cfar)) continue;
      for (const bool covariance : {false, true}) {
        const Work work{doppler, detections, covariance};
        graphs_[work.index()] = Graph::capture(stream_.get(), [&] {
          enqueue_range();
          enqueue_chain(work);
        });
      }
    }
  }
}

void Lane::clear_counters() {
  check(cudaMemsetAsync(sample_counters_.data(), 0, sample_counters_.bytes(), stream_.get()), "cudaMemsetAsync");
  check(cudaMemsetAsync(channel_has_signal_.data(), 0, channel_has_signal_.bytes(), stream_.get()), "cudaMemsetAsync");
}

void Lane::abandon(cudaStream_t ingest_stream) noexcept {
  raw_used_ = 0;
  pending_.clear();
  try {
    check(cudaStreamSynchronize(ingest_stream), "cudaStreamSynchronize");
    stream_.synchronize();
    clear_counters();
    stream_.synchronize();
  } catch (const CudaError&) {
    // The device is lost: the next CPI says so.
  }
}

void Lane::begin(std::span<const GapInterval> gaps) {
  for (Span& span : stage_spans_) span.used = false;
  has_gaps_ = !gaps.empty();
  if (!has_gaps_) return;
  const std::size_t pulses = tables_->plan().shape.pulse_count;
  // The one thing that may grow: a recording that is more gap than signal.
  if (gaps.size() > gap_spans_.size()) gap_spans_ = PinnedBuffer<GapTable::Span>(2 * gaps.size());
  std::uint32_t* const offsets = gap_offsets_.host();
  std::fill_n(offsets, pulses + 1, 0U);
  for (const GapInterval& gap : gaps)
    if (gap.pulse < pulses) ++offsets[gap.pulse + 1];
  for (std::size_t pulse = 0; pulse < pulses; ++pulse) offsets[pulse + 1] += offsets[pulse];
  // Fills each pulse's spans from the end of its part, which moves the offsets to the part's start.
  for (const GapInterval& gap : gaps)
    if (gap.pulse < pulses) gap_spans_.host()[offsets[gap.pulse]++] = {gap.first_sample, gap.sample_count};
  for (std::size_t pulse = pulses; pulse > 0; --pulse) offsets[pulse] = offsets[pulse - 1];
  offsets[0] = 0;
}

void Lane::ingest(const RawSegment& segment, const void* device_address, cudaStream_t shared_stream) {
  const cudaStream_t stream = ingest_stream(shared_stream);
  if (options_.traits.reads_in_place && device_address != nullptr) {
    StageTimer timer(*this, GpuStage::unpack, stream);
    unpack(segment, device_address, stream);
    timer.stop();
    return;
  }
  StageTimer timer(*this, GpuStage::copy_in, stream);
  // Segments may overlap in what they need of a strided layout, so each gets its own place, whole.
  const std::size_t needed = raw_used_ + (segment.bytes.size() + 255) / 256 * 256;
  if (raw_.size() < needed) {
    if (!pending_.empty()) stream_.synchronize();
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    DeviceBuffer<std::byte> larger(std::max(needed, 2 * raw_.size()));
    if (raw_used_ > 0) check(cudaMemcpy(larger.data(), raw_.data(), raw_used_, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    const std::byte* const old = raw_.data();
    for (PendingSegment& pending : pending_)
      pending.address = larger.data() + (static_cast<const std::byte*>(pending.address) - old);
    raw_ = std::move(larger);
  }
  std::byte* const address = raw_.data() + raw_used_;
  check(cudaMemcpyAsync(address, segment.bytes.data(), segment.bytes.size(), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  timer.stop();
  raw_used_ = needed;
  pending_.push_back({segment, address});
}

void Lane::unpack(const RawSegment& segment, const void* address, cudaStream_t stream) {
  UnpackJob job = tables_->unpack_job();
  job.segment = address;
  job.segment_first_pulse = static_cast<std::uint32_t>(segment.first_pulse);
  job.segment_pulse_count = static_cast<std::uint32_t>(segment.pulse_count);
  if (has_gaps_) job.gaps = {gap_offsets_.device(), gap_spans_.device()};
  job.quality = {sample_counters_.data(), sample_counters_.data() + 1, channel_has_signal_.data()};
  job.out = tables_->real_transform() ? cube_.data() : lines_.data();
  job.block_limit = options_.traits.reads_in_place && !is_small_ ? kIngestBlocks : 0;
  launch_unpack(job, stream);
}

void Lane::finish_ingest(cudaStream_t shared_stream) {
  const cudaStream_t stream = ingest_stream(shared_stream);
  input_read_.record(stream);
  if (stream != stream_.get()) input_read_.hold_back(stream_.get());
  if (pending_.empty()) return;
  StageTimer timer(*this, GpuStage::unpack, stream_.get());
  for (const PendingSegment& pending : pending_) unpack(pending.segment, pending.address, stream_.get());
  timer.stop();
  pending_.clear();
  raw_used_ = 0;
}

void Lane::set_light(const LightParameters& light) {
  const bool new_loading = !light_is_set_ || light.covariance_loading != light_.covariance_loading;
  const bool new_pfa = !light_is_set_ || light.pfa != light_.pfa;
  light_ = light;
  light_is_set_ = true;
  if (new_loading) {
    *loading_staging_.host() = light.covariance_loading;
    check(cudaMemcpyAsync(loading_.data(), loading_staging_.host(), sizeof(double), cudaMemcpyHostToDevice,
                          stream_.get()),
          "cudaMemcpyAsync");
  }
  if (new_pfa && scales_.size() > 0) {
    tables_->fill_scales(light.pfa, scales_staging_.host());
    check(
        cudaMemcpyAsync(scales_.data(), scales_staging_.host(), scales_.bytes(), cudaMemcpyHostToDevice, stream_.get()),
        "cudaMemcpyAsync");
  }
}

/// Where the kernel itself brings the matrices to the host: as the strategy says, and when they are so few that the
/// copy engine would take longer to start. Null: they are copied.
float2* Lane::host_matrices(const ResultTargets& targets) const {
  if (!options_.traits.maps_matrices && (!options_.traits.overlaps || covariance_.bytes() > kMostBytesWrittenInPlace))
    return nullptr;
  void* address = nullptr;
  if (cudaHostGetDevicePointer(&address, targets.covariance, 0) != cudaSuccess) {
    cudaGetLastError();  // pageable memory, because the system refused to lock it
    return nullptr;
  }
  return static_cast<float2*>(address);
}

void Lane::compute(const ResultTargets& targets, const LightParameters& light) {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  set_light(light);
  const bool detections = targets.detections && plan.config.cfar.enabled;
  const Work work{targets.map != nullptr || targets.doppler_cube != nullptr || detections, detections,
                  targets.covariance != nullptr};
  float2* const in_place = work.covariance ? host_matrices(targets) : nullptr;
  *matrices_address_.host() = in_place != nullptr ? in_place : covariance_.data();
  const Graph& graph = graphs_[work.index()];
  if (graph && targets.range_profiles == nullptr) {
    graph.launch(stream);
  } else {
    enqueue_range();
    if (targets.range_profiles != nullptr) {
      const std::size_t row_bytes = complex_bytes(plan.gate_count);
      check(cudaMemcpy2DAsync(targets.range_profiles, row_bytes, lines_.data() + plan.first_gate,
                              complex_bytes(tables_->profile_length()), row_bytes, tables_->line_count(),
                              cudaMemcpyDeviceToHost, stream),
            "cudaMemcpy2DAsync");
    }
    enqueue_chain(work);
  }

  StageTimer timer(*this, GpuStage::copy_out, stream);
  const auto copy_out = [&](void* target, const void* source, std::size_t bytes) {
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  };
  if (work.covariance && in_place == nullptr) copy_out(targets.covariance, covariance_.data(), covariance_.bytes());
  if (targets.map != nullptr) copy_out(targets.map, power_.data(), power_.bytes());
  if (targets.doppler_cube != nullptr)
    copy_out(targets.doppler_cube, spectra(), product_bytes(plan, ProductKind::doppler_cube));
  timer.stop();
  done_.record(stream);
}

/// Everything behind the range stage, in one line: branches of a graph were measured to help nothing on a link-bound
/// stream and to cost up to 40 us of latency at times.
void Lane::enqueue_chain(const Work& work) {
  if (work.doppler || work.covariance) enqueue_slow_time(work);
  if (work.covariance) enqueue_covariance();
  if (work.doppler) enqueue_doppler();
  if (work.detections) enqueue_detection();
  launch_quality_report({sample_counters_.data(), sample_counters_.data() + 1, channel_has_signal_.data()},
                        static_cast<std::uint32_t>(tables_->plan().shape.channel_count), quality_report_.device(),
                        stream_.get());
}

void Lane::enqueue_range() {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  StageTimer range_timer(*this, GpuStage::range, stream);
  if (tables_->real_transform()) {
    range_fft_.forward(reinterpret_cast<const float*>(cube_.data()), lines_.data());
    if (tables_->calibration() != nullptr)
      launch_scale_channels(lines_.data(), tables_->calibration(), plan.shape.channel_count,
                            plan.shape.pulse_count * tables_->profile_length(), stream);
  } else if (range_fft_) {
    range_fft_.forward(lines_.data(), lines_.data());
  }
  if (tables_->has_matched_filter()) {
    launch_multiply_spectrum(lines_.data(), tables_->replica_spectrum(), tables_->line_count(), tables_->line_length(),
                             stream);
    range_fft_.inverse(lines_.data(), lines_.data());
  }
  range_timer.stop();
}

void Lane::enqueue_slow_time(const Work& work) {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  const std::size_t channels = plan.shape.channel_count;
  StageTimer turn_timer(*this, GpuStage::corner_turn, stream);
  launch_corner_turn({lines_.data(), cube_.data(), channels, plan.shape.pulse_count, tables_->profile_length(),
                      plan.first_gate, plan.gate_count},
                     stream);
  turn_timer.stop();

  StageTimer timer(*this, GpuStage::slow_time, stream);
  SlowTimeJob job;
  job.in = cube_.data();
  job.out = lines_.data();
  job.cancelled = work.covariance && plan.config.canceller != Canceller::none ? cube_.data() : nullptr;
  job.canceller = tables_->canceller();
  job.window = tables_->doppler_window();
  job.line_count = plan.gate_count * channels;
  job.pulse_count = static_cast<std::uint32_t>(plan.shape.pulse_count);
  job.cancelled_pulse_count = static_cast<std::uint32_t>(plan.cancelled_pulse_count);
  job.out_length = static_cast<std::uint32_t>(plan.doppler_fft_length);
  launch_slow_time(job, stream);
  timer.stop();
}

void Lane::enqueue_covariance() {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  StageTimer timer(*this, GpuStage::covariance, stream);
  CovarianceJob job;
  job.snapshots = cube_.data();
  job.packed_address = matrices_address_.device();
  job.gate_count = plan.gate_count;
  job.channel_count = plan.shape.channel_count;
  job.snapshot_count = plan.cancelled_pulse_count;
  job.line_stride = plan.shape.pulse_count;
  job.forward_backward = plan.config.covariance.forward_backward;
  job.loading = loading_.data();
  launch_covariance(job, stream);
  timer.stop();
}

void Lane::enqueue_doppler() {
  const ChainPlan& plan = tables_->plan();
  const cudaStream_t stream = stream_.get();
  const std::size_t channels = plan.shape.channel_count;
  StageTimer timer(*this, GpuStage::doppler, stream);
  doppler_fft_.forward(lines_.data(), lines_.data());
  if (tables_->odd_doppler())
    launch_rotate_lines(lines_.data(), cube_.data(), plan.gate_count * channels,
                        static_cast<std::uint32_t>(plan.doppler_fft_length), stream);
  launch_integrate_power(spectra(), power_.data(), plan.gate_count, channels, plan.doppler_fft_length, stream);
  timer.stop();
}

SnapshotJob Lane::snapshot_job() const {
  const ChainPlan& plan = tables_->plan();
  SnapshotJob job;
  if (!plan.angles_possible) return job;
  job.cube = spectra();
  job.gate_count = static_cast<std::uint32_t>(plan.gate_count);
  job.channel_count = static_cast<std::uint32_t>(plan.shape.channel_count);
  job.bin_count = static_cast<std::uint32_t>(plan.doppler_fft_length);
  job.reach = static_cast<std::uint32_t>(tables_->angle_reach());
  job.capacity = static_cast<std::uint32_t>(snapshot_capacity_);
  job.out = snapshots_.device();
  return job;
}

void Lane::enqueue_detection() {
  const cudaStream_t stream = stream_.get();
  StageTimer timer(*this, GpuStage::detection, stream);
  CfarJob cfar = tables_->cfar_job();
  cfar.power = power_.data();
  cfar.scale_of_count = scales_.data();
  cfar.hits = hits_.data();
  launch_cfar(cfar, stream);
  CompactJob compact;
  compact.cfar = cfar;
  compact.every_alarm_is_peak = !tables_->plan().config.grouping.enabled;
  compact.alarm_capacity = static_cast<std::uint32_t>(alarms_.size());
  compact.block_counts = block_counts_.data();
  compact.alarms = alarms_.device();
  compact.counts = alarm_counts_.device();
  compact.snapshots = snapshot_job();
  launch_compact(compact, stream);
  timer.stop();
}

std::span<const DeviceAlarm> Lane::alarms() const {
  return {alarms_.host(), std::min<std::size_t>(alarm_counts().alarm_count, alarms_.size())};
}

void Lane::gather(std::span<const int2> cells, cudaStream_t stream) {
  std::copy(cells.begin(), cells.end(), cells_.host());
  launch_gather_snapshots(snapshot_job(), cells_.device(), static_cast<std::uint32_t>(cells.size()), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void Lane::add_stage_times(std::span<double, kGpuStageCount> seconds) const {
  for (std::size_t stage = 0; stage < kGpuStageCount; ++stage)
    if (stage_spans_[stage].used) seconds[stage] += stage_spans_[stage].end.seconds_since(stage_spans_[stage].begin);
}

}  // namespace cornerturn::cuda
