#include "kernels/chain/lane.h"

#include <algorithm>
#include <utility>

#include "dsp/chain/product_catalogue.h"
#include "dsp/stage/covariance.h"
#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {
namespace {

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
      done_(Event::Kind::order),
      clock_(options.measure_stages) {
  allocate();
  plan_transforms();
  set_light(light_parameters(tables_->plan().config));
  if (!clock_.enabled()) capture_graphs();
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
  if (tables_->has_range_transform() && !tables_->fuses_matched_filter())
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

  clock_.start(GpuStage::copy_out, stream);
  const auto copy_out = [&](void* target, const void* source, std::size_t bytes) {
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  };
  if (work.covariance && in_place == nullptr) copy_out(targets.covariance, covariance_.data(), covariance_.bytes());
  if (targets.map != nullptr) copy_out(targets.map, power_.data(), power_.bytes());
  if (targets.doppler_cube != nullptr)
    copy_out(targets.doppler_cube, spectra(), product_bytes(plan, ProductKind::doppler_cube));
  clock_.stop(GpuStage::copy_out, stream);
  done_.record(stream);
}

std::span<const DeviceAlarm> Lane::alarms() const {
  return {alarms_.host(), std::min<std::size_t>(alarm_counts().alarm_count, alarms_.size())};
}

void Lane::gather(std::span<const int2> cells, cudaStream_t stream) {
  std::copy(cells.begin(), cells.end(), cells_.host());
  launch_gather_snapshots(snapshot_job(), cells_.device(), static_cast<std::uint32_t>(cells.size()), stream);
  synchronize_stream(stream);
}

}  // namespace cornerturn::cuda
