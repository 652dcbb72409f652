#include "src/result/hdf5_result_sink.h"

#include <fstream>

#include <gtest/gtest.h>

#include "src/support/hdf5.h"
#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

namespace fs = std::filesystem;
using testing::MadeResult;
using testing::make_detection;
using testing::make_run;

class ResultFile : public ::testing::Test {
 protected:
  testing::ScratchFolder folder_{::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::string path_ = folder_ / "out.h5";

  ResultWriterOptions options(std::size_t segment_bytes = std::size_t{64} << 20) const {
    ResultWriterOptions options;
    options.hdf5_path = path_;
    options.segment_bytes = segment_bytes;
    options.segment_s = 1e9;  // by size only, so that the test does not depend on the clock
    return options;
  }
  bool parts_left() const { return fs::exists(path_ + ".parts"); }
};

void expect_ok(const Expected<void>& outcome) { EXPECT_TRUE(outcome) << outcome.error().message(); }

TEST_F(ResultFile, HoldsMapsMatricesAndDetectionsOfEveryCpi) {
  std::vector<MadeResult> results;
  results.emplace_back(10, std::vector{make_detection(5.0, 1.0, 30.0), make_detection(20.0, -2.0, 20.0)});
  results.emplace_back(12);
  results.emplace_back(13, std::vector{make_detection(9.0, 0.5, 25.0)});
  Hdf5ResultSink sink(options(1));  // every CPI a segment
  expect_ok(sink.begin(make_run()));
  for (MadeResult& result : results) expect_ok(sink.accept(result.result()));
  EXPECT_TRUE(parts_left());
  expect_ok(sink.finish(true));
  EXPECT_FALSE(parts_left());

  const h5::File file = h5::open_file(path_);
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "cpi"), (std::vector<std::int64_t>{10, 12, 13}));
  EXPECT_EQ(h5::read_vector<double>(file.id(), "start_time_s"), (std::vector<double>{1.25, 1.5, 1.625}));
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "detection_count"), (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "detection_cpi"), (std::vector<std::int64_t>{10, 10, 13}));
  EXPECT_EQ(h5::read_vector<double>(file.id(), "detection_range_m"), (std::vector<double>{5, 20, 9}));
  EXPECT_EQ(h5::read_vector<double>(file.id(), "range"),
            results[0].result().find("range_doppler_power")->axes[0].coordinates());
  const std::vector<float> maps = h5::read_vector<float>(file.id(), "range_doppler_power");
  std::vector<float> expected;
  for (const MadeResult& result : results) expected.insert(expected.end(), result.map().begin(), result.map().end());
  EXPECT_EQ(maps, expected);

  const h5::Dataset covariance = h5::open_dataset(file.id(), "covariance");
  EXPECT_EQ(h5::shape_of(covariance), (std::vector<hsize_t>{3, 64, 4, 4}));
  std::vector<std::complex<float>> matrices(3 * 64 * 16);
  h5::read_all(covariance, h5::pair_type(H5T_NATIVE_FLOAT).id(), matrices.data(), "covariance");
  const std::vector<std::complex<float>> full = expand_hermitian(*results[1].result().find("covariance"));
  EXPECT_TRUE(std::equal(full.begin(), full.end(), matrices.begin() + 64 * 16));
  EXPECT_EQ(h5::read_number_attribute(file.id(), "complete"), std::vector<double>{1.0});
}

TEST_F(ResultFile, IsTheSameHoweverItWasCutIntoSegments) {
  std::vector<std::vector<float>> maps;
  for (const std::size_t segment_bytes : {std::size_t{1}, std::size_t{70'000}, std::size_t{1} << 30}) {
    Hdf5ResultSink sink(options(segment_bytes));
    expect_ok(sink.begin(make_run()));
    for (std::uint64_t cpi = 0; cpi < 12; ++cpi) {
      MadeResult result(cpi, std::vector<Detection>(cpi % 4, make_detection(5.0, 1.0, 30.0)));
      expect_ok(sink.accept(result.result()));
    }
    expect_ok(sink.finish(true));
    const h5::File file = h5::open_file(path_);
    maps.push_back(h5::read_vector<float>(file.id(), "range_doppler_power"));
    EXPECT_EQ(h5::read_vector<double>(file.id(), "detection_power_db").size(), 18U);
    EXPECT_EQ(h5::shape_of(h5::open_dataset(file.id(), "detection")), std::vector<hsize_t>{18});
  }
  EXPECT_EQ(maps[0], maps[2]);
  EXPECT_EQ(maps[1], maps[2]);
}

TEST_F(ResultFile, CompressionChangesNoValue) {
  ResultWriterOptions packed = options();
  packed.deflate_level = 1;
  Hdf5ResultSink sink(packed);
  MadeResult result(0, {make_detection(5.0, 1.0, 30.0)});
  expect_ok(sink.begin(make_run()));
  expect_ok(sink.accept(result.result()));
  expect_ok(sink.finish(true));
  const h5::File file = h5::open_file(path_);
  EXPECT_EQ(h5::read_vector<float>(file.id(), "range_doppler_power"), result.map());
}

TEST_F(ResultFile, EachLaterConfigurationHasAGroup) {
  Hdf5ResultSink sink(options());
  MadeResult first(0, {make_detection(5.0, 1.0, 30.0)});
  MadeResult second(1, {}, testing::MadeShape{.gates = 16, .bins = 8, .channels = 2});
  expect_ok(sink.begin(make_run(1)));
  expect_ok(sink.accept(first.result()));
  expect_ok(sink.begin(make_run(2)));
  expect_ok(sink.accept(second.result()));
  expect_ok(sink.finish(true));
  const h5::File file = h5::open_file(path_);
  EXPECT_EQ(h5::shape_of(h5::open_dataset(file.id(), "range_doppler_power")), (std::vector<hsize_t>{1, 64, 32}));
  EXPECT_EQ(h5::shape_of(h5::open_dataset(file.id(), "version_2/range_doppler_power")),
            (std::vector<hsize_t>{1, 16, 8}));
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "version_2/cpi"), std::vector<std::int64_t>{1});
  const h5::Group group = h5::open_group(file.id(), "version_2");
  EXPECT_EQ(h5::find_number_attribute(group.id(), "configuration_version"), 2.0);
}

