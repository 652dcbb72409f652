#include <array>

#include <gtest/gtest.h>

#include "src/capture/open_capture.h"
#include "src/support/hdf5.h"
#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

constexpr const char* kFmcw = R"(
[radar]
sensor = "bench"
[waveform]
kind = "fmcw"
carrier_hz = 77e9
slope_hz_per_s = 30e12
sample_rate_hz = 10e6
pri_s = 1e-4
)";

std::unique_ptr<CaptureSource> open_or_fail(const std::string& path, const CaptureOptions& options = {}) {
  auto source = open_capture(path, options);
  if (!source) ADD_FAILURE() << source.error().message();
  return source ? std::move(*source) : nullptr;
}

TEST(ArrayCapture, ReadsOffsetBinaryFramesWithTheirZeroLevel) {
  const CaptureFolder folder;
  const auto values = counted<std::uint16_t>(2 * 3 * 4 * 8, 2000);
  write_npy(folder / "a.npy", "<u2", "2, 3, 4, 8", std::as_bytes(std::span(values)));
  write_text(folder / "a.npy.cornerturn.toml",
             std::string("[samples]\naxes = [\"frame\", \"channel\", \"pulse\", \"sample\"]\nzero_level = 2048\n"
                         "[cpi]\nframe_period_s = 0.05\n") +
                 kFmcw);
  const auto source = open_or_fail(folder / "a.npy");
  EXPECT_EQ(source->info().shape, (CpiShape{3, 4, 8}));
  EXPECT_FALSE(source->info().layout.complex_samples);
  EXPECT_DOUBLE_EQ(source->info().cpi_period_s, 0.05);
  EXPECT_EQ(source->info().radar.sensor, "bench");
  CpiHeader header;
  ASSERT_FALSE(next_samples(*source).empty());
  const auto samples = next_samples(*source, &header);  // (pulse, channel, sample)
  EXPECT_EQ(header.index, 1U);
  EXPECT_DOUBLE_EQ(header.start_time_s, 0.05);
  for (std::size_t pulse = 0; pulse < 4; ++pulse)
    for (std::size_t channel = 0; channel < 3; ++channel)
      for (std::size_t sample = 0; sample < 8; ++sample)
        EXPECT_EQ(samples[(pulse * 3 + channel) * 8 + sample].real(),
                  static_cast<float>(2000 + 96 + (channel * 4 + pulse) * 8 + sample) - 2048.0F);
  EXPECT_TRUE(next_samples(*source).empty());
  ASSERT_TRUE(source->seek(0));
  EXPECT_FALSE(next_samples(*source).empty());
  const auto beyond = source->seek(2);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, ErrorKind::usage);
}

TEST(ArrayCapture, FortranBigEndianAndSegmentsGiveTheSameSamples) {
  const CaptureFolder folder;
  // value = frame * 1000 + channel * 100 + pulse * 10 + sample, in C order little-endian and Fortran order big-endian
  std::vector<std::int16_t> c_order;
  for (int f = 0; f < 4; ++f)
    for (int c = 0; c < 2; ++c)
      for (int p = 0; p < 3; ++p)
        for (int s = 0; s < 5; ++s) c_order.push_back(static_cast<std::int16_t>(f * 1000 + c * 100 + p * 10 + s));
  std::vector<std::int16_t> fortran;
  for (int s = 0; s < 5; ++s)
    for (int p = 0; p < 3; ++p)
      for (int c = 0; c < 2; ++c)
        for (int f = 0; f < 4; ++f) {
          const auto value = static_cast<std::uint16_t>(f * 1000 + c * 100 + p * 10 + s);
          fortran.push_back(static_cast<std::int16_t>(static_cast<std::uint16_t>(value << 8 | value >> 8)));
        }
  write_npy(folder / "c.npy", "<i2", "4, 2, 3, 5", std::as_bytes(std::span(c_order)));
  write_npy(folder / "f.npy", ">i2", "4, 2, 3, 5", std::as_bytes(std::span(fortran)), true);
  write_text(folder / "s.toml",
             std::string("[samples]\naxes = [\"frame\", \"channel\", \"pulse\", \"sample\"]\n") + kFmcw);
  for (const std::size_t pulses : {0U, 1U, 3U, 6U, 12U}) {
    const auto c = open_or_fail(folder / "c.npy", {folder / "s.toml", {}, pulses});
    const auto f = open_or_fail(folder / "f.npy", {folder / "s.toml", {}, pulses});
    ASSERT_EQ(c->info().cpi_count, f->info().cpi_count);
    for (std::size_t cpi = 0; cpi < c->info().cpi_count; ++cpi) {
      const auto samples = next_samples(*c);
      ASSERT_EQ(samples, next_samples(*f)) << pulses;
      const std::size_t per_cpi = c->info().shape.pulse_count;
      for (std::size_t pulse = 0; pulse < per_cpi; ++pulse) {
        const std::size_t global = cpi * per_cpi + pulse;
        const std::size_t expected = global / 3 * 1000 + 100 + global % 3 * 10 + 4;
        ASSERT_EQ(samples[(pulse * 2 + 1) * 5 + 4].real(), static_cast<float>(expected));
      }
    }
  }
}

