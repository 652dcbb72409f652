#include "dsp/simulate/echo_simulator.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "dsp/simulate/echo_line.h"
#include "dsp/simulate/random.h"
#include "dsp/simulate/receiver.h"
#include "dsp/simulate/scatterers.h"
#include "dsp/vocabulary/aligned_buffer.h"
#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

/// Adds weight * line to one channel's samples.
void add_complex(std::complex<float> weight, std::span<const float> line_real, std::span<const float> line_imag,
                 float* real, float* imag) {
  const float weight_real = weight.real();
  const float weight_imag = weight.imag();
  for (std::size_t sample = 0; sample < line_real.size(); ++sample) {
    real[sample] += weight_real * line_real[sample] - weight_imag * line_imag[sample];
    imag[sample] += weight_real * line_imag[sample] + weight_imag * line_real[sample];
  }
}

/// The same where only the real part is wanted.
void add_real(std::complex<float> weight, std::span<const float> line_real, std::span<const float> line_imag,
              float* real) {
  const float weight_real = weight.real();
  const float weight_imag = weight.imag();
  for (std::size_t sample = 0; sample < line_real.size(); ++sample)
    real[sample] += weight_real * line_real[sample] - weight_imag * line_imag[sample];
}

const Scene& require_valid(const Scene& scene) {
  CORNERTURN_REQUIRE(validate(scene).has_value());
  return scene;
}

}  // namespace

struct EchoSimulator::State {
  explicit State(Scene given)
      : scene(std::move(given)),
        line(require_valid(scene)),
        scatterers(scene),
        receiver(scene.receiver, scene.complex_samples),
        line_real(scene.shape.sample_count),
        line_imag(scene.shape.sample_count),
        pulse_real(scene.shape.channel_count * scene.shape.sample_count),
        pulse_imag(scene.complex_samples ? pulse_real.size() : 0),
        noise_i(scene.shape.sample_count),
        noise_q(scene.shape.sample_count) {}

  void fill_pulse(std::uint64_t cpi_index, std::size_t pulse, const std::vector<PointEcho>& echoes,
                  std::span<std::int16_t> samples);
  void add_echo(const PointEcho& echo, double time_s);

  Scene scene;
  EchoLine line;
  Scatterers scatterers;
  Receiver receiver;
  AlignedBuffer<float> line_real, line_imag;    // one scatterer; (sample)
  AlignedBuffer<float> pulse_real, pulse_imag;  // all scatterers; (channel, sample)
  AlignedBuffer<float> noise_i, noise_q;        // (sample)
};

void EchoSimulator::State::add_echo(const PointEcho& echo, double time_s) {
  const EchoSpan reached = line.fill(echo, time_s, line_real.span(), line_imag.span());
  const std::span<const float> real = line_real.span().first(reached.count);
  const std::span<const float> imag = line_imag.span().first(reached.count);
  for (std::size_t channel = 0; channel < scene.shape.channel_count; ++channel) {
    const auto weight =
        std::complex<float>(echo.amplitude_counts * std::complex<double>(echo.channel_response[channel]));
    const std::size_t start = channel * scene.shape.sample_count + reached.first;
    if (scene.complex_samples)
      add_complex(weight, real, imag, pulse_real.data() + start, pulse_imag.data() + start);
    else
      add_real(weight, real, imag, pulse_real.data() + start);
  }
}

void EchoSimulator::State::fill_pulse(std::uint64_t cpi_index, std::size_t pulse, const std::vector<PointEcho>& echoes,
                                      std::span<std::int16_t> samples) {
  std::ranges::fill(pulse_real.span(), 0.0F);
  std::ranges::fill(pulse_imag.span(), 0.0F);
  for (const PointEcho& echo : echoes) add_echo(echo, static_cast<double>(pulse) * scene.radar.waveform.pri_s);
  GaussianNoise noise(stream_key(scene.seed, DrawPurpose::noise, cpi_index, pulse));
  const std::size_t count = scene.shape.sample_count;
  const std::size_t scalars = count * (scene.complex_samples ? 2 : 1);
  for (std::size_t channel = 0; channel < scene.shape.channel_count; ++channel) {
    noise.fill(noise_i.span(), noise_q.span());
    const std::span<const float> real = pulse_real.span().subspan(channel * count, count);
    const std::span<const float> imag =
        scene.complex_samples ? pulse_imag.span().subspan(channel * count, count) : std::span<float>();
    receiver.digitise(real, imag, noise_i.span(), noise_q.span(), samples.subspan(channel * scalars, scalars));
  }
}

EchoSimulator::EchoSimulator(Scene scene) : state_(std::make_unique<State>(std::move(scene))) {}
EchoSimulator::~EchoSimulator() = default;
EchoSimulator::EchoSimulator(EchoSimulator&&) noexcept = default;
EchoSimulator& EchoSimulator::operator=(EchoSimulator&&) noexcept = default;

const Scene& EchoSimulator::scene() const { return state_->scene; }

RawLayout EchoSimulator::layout() const {
  return make_contiguous_layout(state_->scene.shape, SampleFormat::int16,
                                state_->scene.complex_samples ? IqOrder::iq : IqOrder::real);
}

std::size_t EchoSimulator::cpi_bytes() const {
  return state_->scene.shape.samples() * (state_->scene.complex_samples ? 2 : 1) * sizeof(std::int16_t);
}

double EchoSimulator::cpi_period_s() const { return cornerturn::cpi_period_s(state_->scene); }

void EchoSimulator::fill(std::uint64_t cpi_index, std::span<std::int16_t> samples) {
  CORNERTURN_REQUIRE(samples.size() == cpi_bytes() / sizeof(std::int16_t));
  const std::vector<PointEcho>& echoes = state_->scatterers.at_cpi(cpi_index);
  const std::size_t pulse_size = samples.size() / state_->scene.shape.pulse_count;
  for (std::size_t pulse = 0; pulse < state_->scene.shape.pulse_count; ++pulse)
    state_->fill_pulse(cpi_index, pulse, echoes, samples.subspan(pulse * pulse_size, pulse_size));
}

}  // namespace cornerturn
