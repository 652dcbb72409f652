// Runs one CPI through the CPU chain for the oracle: chain_dump CASE_DIR reads case.txt ("key value" lines), input.bin
// and, where present, replica.bin and calibration.bin, and writes each product as <name>.bin beside them.
#include <complex>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsp/chain/backend.h"
#include "dsp/stage/detection.h"

namespace {

using namespace cornerturn;

class Parameters {
 public:
  explicit Parameters(const std::string& path) {
    std::ifstream file(path);
    std::string key;
    std::string value;
    while (file >> key >> value) values_[key] = value;
  }
  std::string text(const std::string& key, const std::string& fallback) const {
    const auto found = values_.find(key);
    return found == values_.end() ? fallback : found->second;
  }
  double number(const std::string& key, double fallback) const {
    const auto found = values_.find(key);
    return found == values_.end() ? fallback : std::stod(found->second);
  }
  std::size_t size(const std::string& key, std::size_t fallback) const {
    return static_cast<std::size_t>(number(key, static_cast<double>(fallback)));
  }

 private:
  std::map<std::string, std::string> values_;
};

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::complex<float>> read_complex(const std::string& path) {
  const std::vector<char> bytes = read_file(path);
  std::vector<std::complex<float>> values(bytes.size() / sizeof(std::complex<float>));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

WindowSpec window_of(const Parameters& in, const std::string& key) {
  WindowSpec window;
  window.kind = parse_window_kind(in.text(key, "hann")).value();
  window.sidelobe_db = in.number(key + ".sidelobe_db", window.sidelobe_db);
  window.taylor_nbar = static_cast<int>(in.number(key + ".taylor_nbar", window.taylor_nbar));
  window.kaiser_beta = in.number(key + ".kaiser_beta", window.kaiser_beta);
  return window;
}

Canceller canceller_of(const std::string& word) {
  for (const Canceller canceller : {Canceller::mean, Canceller::two_pulse, Canceller::three_pulse})
    if (to_string(canceller) == word) return canceller;
  return Canceller::none;
}

ChainConfig config_of(const Parameters& in) {
  ChainConfig config;
  config.input.dc_removal = in.size("dc_removal", 0) != 0 ? DcRemoval::per_pulse : DcRemoval::none;
  config.range.window = window_of(in, "range_window");
  config.range.fft_length = in.size("range_fft_length", 0);
  config.range.min_m = in.number("min_m", 0.0);
  config.range.max_m = in.number("max_m", 0.0);
  config.canceller = canceller_of(in.text("canceller", "none"));
  config.doppler.window = window_of(in, "doppler_window");
  config.doppler.fft_length = in.size("doppler_fft_length", 0);
  for (const CfarAxes axes : {CfarAxes::range, CfarAxes::doppler, CfarAxes::range_doppler})
    if (to_string(axes) == in.text("cfar_axes", "range_doppler")) config.cfar.axes = axes;
  config.cfar.pfa = in.number("pfa", 1e-3);
  config.cfar.doppler_wraps = in.size("doppler_wraps", 1) != 0;
  config.grouping.enabled = false;  // each alarm is a detection: the oracle compares cells
  config.grouping.max_detections = 100'000;
  config.covariance.forward_backward = in.size("forward_backward", 0) != 0;
  config.covariance.loading = in.number("covariance_loading", 0.0);
  return config;
}

RadarDescription radar_of(const Parameters& in, const std::string& directory, std::size_t channels) {
  RadarDescription radar;
  Waveform& waveform = radar.waveform;
  waveform.kind = in.text("waveform", "fmcw") == "pulse" ? WaveformKind::pulse : WaveformKind::fmcw;
  waveform.carrier_hz = in.number("carrier_hz", 77e9);
  waveform.sample_rate_hz = in.number("sample_rate_hz", 10e6);
  waveform.pri_s = in.number("pri_s", 1e-4);
  waveform.slope_hz_per_s = in.number("slope_hz_per_s", 30e12);
  waveform.bandwidth_hz = in.number("bandwidth_hz", 0.0);
  waveform.pulse_width_s = in.number("pulse_width_s", 0.0);
  waveform.replica = read_complex(directory + "/replica.bin");
  radar.channel_calibration = read_complex(directory + "/calibration.bin");
  if (in.size("array", 0) != 0) radar.array = ArrayGeometry::uniform_line(channels, waveform.wavelength_m() / 2);
  return radar;
}

struct Slot final : SlotOwner<RawSlot> {
  void recycle(RawSlot&) noexcept override {}
  RawSlot raw;
};

template <typename T> Expected<T> report(Expected<T> value) {
  if (!value) std::cerr << value.error().message() << "\n";
  return value;
}

int run(const std::string& directory) {
  const Parameters in(directory + "/case.txt");
  CpiShape shape;
  shape.channel_count = in.size("channels", 1);
  shape.pulse_count = in.size("pulses", 1);
  shape.sample_count = in.size("samples", 1);
  RawLayout layout = make_contiguous_layout(shape, parse_sample_format(in.text("format", "float32")).value(),
                                            parse_iq_order(in.text("order", "iq")).value());
  layout.zero_level = in.number("zero_level", layout.zero_level);
  const ChainConfig config = config_of(in);

  auto plan = report(make_chain_plan(radar_of(in, directory, shape.channel_count), layout, shape, config));
  if (!plan) return 1;
  auto backend = report(make_cpu_backend(std::move(*plan), {.threads = 2}));
  if (!backend) return 1;

  std::vector<char> input = read_file(directory + "/input.bin");
  Slot slot;
  slot.raw.owner = &slot;
  slot.raw.holders = 1;
  slot.raw.cpi.segments = {{std::as_bytes(std::span(input)), 0, shape.pulse_count}};
  slot.raw.set_write_state(1);
  CpiRequest request;
  request.products = {true, true, true, true, true};
  request.light = light_parameters(config);
  auto result = report((*backend)->wait((*backend)->enqueue(ReadLease::adopt(slot.raw), request)));
  if (!result) return 1;
  for (const Product& product : (*result)->result.products) {
    std::ofstream file(directory + "/" + product.name + ".bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(product.bytes.data()),
               static_cast<std::streamsize>(product.element_count() * size_of(product.type)));
    if (!file) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: chain_dump CASE_DIR\n";
    return 2;
  }
  return run(argv[1]);
}
