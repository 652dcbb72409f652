// The way of raw samples into a lane.
#include <algorithm>
#include <utility>

#include "kernels/chain/lane.h"
#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {
namespace {

// A read over the link is saturated by a few blocks; the others are for the chain of the CPI before.
constexpr unsigned kIngestBlocks = 32;

}  // namespace

void Lane::clear_counters() {
  check(cudaMemsetAsync(sample_counters_.data(), 0, sample_counters_.bytes(), stream_.get()), "cudaMemsetAsync");
  check(cudaMemsetAsync(channel_has_signal_.data(), 0, channel_has_signal_.bytes(), stream_.get()), "cudaMemsetAsync");
}

void Lane::abandon(cudaStream_t ingest_stream) noexcept {
  raw_used_ = 0;
  pending_.clear();
  try {
    synchronize_stream(ingest_stream);
    stream_.synchronize();
    clear_counters();
    stream_.synchronize();
  } catch (const CudaError&) {
    // The device is lost: the next CPI says so.
  }
}

void Lane::begin(std::span<const GapInterval> gaps) {
  clock_.reset();
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
  // Filling a pulse's part moves its offset to the start of the next one's; then all are moved back by one.
  for (const GapInterval& gap : gaps)
    if (gap.pulse < pulses) gap_spans_.host()[offsets[gap.pulse]++] = {gap.first_sample, gap.sample_count};
  for (std::size_t pulse = pulses; pulse > 0; --pulse) offsets[pulse] = offsets[pulse - 1];
  offsets[0] = 0;
}

void Lane::ingest(const RawSegment& segment, const void* device_address, cudaStream_t shared_stream) {
  const cudaStream_t stream = ingest_stream(shared_stream);
  if (options_.traits.reads_in_place && device_address != nullptr) {
    clock_.start(GpuStage::unpack, stream);
    unpack(segment, device_address, stream);
    clock_.stop(GpuStage::unpack, stream);
    return;
  }
  clock_.start(GpuStage::copy_in, stream);
  // Segments may overlap in what they need of a strided layout, so each gets its own place, whole.
  const std::size_t needed = raw_used_ + (segment.bytes.size() + 255) / 256 * 256;
  if (raw_.size() < needed) {
    if (!pending_.empty()) stream_.synchronize();
    synchronize_stream(stream);
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
  clock_.stop(GpuStage::copy_in, stream);
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
  if (fuses_unpack()) {
    launch_raw_matched_filter(tables_->matched_filter_job(lines_.data()), job, stream);
  } else {
    launch_unpack(job, stream);
  }
}

void Lane::finish_ingest(cudaStream_t shared_stream) {
  const cudaStream_t stream = ingest_stream(shared_stream);
  input_read_.record(stream);
  if (stream != stream_.get()) input_read_.hold_back(stream_.get());
  if (pending_.empty()) return;
  clock_.start(GpuStage::unpack, stream_.get());
  for (const PendingSegment& pending : pending_) unpack(pending.segment, pending.address, stream_.get());
  clock_.stop(GpuStage::unpack, stream_.get());
  pending_.clear();
  raw_used_ = 0;
}

}  // namespace cornerturn::cuda
