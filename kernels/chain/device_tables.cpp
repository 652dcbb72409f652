#include "kernels/chain/device_tables.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "dsp/stage/sample_codec.h"
#include "dsp/theory/cfar_factor.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cufft_plan.h"
#include "kernels/cuda/stream.h"

namespace cornerturn::cuda {
namespace {

template <typename T, typename Source> DeviceBuffer<T> upload(const std::vector<Source>& values) {
  static_assert(sizeof(T) == sizeof(Source));
  DeviceBuffer<T> buffer(values.size());
  if (!values.empty())
    check(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return buffer;
}

DeviceLayout device_layout(const RawLayout& layout) {
  DeviceLayout device;
  device.format = static_cast<DeviceLayout::Format>(layout.format);
  static_assert(static_cast<int>(DeviceLayout::Format::float64) == static_cast<int>(SampleFormat::float64));
  static_assert(static_cast<int>(DeviceLayout::Format::int12_packed) == static_cast<int>(SampleFormat::int12_packed));
  device.swap_bytes = layout.big_endian != (std::endian::native == std::endian::big);
  device.complex_samples = layout.complex_samples;
  device.zero_level = layout.zero_level;
  device.offset = layout.offset;
  device.pulse_stride = layout.pulse_stride;
  device.channel_stride = layout.channel_stride;
  const auto clipped = [](std::size_t count) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(count, UINT32_MAX));
  };
  device.channels_per_group = clipped(layout.channels_per_group);
  device.channel_group_stride = layout.channel_group_stride;
  device.samples_per_group = clipped(layout.samples_per_group);
  device.group_stride = layout.group_stride;
  device.sample_stride = layout.sample_stride;
  device.i_offset = layout.i_offset;
  device.q_offset = layout.q_offset;
  const FormatEnds ends = format_ends(layout);
  device.lowest = ends.lowest;
  device.highest = ends.highest;
  return device;
}

}  // namespace

DeviceTables::DeviceTables(std::shared_ptr<const ChainPlan> plan)
    : plan_(std::move(plan)),
      layout_(device_layout(plan_->layout)),
      real_transform_(plan_->radar.waveform.kind == WaveformKind::fmcw && !plan_->layout.complex_samples),
      line_length_(has_range_transform() ? plan_->range_fft_length : plan_->shape.sample_count),
      profile_length_(real_transform_ ? line_length_ / 2 + 1 : line_length_),
      range_window_(upload<float>(plan_->range_window)),
      calibration_(upload<float2>(plan_->radar.channel_calibration)) {
  std::vector<float> weights = plan_->doppler_window;
  // exp(j 2 pi (L/2) p / L) = (-1)^p: for even L the window carries the shift of zero Doppler to L/2.
  if (!odd_doppler())
    for (std::size_t pulse = 1; pulse < weights.size(); pulse += 2) weights[pulse] = -weights[pulse];
  doppler_window_ = upload<float>(weights);
  if (has_matched_filter()) {
    fused_length_ = matched_filter_length(plan_->shape.sample_count);
    make_replica_spectrum();
  }
  make_cfar();
}

UnpackJob DeviceTables::unpack_job() const {
  UnpackJob job;
  job.layout = layout_;
  job.channel_count = static_cast<std::uint32_t>(plan_->shape.channel_count);
  job.sample_count = static_cast<std::uint32_t>(plan_->shape.sample_count);
  job.pulse_count = static_cast<std::uint32_t>(plan_->shape.pulse_count);
  job.remove_dc = plan_->config.input.dc_removal == DcRemoval::per_pulse;
  job.calibration = real_transform_ ? nullptr : calibration_.data();
  job.window = range_window_.data();
  job.real_output = real_transform_;
  job.line_length = line_length_;
  return job;
}

DeviceCanceller DeviceTables::canceller() const {
  switch (plan_->config.canceller) {
    case Canceller::none:
      return DeviceCanceller::none;
    case Canceller::mean:
      return DeviceCanceller::mean;
    case Canceller::two_pulse:
      return DeviceCanceller::two_pulse;
    case Canceller::three_pulse:
      return DeviceCanceller::three_pulse;
  }
  return DeviceCanceller::none;
}

MatchedFilterJob DeviceTables::matched_filter_job(float2* lines) const {
  MatchedFilterJob job;
  job.lines = lines;
  job.in_stride = line_length_;
  job.line_count = line_count();
  job.sample_count = static_cast<std::uint32_t>(plan_->shape.sample_count);
  job.length = static_cast<std::uint32_t>(fused_length_);
  job.spectrum = replica_spectrum_.data();
  job.twiddles = twiddles_.data();
  job.out = lines + plan_->first_gate;
  job.out_stride = line_length_;
  job.first_output = static_cast<std::uint32_t>(plan_->first_gate);
  job.output_count = static_cast<std::uint32_t>(plan_->gate_count);
  return job;
}