TEST(ArrayCapture, TakesIAndQFromTwoDatasets) {
  const CaptureFolder folder;
  const auto i = counted<float>(4 * 6, 1.0F);
  const auto q = counted<float>(4 * 6, -50.0F);
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    const std::array<hsize_t, 2> shape{4, 6};
    h5::write_vector<float>(file.id(), "I", shape, i);
    h5::write_vector<float>(file.id(), "Q", shape, q);
  }
  write_text(
      folder / "s.toml",
      std::string("[file]\ndatasets = [\"I\", \"Q\"]\n[samples]\naxes = [\"pulse\", \"sample\"]\n[cpi]\npulses = 2\n") +
          kFmcw);
  const auto source = open_or_fail(folder / "a.h5", {folder / "s.toml", {}, 0});
  EXPECT_EQ(source->info().cpi_count, 2U);
  next_samples(*source);
  const auto samples = next_samples(*source);
  for (std::size_t n = 0; n < samples.size(); ++n) EXPECT_EQ(samples[n], std::complex<float>(i[12 + n], q[12 + n]));
}

TEST(ArrayCapture, ReadsRawBytesWithSizesThatDoNotFitAsDoubts) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(3 * 2 * 16 + 5));
  const auto sidecar = [&](const std::string& rows) {
    write_text(folder / "s.toml",
               "[samples]\naxes = [\"pulse\", \"channel\", \"sample\"]\ntype = \"int16\"\niq = \"iq\"\nshape = [" +
                   rows + ", 2, 8]\n" + kFmcw);
    return CaptureOptions{folder / "s.toml", {}, 0};
  };
  const auto open_ended = open_or_fail(folder / "a.bin", sidecar("0"));
  EXPECT_EQ(open_ended->info().shape.pulse_count, 3U);
  ASSERT_EQ(open_ended->info().doubts.size(), 1U);
  EXPECT_NE(open_ended->info().doubts[0].evidence.find("10 bytes more"), std::string::npos);
  EXPECT_EQ(next_samples(*open_ended)[17], std::complex<float>(34.0F, 35.0F));

  EXPECT_EQ(open_or_fail(folder / "a.bin", sidecar("2"))->info().doubts.size(), 1U);
  const auto too_long = open_capture(folder / "a.bin", sidecar("6"));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, ErrorKind::input);
  EXPECT_NE(too_long.error().message().find("202 bytes on disk, 384 expected"), std::string::npos)
      << too_long.error().message();
}

struct Fault {
  std::string replace;  // in the good sidecar ...
  std::string by;       // ... by this
  std::string message;  // a part of "file:line:key: what; remedy"
};

class SidecarFault : public testing::TestWithParam<Fault> {};

TEST_P(SidecarFault, IsToldWithFileLineAndKey) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(4 * 2 * 8));
  std::string text = R"([samples]
