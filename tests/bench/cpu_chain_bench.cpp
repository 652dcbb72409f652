// The product's side of run_cpu_bench: cpu_chain_bench THREADS CHANNELS PULSES SAMPLES REPLICA INPUT
// For each word on standard input one line is printed: "chain" and "fft" answer with milliseconds, "stages" with the
// mean time of each stage, "map FILE" writes the map of the last CPI.
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/math/fft_plan.h"
#include "dsp/math/thread_pool.h"
#include "dsp/vocabulary/aligned_buffer.h"

namespace {

using namespace cornerturn;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Slot final : SlotOwner<RawSlot> {
  void recycle(RawSlot&) noexcept override {}
  RawSlot raw;
};

/// W1: LFM matched filter, three-pulse canceller, Doppler, integration, 2-D CA-CFAR, covariance per gate.
class Chain {
 public:
  Chain(std::size_t threads, const CpiShape& shape, std::size_t replica, const std::string& input_path) {
    std::ifstream file(input_path, std::ios::binary);
    input_.assign(std::istreambuf_iterator<char>(file), {});
    RadarDescription radar;
    radar.waveform.kind = WaveformKind::pulse;
    radar.waveform.carrier_hz = 10e9;
    radar.waveform.sample_rate_hz = 10e6;
    radar.waveform.pri_s = 1e-3;
    radar.waveform.bandwidth_hz = 8e6;
    radar.waveform.pulse_width_s = static_cast<double>(replica) / 10e6;
    ChainConfig config;
    config.canceller = Canceller::three_pulse;
    config.cfar.pfa = 1e-6;
    const RawLayout layout = make_contiguous_layout(shape, SampleFormat::int16, IqOrder::iq);
    backend_ = std::move(
        make_cpu_backend(make_chain_plan(radar, layout, shape, config).value(), {.threads = threads}).value());
    slot_.raw.owner = &slot_;
    slot_.raw.cpi.segments = {{std::as_bytes(std::span(input_)), 0, shape.pulse_count}};
    slot_.raw.set_write_state(1);
    request_.light = light_parameters(config);
  }

  double run_ms(bool with_covariance) {
    request_.products.covariance = with_covariance;
    result_.release();
    slot_.raw.holders = 1;
    const auto start = Clock::now();
    auto result = backend_->wait(backend_->enqueue(ReadLease::adopt(slot_.raw), request_));
    const double elapsed_ms = milliseconds_since(start);
    if (!result) std::abort();
    result_ = std::move(*result);
    ++runs_;
    return elapsed_ms;
  }
  void print_stages() const {
    for (const StageTime& stage : backend_->stage_times())
      std::cout << stage.stage << ": " << 1e3 * stage.seconds / static_cast<double>(runs_) << " ms; ";
    std::cout << std::endl;
  }
  void write_map(const std::string& path) const {
    const Product& map = *result_->result.find("range_doppler_power");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(map.bytes.data()), static_cast<std::streamsize>(map.bytes.size()));
    std::cout << "written" << std::endl;
  }
  const ChainPlan& plan() const { return backend_->plan(); }

 private:
  std::vector<char> input_;
  Slot slot_;
  std::unique_ptr<Backend> backend_;
  CpiRequest request_;
  ResultLease result_;
  std::size_t runs_ = 0;
};

/// The chain's transforms and nothing else: the same plans, as often, on as many threads, with data in cache.
class BareTransforms {
 public:
  BareTransforms(std::size_t threads, const ChainPlan& plan)
      : pool_(threads),
        forward_(FftPlan::forward(plan.range_fft_length)),
        inverse_(FftPlan::inverse(plan.range_fft_length)),
        doppler_(FftPlan::forward(plan.doppler_fft_length, plan.shape.channel_count)),
        line_count_(plan.shape.channel_count * plan.shape.pulse_count),
        gate_count_(plan.gate_count) {
    const std::size_t longest = std::max(forward_.length(), doppler_.length() * doppler_.batch());
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < pool_.thread_count(); ++i) {
      in_.emplace_back(longest);
      out_.emplace_back(longest);
      for (std::complex<float>& value : in_.back().span()) value = {normal(random), normal(random)};
    }
  }

  double run_ms() {
    const auto start = Clock::now();
    pool_.parallel_for(line_count_, 1, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      for (std::size_t line = begin; line < end; ++line) {
        execute(forward_, worker);
        execute(inverse_, worker);
      }
    });
    pool_.parallel_for(gate_count_, 4, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      for (std::size_t gate = begin; gate < end; ++gate) execute(doppler_, worker);
    });
    return milliseconds_since(start);
  }

 private:
  void execute(const FftPlan& plan, std::size_t worker) {
    const std::size_t count = plan.length() * plan.batch();
    plan.execute(std::as_const(in_[worker]).span().first(count), out_[worker].span().first(count));
  }

  ThreadPool pool_;
  FftPlan forward_;
  FftPlan inverse_;
  FftPlan doppler_;
  std::size_t line_count_;
  std::size_t gate_count_;
  std::vector<AlignedBuffer<std::complex<float>>> in_, out_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "usage: cpu_chain_bench THREADS CHANNELS PULSES SAMPLES REPLICA INPUT\n";
    return 2;
  }
  const auto number = [&](int i) { return static_cast<std::size_t>(std::stoul(argv[i])); };
  CpiShape shape;
  shape.channel_count = number(2);
  shape.pulse_count = number(3);
  shape.sample_count = number(4);
  Chain chain(number(1), shape, number(5), argv[6]);
  BareTransforms transforms(number(1), chain.plan());
  std::string word;
  while (std::cin >> word) {
    if (word == "chain") std::cout << chain.run_ms(true) << std::endl;
    if (word == "lean") std::cout << chain.run_ms(false) << std::endl;
    if (word == "fft") std::cout << transforms.run_ms() << std::endl;
    if (word == "stages") chain.print_stages();
    if (word == "map" && std::cin >> word) chain.write_map(word);
  }
}
