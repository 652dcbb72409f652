#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "src/capture/open_capture.h"
#include "src/support/hdf5.h"
#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

void write_string(const h5::File& file, const std::string& path, const std::string& text) {
  const h5::Datatype type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), H5T_VARIABLE);
  const h5::Dataset dataset = h5::create_dataset(file.id(), path, type.id(), h5::Dataspace(H5Screate(H5S_SCALAR)));
  const char* pointer = text.c_str();
  h5::write_all(dataset, type.id(), &pointer, path);
}

struct Recording {
  std::string session = R"({"groups": [{"1": {"sweep_rate": 2000.0, "frame_rate": 10.0, "sweeps_per_frame": 4,
    "subsweeps": [{"start_point": 40, "num_points": 3, "step_length": 4},
                  {"start_point": 60, "num_points": 2, "step_length": 12},
                  {"start_point": 50, "num_points": 2, "step_length": 2}]}}], "update_rate": null})";
  std::string metadata = R"({"base_step_length_m": 0.0025, "max_sweep_rate": 5000.0})";
  std::array<hsize_t, 3> shape{6, 4, 7};
};

/// The tree that the vendor's tool writes, with values 0, 1, 2 ... for I and their negatives for Q.
void write_recording(const std::string& path, const Recording& recording) {
  const h5::File file = h5::create_file(path);
  write_string(file, "generation", "a121");
  write_string(file, "server_info", R"({"ticks_per_second": 1000})");
  for (const char* group : {"sessions", "sessions/session_0", "sessions/session_0/group_0",
                            "sessions/session_0/group_0/entry_0", "sessions/session_0/group_0/entry_0/result"})
    h5::create_group(file.id(), group);
  const std::string entry = "sessions/session_0/group_0/entry_0";
  write_string(file, "sessions/session_0/session_config", recording.session);
  write_string(file, entry + "/metadata", recording.metadata);
  const h5::Datatype type = h5::pair_type(H5T_STD_I16LE, "real", "imag");
  const h5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  const std::array<hsize_t, 3> chunk{2, 1, 2};
  H5Pset_chunk(creation.id(), 3, chunk.data());
  H5Pset_deflate(creation.id(), 4);
  const h5::Dataset frames =
      h5::create_dataset(file.id(), entry + "/result/frame", type.id(), h5::make_space(recording.shape), creation.id());
  std::vector<std::int16_t> values;
  for (hsize_t i = 0; i < recording.shape[0] * recording.shape[1] * recording.shape[2]; ++i) {
    values.push_back(static_cast<std::int16_t>(i));
    values.push_back(static_cast<std::int16_t>(-static_cast<int>(i)));
  }
  h5::write_all(frames, type.id(), values.data(), "frame");
  const std::array<hsize_t, 1> ticks{recording.shape[0]};
  h5::write_vector<std::int64_t>(file.id(), entry + "/result/tick", ticks,
                                 counted<std::int64_t>(recording.shape[0], 500));
}

TEST(AcconeerA121, ReadsSubsweepsThatRiseAsOneGateAxis) {
  const CaptureFolder folder;
  write_recording(folder / "a.h5", {});
  const auto source = open_capture(folder / "a.h5");
  ASSERT_TRUE(source) << source.error().message();
  const CaptureInfo& info = (*source)->info();
  EXPECT_EQ(info.format, "A121 recording");
  EXPECT_EQ(info.radar.sensor, "Acconeer A121");
  EXPECT_EQ(info.shape, (CpiShape{1, 4, 5}));
  EXPECT_EQ(info.cpi_count, 6U);
  EXPECT_DOUBLE_EQ(info.cpi_period_s, 0.1);
  EXPECT_DOUBLE_EQ(info.radar.waveform.pri_s, 0.0005);
  EXPECT_EQ(info.radar.waveform.kind, WaveformKind::profiled);
  const std::vector<double> expected{0.1, 0.11, 0.12, 0.15, 0.18};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(info.radar.waveform.gate_axis->coordinate(static_cast<double>(i)), expected[i], 1e-12);
  ASSERT_EQ(info.doubts.size(), 1U);
  EXPECT_NE(info.doubts[0].what.find("overlap"), std::string::npos);

  next_samples(**source);
  CpiHeader header;
  const auto samples = next_samples(**source, &header);
  EXPECT_DOUBLE_EQ(header.sensor_time_s, 0.501);
  const float first = 1.0F * 4 * 7 + 2 * 7 + 3;  // frame 1, sweep 2, point 3
  EXPECT_EQ(samples[2 * 5 + 3], std::complex<float>(first, -first));
}