axes = ["pulse", "channel", "sample"]
type = "int16"
shape = [4, 2, 8]
[cpi]
pulses = 4
[waveform]
kind = "fmcw"
carrier_hz = 77e9
slope_hz_per_s = 30e12
sample_rate_hz = 10e6
pri_s = 1e-4
[array]
spacing_m = 0.002
)";
  write_text(folder / "s.toml", text);
  ASSERT_TRUE(open_capture(folder / "a.bin", {folder / "s.toml", {}, 0}));
  const std::size_t at = text.find(GetParam().replace);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, GetParam().replace.size(), GetParam().by);
  write_text(folder / "s.toml", text);
  const auto source = open_capture(folder / "a.bin", {folder / "s.toml", {}, 0});
  ASSERT_FALSE(source);
  const std::string line = source.error().message();
  EXPECT_NE(line.find("s.toml:" + GetParam().message), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, SidecarFault,
    testing::Values(
        Fault{"\"pulse\", \"channel\"", "\"chirp\", \"channel\"", "2:samples.axes: \"chirp\" is no axis"},
        Fault{"\"pulse\", \"channel\", ", "\"pulse\", ", "4:samples.shape: has 3 numbers for 2 axes"},
        Fault{"\"int16\"", "\"int24\"", "3:samples.type: 'int24' is not a sample format"},
        Fault{"\"int16\"", "\"int12_packed\"", "3:samples.type: packed"},
        Fault{"type = \"int16\"\n", "", "1:samples.type: is missing"},
        Fault{"[4, 2, 8]", "[4, 2, 0]", "4:samples.shape: 0 is no length"},
        Fault{"[4, 2, 8]", "[4, -2, 8]", "4:samples.shape: -2 is no length"},
        Fault{"[4, 2, 8]", "[4, 2, 1e300]", "4:samples.shape: 1e+300 is no length"},
        Fault{"pulses = 4", "pulses = 5", "6:cpi.pulses: 5 pulses are asked for, but the capture has 4"},
        Fault{"pulses = 4", "pulses = -4", "6:cpi.pulses: -4 is out of range"},
        Fault{"kind = \"fmcw\"", "kind = \"chirp\"", "8:waveform.kind: 'chirp' is no kind of waveform"},
        Fault{"slope_hz_per_s = 30e12", "", "7:waveform.slope_hz_per_s: is missing"},
        Fault{"pri_s = 1e-4", "pri_s = 0", "12:waveform.pri_s: 0 is out of range"},
        Fault{"carrier_hz = 77e9", "start_hz = 77e9\ncarrier_hz = 77e9", "9:waveform.start_hz: contradicts"},
        Fault{"carrier_hz = 77e9\nslope_hz_per_s = 30e12", "start_hz = 1\nslope_hz_per_s = -30e12",
              "9:waveform.start_hz: and the slope put"},
        Fault{"pri_s = 1e-4", "pri_ms = 0.1", "12:waveform.pri_ms: unknown key; did you mean 'pri_s'?"},
        Fault{"pri_s = 1e-4", "", "7:waveform.pri_s: is missing"},
        Fault{"spacing_m = 0.002", "x_m = [0.0, 0.1, 0.2]", "14:array.x_m: lists 3 positions for 2 channels"},
        Fault{"spacing_m = 0.002", "steering_sign = 2", "14:array.steering_sign"},
        Fault{"spacing_m = 0.002", "spacing_mm = 2", "14:array.spacing_mm: unknown key"},
        Fault{"[samples]", "format = \"mat\"\n[samples]", "1:format: 'mat' is no format"}));

TEST(OpenCapture, TellsWhatIsMissingToUnderstandAFile) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(4096));
  const auto raw = open_capture(folder / "a.bin");
  ASSERT_FALSE(raw);
  EXPECT_EQ(raw.error().kind, ErrorKind::input);
  EXPECT_NE(raw.error().message().find("8192 bytes = 2^13"), std::string::npos) << raw.error().message();
  EXPECT_NE(raw.error().message().find("a.bin.cornerturn.toml"), std::string::npos);
  EXPECT_EQ(open_capture(folder / "none.bin").error().kind, ErrorKind::input);
  EXPECT_NE(open_capture(folder / "a.bin", {folder / "none.toml", {}, 0}).error().message().find("none.toml"),
            std::string::npos);
  write_text(folder / "e.bin", "");
  EXPECT_NE(open_capture(folder / "e.bin").error().message().find("is empty (0 bytes)"), std::string::npos);
  EXPECT_FALSE(capture_formats().empty());
}

}  // namespace
}  // namespace cornerturn
