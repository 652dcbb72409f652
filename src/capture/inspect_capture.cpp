#include "src/capture/inspect_capture.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "dsp/math/fft_plan.h"
#include "dsp/math/window.h"
#include "dsp/stage/unpack.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/units.h"
#include "src/capture/scratch_slot.h"

namespace cornerturn {
namespace {

/// Sums over the samples of one channel.
struct ChannelSums {
  double i = 0.0;
  double q = 0.0;
  double power = 0.0;
  double peak = 0.0;
  std::uint64_t count = 0;
};

/// Mean power spectrum along fast time of some lines.
class RangeSpectrum {
 public:
  explicit RangeSpectrum(std::size_t length)
      : plan_(FftPlan::forward(length)),
        window_(make_window({WindowKind::hann}, length)),
        in_(length),
        out_(length),
        power_(length, 0.0) {}

  void add(std::span<const std::complex<float>> line) {
    std::complex<float> mean{};
    for (const auto value : line) mean += value;
    mean /= static_cast<float>(line.size());
    for (std::size_t n = 0; n < line.size(); ++n) in_[n] = (line[n] - mean) * static_cast<float>(window_[n]);
    plan_.execute(std::span<const std::complex<float>>(in_.span()), out_.span());
    for (std::size_t k = 0; k < power_.size(); ++k) power_[k] += std::norm(out_[k]);
  }

  /// Energy above the median in [first, last).
  double energy(std::size_t first, std::size_t last) const {
    std::vector<double> sorted = power_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    double sum = 0.0;
    for (std::size_t k = first; k < last; ++k) sum += std::max(0.0, power_[k] - *middle);
    return sum;
  }

 private:
  FftPlan plan_;
  std::vector<double> window_;
  AlignedBuffer<std::complex<float>> in_;
  AlignedBuffer<std::complex<float>> out_;
  std::vector<double> power_;
};

/// Largest magnitude that the receiver can give: stated, or that of the integer type; 0: no limit is known.
double full_scale(const CaptureInfo& info) {
  if (info.radar.full_scale_counts > 0.0) return info.radar.full_scale_counts;
  switch (info.layout.format) {
    case SampleFormat::float32:
    case SampleFormat::float64:
      return 0.0;
    default:
      return std::exp2(bits_per_scalar(info.layout.format) - 1);
  }
}

class Inspector {
 public:
  explicit Inspector(const CaptureInfo& info)
      : info_(info),
        unpacker_(info.layout, info.shape.sample_count, DcRemoval::none, {}),
        line_(info.shape.sample_count),
        sums_(info.shape.channel_count),
        full_scale_(full_scale(info)) {
    constexpr std::size_t kShortestSpectrum = 16;
    if (info.radar.waveform.kind == WaveformKind::fmcw && info.layout.complex_samples &&
        info.shape.sample_count >= kShortestSpectrum)
      spectrum_.emplace_back(info.shape.sample_count);
  }

  void add(const RawCpi& cpi) {
    for (const RawSegment& segment : cpi.segments)
      for (std::size_t pulse = 0; pulse < segment.pulse_count; ++pulse)
        for (std::size_t channel = 0; channel < info_.shape.channel_count; ++channel)
          add_line({segment.bytes.data(), pulse, segment.first_pulse + pulse, channel, cpi.header.gaps});
    ++result_.cpis_read;
  }

  CaptureInspection finish() {
    result_.image_ratio_db = std::numeric_limits<double>::quiet_NaN();
    for (const ChannelSums& sums : sums_) {
      const double count = static_cast<double>(std::max<std::uint64_t>(sums.count, 1));
      ChannelFigures figures;
      figures.mean_i = sums.i / count;
      figures.mean_q = sums.q / count;
      figures.peak = sums.peak;
      figures.rms = std::sqrt(
          std::max(0.0, sums.power / count - figures.mean_i * figures.mean_i - figures.mean_q * figures.mean_q));
      result_.channels.push_back(figures);
    }
    doubt_dead_channels();
    doubt_levels();
    doubt_image_band();
    return std::move(result_);
  }

 private:
  void add_line(const RawLine& line) {
    LineQuality quality;
    unpacker_.process(line, line_, quality);
    ChannelSums& sums = sums_[line.channel];
    for (const std::complex<float> value : line_) {
      const double i = value.real();
      const double q = value.imag();
      sums.i += i;
      sums.q += q;
      sums.power += i * i + q * q;
      const double largest = std::max(std::abs(i), std::abs(q));
      sums.peak = std::max(sums.peak, largest);
      // A converter's range is -F ... F - 1.
      if (full_scale_ > 0.0 && largest >= full_scale_ - 1.0) ++result_.full_scale_samples;
      if (full_scale_ > 0.0 && largest >= 0.9 * full_scale_) ++near_full_scale_;
    }
    sums.count += line_.size();
    result_.samples += line_.size();
    result_.masked_samples += quality.masked_samples;
    if (!spectrum_.empty()) spectrum_.front().add(line_);
  }