TEST_F(ResultFile, AProductThatComesLaterReadsAsNaNBefore) {
  Hdf5ResultSink sink(options());
  MadeResult without(0, {}, testing::MadeShape{.channels = 0});
  MadeResult with(1);
  expect_ok(sink.begin(make_run()));
  expect_ok(sink.accept(without.result()));
  expect_ok(sink.accept(with.result()));
  expect_ok(sink.finish(true));
  const h5::File file = h5::open_file(path_);
  const h5::Dataset covariance = h5::open_dataset(file.id(), "covariance");
  ASSERT_EQ(h5::shape_of(covariance), (std::vector<hsize_t>{2, 64, 4, 4}));
  std::vector<std::complex<float>> matrices(2 * 64 * 16);
  h5::read_all(covariance, h5::pair_type(H5T_NATIVE_FLOAT).id(), matrices.data(), "covariance");
  EXPECT_TRUE(std::isnan(matrices.front().real()));
  EXPECT_EQ(matrices[64 * 16].real(), 2.0F);
}

TEST_F(ResultFile, GapsTravelWithTheResults) {
  Hdf5ResultSink sink(options());
  MadeResult result(7);
  result.result().header.gaps = {{3, 10, 20}, {4, 0, 5}};
  expect_ok(sink.begin(make_run()));
  expect_ok(sink.accept(result.result()));
  expect_ok(sink.finish(true));
  const h5::File file = h5::open_file(path_);
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "gap_cpi"), (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "gap_pulse"), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "gap_sample_count"), (std::vector<std::int64_t>{20, 5}));
}

TEST_F(ResultFile, ARunWithoutResultsLeavesAValidFile) {
  Hdf5ResultSink sink(options());
  expect_ok(sink.begin(make_run()));
  expect_ok(sink.finish(false));
  const h5::File file = h5::open_file(path_);
  EXPECT_TRUE(h5::read_vector<std::int64_t>(file.id(), "cpi").empty());
  EXPECT_EQ(h5::find_number_attribute(file.id(), "complete"), 0.0);
}

TEST_F(ResultFile, SaysWhereItComesFrom) {
  Hdf5ResultSink sink(options());
  MadeResult result(0);
  const RunDescription run = make_run();
  expect_ok(sink.begin(run));
  expect_ok(sink.accept(result.result()));
  expect_ok(sink.finish(true));
  const h5::File file = h5::open_file(path_);
  EXPECT_EQ(h5::read_text_attribute(file.id(), "Conventions"), "CF-1.8");
  EXPECT_EQ(h5::read_text_attribute(file.id(), "capture_path"), run.capture_path);
  EXPECT_EQ(h5::read_text_attribute(file.id(), "capture_hash"), run.capture_hash);
  EXPECT_EQ(h5::read_text_attribute(file.id(), "configuration_toml"), run.chain_toml);
  EXPECT_EQ(h5::read_text_attribute(file.id(), "backend_device"), run.backend.device);
  EXPECT_EQ(h5::find_number_attribute(file.id(), "carrier_hz"), 77e9);
  EXPECT_EQ(h5::find_number_attribute(file.id(), "bandwidth_hz"), std::nullopt) << "not known, so not stated";
}

TEST_F(ResultFile, AnOutputThatCannotBeWrittenIsKnownAtTheStart) {
  std::ofstream(folder_ / "file") << "not a folder";
  ResultWriterOptions nowhere = options();
  nowhere.hdf5_path = folder_ / "file/out.h5";
  Hdf5ResultSink sink(nowhere);
  const Expected<void> begun = sink.begin(make_run());
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().kind, ErrorKind::runtime);
  EXPECT_NE(begun.error().message().find("Not a directory"), std::string::npos) << begun.error().message();
}

TEST_F(ResultFile, ResultsOfAnInterruptedRunAreNotOverwritten) {
  {
    Hdf5ResultSink sink(options(1));
    MadeResult result(0);
    expect_ok(sink.begin(make_run()));
    expect_ok(sink.accept(result.result()));
    Hdf5ResultSink other(options());
    const Expected<void> second = other.begin(make_run());
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message().find("another process is writing"), std::string::npos);
  }  // dies without finish(), as by a kill
  Hdf5ResultSink sink(options());
  const Expected<void> begun = sink.begin(make_run());
  ASSERT_FALSE(begun);
  EXPECT_NE(begun.error().message().find("cornerturn recover"), std::string::npos) << begun.error().message();
  EXPECT_TRUE(parts_left());
}

}  // namespace
}  // namespace cornerturn
