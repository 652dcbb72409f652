#include "src/result/result_sinks.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

using testing::MadeResult;
using testing::make_detection;
using testing::make_run;

TEST(ResultSinks, WriteWhatTheWordsAskFor) {
  const testing::ScratchFolder folder("sinks");
  const auto options = place_results(folder.path() + "/new", "walk.result", output_words());
  ASSERT_TRUE(options) << options.error().message();
  auto sinks = make_result_sinks(*options);
  ASSERT_TRUE(sinks);
  EXPECT_FALSE(std::filesystem::exists(folder / "new")) << "nothing is touched before begin()";
  MadeResult result(0, {make_detection(5.0, 1.0, 30.0)});
  for (const auto& sink : *sinks) {
    ASSERT_TRUE(sink->begin(make_run())) << sink->name();
    ASSERT_TRUE(sink->accept(result.result())) << sink->name();
    ASSERT_TRUE(sink->finish(true)) << sink->name();
  }
  EXPECT_EQ(result_files(*options).size(), output_words().size());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "new")) ++files;
  EXPECT_EQ(files, output_words().size()) << "the results and nothing else";
  for (const std::string& file : result_files(*options)) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

TEST(ResultSinks, TheResultFileMayHaveANameOfItsOwn) {
  const auto options = place_results("out", "walk", {"h5", "csv"}, "elsewhere/mine.nc");
  ASSERT_TRUE(options);
  EXPECT_EQ(result_files(*options), (std::vector<std::string>{"elsewhere/mine.nc", "out/walk.csv"}));
  EXPECT_EQ(place_results(".", "walk", {"csv"})->csv_path, "walk.csv");
}

TEST(ResultSinks, AnUnknownOutputListsTheKnownOnes) {
  const auto options = place_results("out", "walk", {"gif"});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().kind, ErrorKind::usage);
  EXPECT_NE(options.error().message().find("h5, csv"), std::string::npos);
}

}  // namespace
}  // namespace cornerturn
