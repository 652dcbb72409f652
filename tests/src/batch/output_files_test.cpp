#include "src/batch/output_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST(PlaceOutputs, NamesResultsAfterTheCaptureButNeverAsTheCapture) {
  const auto places = place_outputs({"a/walk.h5", "run.bin"}, "out");
  ASSERT_TRUE(places);
  EXPECT_EQ((*places)[0].directory, "out");
  EXPECT_EQ((*places)[0].stem, "walk.result");
  EXPECT_EQ((*places)[1].stem, "run.result");
  EXPECT_EQ((*places)[0].hdf5_path, "");
}

TEST(PlaceOutputs, TakesAResultFileForOneCapture) {
  const auto places = place_outputs({"walk.h5"}, "there/mine.h5");
  ASSERT_TRUE(places);
  EXPECT_EQ((*places)[0].directory, "there");
  EXPECT_EQ((*places)[0].stem, "mine");
  EXPECT_EQ((*places)[0].hdf5_path, "there/mine.h5");
  const auto here = place_outputs({"walk.h5"}, "mine.nc");
  ASSERT_TRUE(here);
  EXPECT_EQ((*here)[0].directory, ".");
  const auto two = place_outputs({"walk.h5", "run.h5"}, "mine.h5");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().message(), "mine.h5: is one file, but there are 2 captures; give a directory with -o");
}

TEST(PlaceOutputs, NamesSimulatorsAfterTheirScene) {
  const auto places = place_outputs({"sim://scenes/street.toml?fast&cpis=3", "sim://"}, ".");
  ASSERT_TRUE(places);
  EXPECT_EQ((*places)[0].stem, "street.result");
  EXPECT_EQ((*places)[1].stem, "simulation.result");
}

TEST(PlaceOutputs, RefusesTwoCapturesOfOneName) {
  const auto places = place_outputs({"a/walk.h5", "b/walk.h5"}, "out");
  ASSERT_FALSE(places);
  EXPECT_EQ(places.error().kind, ErrorKind::usage);
  EXPECT_NE(places.error().message().find("a/walk.h5"), std::string::npos);
  EXPECT_NE(places.error().message().find("b/walk.h5"), std::string::npos);
}

TEST_F(OutputFiles, AreNotWrittenOverUnlessToldTo) {
  const std::string file = (folder_ / "x.result.csv").string();
  EXPECT_TRUE(check_free({file}, false));
  std::ofstream(file) << "old";
  const auto refused = check_free({file}, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), file + ": exists already; write over it with --force, or elsewhere with -o");
  EXPECT_TRUE(check_free({file}, true));
}

TEST_F(OutputFiles, DirectoryIsMadeAndLeftEmpty) {
  const fs::path deep = folder_ / "a" / "b";
  ASSERT_TRUE(prepare_directory(deep.string()));
  EXPECT_TRUE(fs::is_directory(deep));
  EXPECT_TRUE(fs::is_empty(deep));
}

TEST_F(OutputFiles, FileInThePlaceOfTheDirectoryIsAnError) {
  std::ofstream(folder_ / "file") << "x";
  const auto refused = prepare_directory((folder_ / "file").string());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::runtime);
  EXPECT_FALSE(prepare_directory((folder_ / "file" / "below").string()));
}

TEST_F(OutputFiles, NoKindsWriteNothing) {
  const auto outputs = open_outputs({(folder_ / "new").string(), "x", ""}, {}, false, {});
  ASSERT_TRUE(outputs);
  EXPECT_TRUE(outputs->sinks.empty());
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_F(OutputFiles, OutputIsNeverAnInputThroughLinksToo) {
  const std::string capture = (folder_ / "walk.h5").string();
  std::ofstream(capture) << "samples";
  fs::create_symlink(capture, folder_ / "link.h5");
  EXPECT_FALSE(check_not_input({capture}, {capture}));
  EXPECT_FALSE(check_not_input({(folder_ / "link.h5").string()}, {capture}));
  EXPECT_TRUE(check_not_input({(folder_ / "other.h5").string()}, {capture}));
}

}  // namespace
}  // namespace cornerturn