  void doubt_dead_channels() {
    if (result_.samples == 0) return;
    std::string dead;
    for (std::size_t channel = 0; channel < result_.channels.size(); ++channel)
      if (result_.channels[channel].rms == 0.0) dead += fmt::format("{}{}", dead.empty() ? "" : ", ", channel);
    if (!dead.empty())
      result_.doubts.push_back({"channels without a signal", fmt::format("all samples of channel {} are equal", dead),
                                "check which receivers were switched on, and the channel axis; with them in the mean "
                                "over channels there are "
                                "more false alarms than Pfa says"});
  }

  void doubt_levels() {
    const auto part = [&](std::uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(result_.samples, 1));
    };
    constexpr double kWildPart = 0.2;
    constexpr double kClippedPart = 1e-4;
    if (part(near_full_scale_) > kWildPart)
      result_.doubts.push_back({"samples jump between the ends of their range",
                                fmt::format("{:.0f} % lie in the outer tenth", 100.0 * part(near_full_scale_)),
                                "check type (offset binary is uint16), byte order and where the samples begin"});
    else if (part(result_.full_scale_samples) > kClippedPart)
      result_.doubts.push_back(
          {"the receiver was overdriven",
           fmt::format("{} of {} samples at full scale", result_.full_scale_samples, result_.samples),
           "lower the gain; weak targets may be ghosts of strong ones"});
    if (result_.masked_samples > 0)
      result_.doubts.push_back({"samples are missing or not numbers",
                                fmt::format("{} of {} are NaN, Inf or gaps", result_.masked_samples, result_.samples),
                                "they are taken as zero and counted"});
    constexpr double kLargeOffset = 10.0;
    for (const ChannelFigures& figures : result_.channels) {
      const double offset = std::hypot(figures.mean_i, figures.mean_q);
      if (info_.radar.waveform.kind != WaveformKind::fmcw || figures.rms == 0.0 || offset < kLargeOffset * figures.rms)
        continue;
      result_.doubts.push_back({"the samples lie around a large constant",
                                fmt::format("mean {:.6g}, {:.3g} times their spread", offset, offset / figures.rms),
                                "give that mean as samples.zero_level, or set input.dc_removal"});
      return;
    }
  }

  void doubt_image_band() {
    if (spectrum_.empty() || result_.samples == 0) return;
    const std::size_t length = info_.shape.sample_count;
    constexpr std::size_t kLeakage = 4;  // bins around zero that the window smears DC over
    const double lower = spectrum_.front().energy(kLeakage, length / 2);
    const double upper = spectrum_.front().energy(length / 2 + 1, length - kLeakage + 1);
    if (lower <= 0.0 || upper <= 0.0) return;
    // Of a falling ramp the beat frequencies are negative.
    result_.image_ratio_db = (info_.radar.waveform.slope_hz_per_s < 0.0 ? -1.0 : 1.0) * power_to_db(lower / upper);
    constexpr double kSwapped_db = -6.0;
    if (result_.image_ratio_db > kSwapped_db) return;
    result_.doubts.push_back(
        {"I and Q look swapped: the echoes lie in the image band, far ranges for near targets",
         fmt::format("upper half of the range spectrum {:.1f} dB above the lower half", -result_.image_ratio_db),
         "take the opposite order (iiqq and qqii, iq and qi)"});
  }

  const CaptureInfo& info_;
  Unpacker unpacker_;
  std::vector<std::complex<float>> line_;
  std::vector<ChannelSums> sums_;
  double full_scale_;
  std::uint64_t near_full_scale_ = 0;
  std::vector<RangeSpectrum> spectrum_;  // one or none
  CaptureInspection result_;
};

}  // namespace

Expected<CaptureInspection> inspect_capture(CaptureSource& source, std::size_t max_cpis) {
  const CaptureInfo& info = source.info();
  Inspector inspector(info);
  if (info.live || info.cpi_count == 0) return inspector.finish();
  ScratchSlot slot(info.slot_bytes);
  const std::size_t reads = std::min(max_cpis, info.cpi_count);
  for (std::size_t i = 0; i < reads; ++i) {
    const std::size_t cpi = reads > 1 ? i * (info.cpi_count - 1) / (reads - 1) : 0;
    if (auto done = source.seek(cpi); !done) return unexpected(done.error());
    WriteLease lease = slot.write();
    const auto filled = source.fill(lease);
    if (!filled) return unexpected(filled.error());
    if (*filled == CaptureSource::Fill::end) break;
    lease.commit();
    inspector.add(slot.cpi());
  }
  if (auto done = source.seek(0); !done) return unexpected(done.error());
  return inspector.finish();
}

}  // namespace cornerturn
