#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "dsp/simulate/echo_simulator.h"
#include "src/capture/capture_v1_writer.h"
#include "src/capture/convert_capture.h"
#include "src/capture/open_capture.h"
#include "src/capture/simulator_source.h"
#include "src/config/scene_toml.h"
#include "src/support/hdf5.h"
#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

Scene small_scene() {
  Scene scene = default_scene();
  scene.shape = {8, 16, 64};
  scene.cpi_count = 3;
  scene.radar.channel_calibration.assign(8, {0.5F, -0.25F});
  return scene;
}

void expect_same(const RadarDescription& a, const RadarDescription& b) {
  EXPECT_EQ(a.sensor, b.sensor);
  EXPECT_EQ(a.waveform.kind, b.waveform.kind);
  EXPECT_EQ(a.waveform.carrier_hz, b.waveform.carrier_hz);
  EXPECT_EQ(a.waveform.sample_rate_hz, b.waveform.sample_rate_hz);
  EXPECT_EQ(a.waveform.pri_s, b.waveform.pri_s);
  EXPECT_EQ(a.waveform.slope_hz_per_s, b.waveform.slope_hz_per_s);
  EXPECT_EQ(a.waveform.bandwidth_hz, b.waveform.bandwidth_hz);
  EXPECT_EQ(a.waveform.pulse_width_s, b.waveform.pulse_width_s);
  EXPECT_EQ(a.waveform.receive_start_s, b.waveform.receive_start_s);
  EXPECT_EQ(a.waveform.replica, b.waveform.replica);
  EXPECT_EQ(a.doppler_sign, b.doppler_sign);
  EXPECT_EQ(a.range_offset_m, b.range_offset_m);
  EXPECT_EQ(a.propagation_factor, b.propagation_factor);
  EXPECT_EQ(a.full_scale_counts, b.full_scale_counts);
  EXPECT_EQ(a.channel_calibration, b.channel_calibration);
  EXPECT_EQ(a.array.steering_sign, b.array.steering_sign);
  ASSERT_EQ(a.array.elements.size(), b.array.elements.size());
  for (std::size_t i = 0; i < a.array.elements.size(); ++i) EXPECT_EQ(a.array.elements[i].x_m, b.array.elements[i].x_m);
}

TEST(CaptureV1, SceneOfNoiseIsKnownToHoldNoTarget) {
  const CaptureFolder folder;
  Scene scene = small_scene();
  scene.targets.clear();
  const auto source = make_simulator_source(scene, "noise", {});
  ASSERT_TRUE(convert_capture(*source, folder / "noise.h5"));
  const auto opened = open_capture(folder / "noise.h5");
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_TRUE((*opened)->info().truth);
  EXPECT_TRUE((*opened)->info().truth->empty());
}

TEST(CaptureV1, RoundTripKeepsSamplesRadarAndTruth) {
  const CaptureFolder folder;
  const auto source = make_simulator_source(small_scene(), "scene", {});
  const auto converted = convert_capture(*source, folder / "a.h5");
  ASSERT_TRUE(converted) << converted.error().message();
  EXPECT_EQ(*converted, 3U);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.part"));

  const auto opened = open_capture(folder / "a.h5");
  ASSERT_TRUE(opened) << opened.error().message();
  const CaptureInfo& info = (*opened)->info();
  EXPECT_EQ(info.format, "capture v1");
  EXPECT_EQ(info.shape, source->info().shape);
  EXPECT_EQ(info.cpi_count, 3U);
  EXPECT_DOUBLE_EQ(info.cpi_period_s, source->info().cpi_period_s);
  expect_same(info.radar, source->info().radar);
  ASSERT_TRUE(info.truth);
  ASSERT_EQ(info.truth->size(), source->info().truth->size());
  for (std::size_t i = 0; i < info.truth->size(); ++i) {
    EXPECT_EQ((*info.truth)[i].range_m, (*source->info().truth)[i].range_m);
    EXPECT_EQ((*info.truth)[i].fluctuation, (*source->info().truth)[i].fluctuation);
  }
  const auto again = make_simulator_source(small_scene(), "scene", {});
  for (int cpi = 0; cpi < 3; ++cpi) {
    CpiHeader header;
    CpiHeader read_header;
    const auto expected = next_samples(*again, &header);
    EXPECT_EQ(next_samples(**opened, &read_header), expected);
    EXPECT_EQ(read_header.start_time_s, header.start_time_s);
  }
  bool by_offset = false;
  for (const std::string& line : info.understood)
    by_offset = by_offset || line.find("by file offset") != std::string::npos;
  EXPECT_TRUE(by_offset);
}