// conj(FFT(replica)) / L in double precision: a table's rounding would be in every line.
void DeviceTables::make_replica_spectrum() {
  const std::size_t length = fuses_matched_filter() ? fused_length_ : line_length_;
  std::vector<std::complex<double>> values(length);
  std::copy(plan_->matched_replica.begin(), plan_->matched_replica.end(), values.begin());
  static_assert(sizeof(std::complex<double>) == sizeof(double2));
  const DeviceBuffer<double2> line = upload<double2>(values);
  const CufftPlan fft(CufftPlan::Kind::double_complex, length, 1);
  const DeviceBuffer<std::byte> work(fft.work_bytes());
  const Stream stream(Priority::normal);
  fft.use(work.data(), stream.get());
  fft.forward(line.data(), line.data());
  stream.synchronize();
  check(cudaMemcpy(values.data(), line.data(), line.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (std::complex<double>& value : values) value = std::conj(value) / static_cast<double>(length);
  if (fuses_matched_filter()) {
    replica_spectrum_ = upload<float2>(matched_filter_spectrum(values));
    twiddles_ = upload<float2>(matched_filter_twiddles(length));
  } else {
    replica_spectrum_ = upload<float2>(std::vector<std::complex<float>>(values.begin(), values.end()));
  }
}

void DeviceTables::make_cfar() {
  const ChainConfig::Cfar& config = plan_->config.cfar;
  const std::size_t gates = plan_->gate_count;
  const std::size_t bins = plan_->doppler_fft_length;
  cfar_.gate_count = static_cast<std::uint32_t>(gates);
  cfar_.bin_count = static_cast<std::uint32_t>(bins);
  cfar_.doppler_wraps = config.doppler_wraps;
  // The same limits as those of dsp/stage/cfar.
  if (config.axes != CfarAxes::doppler) {
    cfar_.guard_range = static_cast<std::uint32_t>(std::min(config.guard_range, gates));
    cfar_.train_range = static_cast<std::uint32_t>(std::min(config.train_range, gates));
  }
  if (config.axes != CfarAxes::range) {
    const std::size_t half = config.doppler_wraps ? (bins - 1) / 2 : bins;
    cfar_.guard_doppler = static_cast<std::uint32_t>(std::min(config.guard_doppler, half));
    cfar_.train_doppler = static_cast<std::uint32_t>(
        std::min(config.train_doppler, config.doppler_wraps ? half - cfar_.guard_doppler : half));
  }
  const std::size_t range_reach = cfar_.train_range + cfar_.guard_range;
  const std::size_t doppler_reach = cfar_.train_doppler + cfar_.guard_doppler;
  scale_count_ = (2 * range_reach + 1) * (2 * doppler_reach + 1) + 1;

  // Counts that occur: every clipped width along range against every clipped width along Doppler.
  const auto width = [](std::size_t index, std::size_t count, std::size_t reach, bool wraps) {
    return wraps ? 2 * reach + 1 : std::min(index + reach, count - 1) - (index - std::min(index, reach)) + 1;
  };
  std::vector<bool> used(scale_count_);
  std::pair<std::size_t, std::size_t> previous_gate(0, 0);
  for (std::size_t gate = 0; gate < gates; ++gate) {
    const std::size_t near = width(gate, gates, cfar_.guard_range, false);
    const std::size_t all = width(gate, gates, range_reach, false);
    if (std::exchange(previous_gate, {near, all}) == std::pair(near, all)) continue;
    std::pair<std::size_t, std::size_t> previous_bin(0, 0);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::size_t guard = width(bin, bins, cfar_.guard_doppler, config.doppler_wraps);
      const std::size_t window = width(bin, bins, doppler_reach, config.doppler_wraps);
      if (std::exchange(previous_bin, {guard, window}) == std::pair(guard, window)) continue;
      used[(all - near) * window + near * (window - guard)] = true;
    }
  }
  for (std::size_t count = 1; count < scale_count_; ++count)
    if (used[count]) used_counts_.push_back(count);
}

void DeviceTables::fill_scales(double pfa, float* scales) const {
  // Without training cells the sum is 0 and 0 times no number is no number, which no power exceeds.
  std::fill_n(scales, scale_count_, std::numeric_limits<float>::quiet_NaN());
  for (const std::size_t count : used_counts_)
    scales[count] =
        static_cast<float>(ca_cfar_factor(pfa, count, plan_->shape.channel_count) / static_cast<double>(count));
}

}  // namespace cornerturn::cuda