TEST(AcconeerA121, ASidecarChoosesTheOtherSubsweeps) {
  const CaptureFolder folder;
  write_recording(folder / "a.h5", {});
  write_text(folder / "s.toml", "format = \"acconeer_a121\"\n[a121]\nfirst_subsweep = 2\n[cpi]\npulses = 2\n");
  const auto source = open_capture(folder / "a.h5", {folder / "s.toml", {}, 0});
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ((*source)->info().shape, (CpiShape{1, 2, 2}));
  EXPECT_NEAR((*source)->info().radar.waveform.gate_axis->coordinate(1.0), 0.13, 1e-12);
  EXPECT_EQ(next_samples(**source)[1].real(), 6.0F);
  write_text(folder / "s.toml", "format = \"acconeer_a121\"\n[a121]\nfirst_subsweep = 3\n");
  EXPECT_NE(
      open_capture(folder / "a.h5", {folder / "s.toml", {}, 0}).error().message().find("s.toml:3:a121.first_subsweep"),
      std::string::npos);
}

TEST(AcconeerA121, FramesOfOneSweepAreSlowTime) {
  const CaptureFolder folder;
  Recording recording;
  recording.shape = {9, 1, 7};
  recording.session.replace(recording.session.find("\"sweeps_per_frame\": 4"), 21, "\"sweeps_per_frame\": 1");
  write_recording(folder / "a.h5", recording);
  const auto source = open_capture(folder / "a.h5");
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ((*source)->info().shape, (CpiShape{1, 9, 5}));
  EXPECT_DOUBLE_EQ((*source)->info().radar.waveform.pri_s, 0.1);
}

// HDF5 1.10 itself crashes on references and sizes like these.
TEST(AcconeerA121, DamagedReferencesAndHeapsOfTextsNeverCrash) {
  const CaptureFolder folder;
  write_recording(folder / "a.h5", {});
  std::ifstream file(folder / "a.h5", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  const std::size_t heap = good.find("GCOL");
  ASSERT_NE(heap, std::string::npos);
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = good;
    for (unsigned change = 0; change <= random() % 4; ++change)
      bad[heap + random() % std::min<std::size_t>(4096, bad.size() - heap)] = static_cast<char>(random());
    write_text(folder / "b.h5", bad);
    const auto source = open_capture(folder / "b.h5");
    if (!source) {
      ASSERT_EQ(source.error().kind, ErrorKind::input) << source.error().message();
    }
  }
}

TEST(AcconeerA121, MutatedSettingsNeverCrash) {
  const CaptureFolder folder;
  std::mt19937 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    Recording recording;
    std::string& text = trial % 3 == 0 ? recording.metadata : recording.session;
    for (unsigned change = 0; change <= random() % 3; ++change)
      text[random() % text.size()] = "0123456789-.e{}[]\",:"[random() % 21];
    write_recording(folder / "a.h5", recording);
    const auto source = open_capture(folder / "a.h5");
    if (source)
      next_samples(**source);
    else
      ASSERT_EQ(source.error().kind, ErrorKind::input) << source.error().message();
  }
}

TEST(AcconeerA121, DamagedSettingsGiveOneLine) {
  const CaptureFolder folder;
  const auto message = [&](const Recording& recording) {
    write_recording(folder / "a.h5", recording);
    const auto source = open_capture(folder / "a.h5");
    EXPECT_FALSE(source);
    if (source) return std::string();
    EXPECT_EQ(source.error().kind, ErrorKind::input);
    EXPECT_EQ(source.error().message().find('\n'), std::string::npos);
    return source.error().message();
  };
  Recording recording;
  recording.session = "{\"groups\": [";
  EXPECT_NE(message(recording).find("cannot be read"), std::string::npos);
  recording.session = "{\"groups\": [{}]}";
  EXPECT_NE(message(recording).find("no sensor"), std::string::npos);
  recording = {};
  recording.metadata = "{}";
  EXPECT_NE(message(recording).find("base_step_length_m"), std::string::npos);
  recording.metadata = "{\"base_step_length_m\": -1}";
  EXPECT_NE(message(recording).find("step that is not above 0"), std::string::npos);
  recording = {};
  recording.shape = {6, 4, 8};
  EXPECT_NE(message(recording).find("6 x 4 x 8"), std::string::npos);
  recording = {};
  recording.session.replace(recording.session.find("\"num_points\": 3"), 15, "\"num_points\": 1e9");
  EXPECT_NE(message(recording).find("too many"), std::string::npos);
}

}  // namespace
}  // namespace cornerturn