TEST(CaptureV1, AnyLayoutFormatAndByteOrderIsStoredWithItsValues) {
  const CaptureFolder folder;
  struct Case {
    SampleFormat format;
    IqOrder order;
    bool big_endian;
  };
  for (const Case& each :
       {Case{SampleFormat::int8, IqOrder::qqii, false}, Case{SampleFormat::uint16, IqOrder::real, true},
        Case{SampleFormat::int16, IqOrder::planar_qi, true}, Case{SampleFormat::int32, IqOrder::iq, false},
        Case{SampleFormat::float64, IqOrder::qi, false}, Case{SampleFormat::float32, IqOrder::iiqq, true},
        Case{SampleFormat::int12_packed, IqOrder::iq, false}}) {
    CaptureInfo info;
    info.shape = {2, 4, 6};
    info.radar = small_scene().radar;
    info.radar.array.elements.resize(2);
    info.radar.channel_calibration.clear();
    info.layout = make_contiguous_layout(info.shape, each.format, each.order);
    info.layout.big_endian = each.big_endian;
    info.slot_bytes = *required_bytes(info.layout, info.shape);
    std::vector<std::byte> bytes(info.slot_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((i * 41 + 7) % 113);
    RawCpi cpi;
    cpi.segments.push_back({bytes, 0, 4});
    cpi.header.gaps = {{1, 2, 3}};
    auto writer = CaptureV1Writer::create(folder / "a.h5", info);
    ASSERT_TRUE(writer) << writer.error().message();
    ASSERT_TRUE(writer->append(cpi));
    ASSERT_TRUE(writer->finish());

    const auto opened = open_capture(folder / "a.h5");
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ((*opened)->info().layout.zero_level, info.layout.zero_level);
    CpiHeader header;
    const auto samples = next_samples(**opened, &header);
    EXPECT_EQ(header.gaps, cpi.header.gaps);
    const Unpacker unpacker(info.layout, 6, DcRemoval::none, {});
    std::vector<std::complex<float>> line(6);
    LineQuality quality;
    for (std::size_t pulse = 0; pulse < 4; ++pulse)
      for (std::size_t channel = 0; channel < 2; ++channel) {
        unpacker.process_generic({bytes.data(), pulse, pulse, channel, {}}, line, quality);
        for (std::size_t n = 0; n < 6; ++n)
          ASSERT_EQ(samples[(pulse * 2 + channel) * 6 + n], line[n]) << to_string(each.format);
      }
  }
}

TEST(CaptureV1, GapsFollowTheCutOfTheCpi) {
  const CaptureFolder folder;
  CaptureInfo info;
  info.shape = {1, 4, 6};
  info.radar = small_scene().radar;
  info.radar.array.elements.clear();
  info.radar.channel_calibration.clear();
  info.layout = make_contiguous_layout(info.shape, SampleFormat::int16, IqOrder::iq);
  std::vector<std::byte> bytes(*required_bytes(info.layout, info.shape));
  auto writer = CaptureV1Writer::create(folder / "a.h5", info);
  ASSERT_TRUE(writer);
  for (int i = 0; i < 2; ++i) {
    RawCpi cpi;
    cpi.segments.push_back({bytes, 0, 4});
    if (i == 1) cpi.header.gaps = {{3, 0, 6}};
    ASSERT_TRUE(writer->append(cpi));
  }
  ASSERT_TRUE(writer->finish());
  CpiHeader header;
  next_samples(**open_capture(folder / "a.h5", {"", {}, 8}), &header);
  EXPECT_EQ(header.gaps, (std::vector<GapInterval>{{7, 0, 6}}));
  const auto halves = open_capture(folder / "a.h5", {"", {}, 2});
  ASSERT_TRUE((*halves)->seek(3));
  next_samples(**halves, &header);
  EXPECT_EQ(header.gaps, (std::vector<GapInterval>{{1, 0, 6}}));
}

TEST(CaptureV1, ProfiledAndPulseRadarsComeBack) {
  const CaptureFolder folder;
  CaptureInfo info;
  info.shape = {1, 2, 3};
  info.layout = make_contiguous_layout(info.shape, SampleFormat::float32, IqOrder::iq);
  std::vector<std::byte> bytes(*required_bytes(info.layout, info.shape));
  info.radar.waveform.carrier_hz = 60.5e9;
  info.radar.waveform.pri_s = 0.02;
  info.radar.waveform.sample_rate_hz = 1e6;
  for (const WaveformKind kind : {WaveformKind::profiled, WaveformKind::pulse}) {
    info.radar.waveform.kind = kind;
    info.radar.waveform.gate_axis.reset();
    info.radar.waveform.replica.clear();
    if (kind == WaveformKind::profiled) info.radar.waveform.gate_axis = Axis::listed("range", "m", {0.1, 0.2, 0.5});
    if (kind == WaveformKind::pulse) info.radar.waveform.replica = {{1.0F, 0.0F}, {0.0F, -1.0F}};
    auto writer = CaptureV1Writer::create(folder / "a.h5", info);
    RawCpi cpi;
    cpi.segments.push_back({bytes, 0, 2});
    ASSERT_TRUE(writer->append(cpi));
    ASSERT_TRUE(writer->finish());
    const auto opened = open_capture(folder / "a.h5");
    ASSERT_TRUE(opened) << opened.error().message();
    expect_same((*opened)->info().radar, info.radar);
    if (kind == WaveformKind::profiled) {
      EXPECT_EQ((*opened)->info().radar.waveform.gate_axis->coordinates(), (std::vector<double>{0.1, 0.2, 0.5}));
    }
  }
}

TEST(CaptureV1, AnUnfinishedWriterLeavesNothing) {
  const CaptureFolder folder;
  {
    auto writer = CaptureV1Writer::create(folder / "a.h5", make_simulator_source(small_scene(), "", {})->info());
    ASSERT_TRUE(writer);
    EXPECT_TRUE(std::filesystem::exists(folder / "a.h5.part"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.part"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
}

TEST(CaptureV1, SaysWhyItCannotBeWritten) {
  const auto source = make_simulator_source(small_scene(), "", {});
  const auto done = convert_capture(*source, "/proc/none/a.h5");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::runtime);
  EXPECT_EQ(done.error().message().find("/proc/none/a.h5: "), 0U) << done.error().message();
}

TEST(CaptureV1, StopsWhenTold) {
  const CaptureFolder folder;
  const auto source = make_simulator_source(small_scene(), "", {});
  const auto done =
      convert_capture(*source, folder / "a.h5", [](std::size_t written, std::size_t) { return written < 2; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
}

/// A good file, then one thing made wrong.
class DamagedCaptureV1 : public testing::Test {
 protected:
  void SetUp() override {
    const auto source = make_simulator_source(small_scene(), "scene", {});
    ASSERT_TRUE(convert_capture(*source, path_));
  }
  template <typename Change> std::string message_after(Change change) {
    {
      const h5::File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
      change(file);
    }
    const auto opened = open_capture(path_);
    EXPECT_FALSE(opened);
    if (opened) return "";
    EXPECT_EQ(opened.error().message().find('\n'), std::string::npos);
    return opened.error().message();
  }

  CaptureFolder folder_;
  std::string path_ = folder_ / "a.h5";
};

TEST_F(DamagedCaptureV1, MissingParameter) {
  const std::string line =
      message_after([](const h5::File& file) { H5Adelete_by_name(file.id(), "radar", "pri_s", H5P_DEFAULT); });
  EXPECT_NE(line.find("pri_s"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, ParameterOutOfRange) {
  const std::string line = message_after([](const h5::File& file) {
    h5::write_attribute(h5::open_group(file.id(), "radar").id(), "carrier_hz", std::nan(""));
  });
  EXPECT_NE(line.find("carrier_hz is not a finite number"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, NewerVersion) {
  const std::string line = message_after(
      [](const h5::File& file) { h5::write_attribute(file.id(), "cornerturn_format_version", std::int32_t{2}); });
  EXPECT_NE(line.find("version 2"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, WrongRank) {
  const std::string line = message_after([](const h5::File& file) {
    H5Ldelete(file.id(), "samples", H5P_DEFAULT);
    const std::array<hsize_t, 2> shape{3, 4};
    h5::write_vector<float>(file.id(), "samples", shape, std::vector<float>(12));
  });
  EXPECT_NE(line.find("shape (3 x 4)"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, WrongType) {
  const std::string line = message_after([](const h5::File& file) {
    H5Ldelete(file.id(), "samples", H5P_DEFAULT);
    h5::create_dataset(file.id(), "samples", H5T_C_S1, h5::make_space({1, 2, 3, 4}));
  });
  EXPECT_NE(line.find("no plain numbers"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, PositionsForOtherChannels) {
  const std::string line = message_after([](const h5::File& file) {
    H5Ldelete(file.id(), "radar/element_position_m", H5P_DEFAULT);
    const std::array<hsize_t, 2> shape{5, 3};
    h5::write_vector<double>(file.id(), "radar/element_position_m", shape, std::vector<double>(15));
  });
  EXPECT_NE(line.find("5 positions for 8 channels"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, GapOutsideTheSamples) {
  const std::string line = message_after([](const h5::File& file) {
    const std::array<hsize_t, 2> shape{1, 4};
    h5::write_vector<std::uint64_t>(file.id(), "gaps", shape, std::vector<std::uint64_t>{0, 3, 60, UINT64_MAX});
  });
  EXPECT_NE(line.find("gaps: row 0 lies outside"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, ClaimsOfHugeSizesTakeNoMemory) {
  const std::string line = message_after([](const h5::File& file) {
    H5Ldelete(file.id(), "samples", H5P_DEFAULT);
    const h5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    const std::array<hsize_t, 4> chunk{1, 16, 8, 64};
    H5Pset_chunk(creation.id(), 4, chunk.data());
    const h5::Dataspace space = h5::make_space({hsize_t{1} << 45, 16, 8, 64});
    h5::create_dataset(file.id(), "samples", H5T_STD_I16LE, space, creation.id());
    const std::array<hsize_t, 2> shape{1, 4};
    h5::write_vector<std::uint64_t>(file.id(), "gaps", shape, std::vector<std::uint64_t>{5, 0, 0, 1});
  });
  EXPECT_NE(line.find("more than 2^32"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, TextsOfTheFileAreShownWithoutEscapes) {
  const std::string line = message_after([](const h5::File& file) {
    h5::write_attribute(h5::open_group(file.id(), "radar").id(), "waveform", "\x1b[2J\xD0");
  });
  EXPECT_NE(line.find("'?[2J?' is no waveform"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, NoRadar) {
  const std::string line = message_after([](const h5::File& file) { H5Ldelete(file.id(), "radar", H5P_DEFAULT); });
  EXPECT_NE(line.find("not a whole capture"), std::string::npos) << line;
}

TEST_F(DamagedCaptureV1, RadarInAnotherFile) {
  const std::string line = message_after([](const h5::File& file) {
    H5Ldelete(file.id(), "radar", H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "radar", file.id(), "radar", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_NE(line.find("another file"), std::string::npos) << line;
}

}  // namespace
}  // namespace cornerturn
