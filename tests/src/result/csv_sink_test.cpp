#include "src/result/csv_sink.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

using testing::MadeResult;
using testing::make_detection;
using testing::make_run;

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::vector<std::string>> parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.back(), '\r');
    line.pop_back();
    std::vector<std::string>& row = rows.emplace_back(1);
    for (const char letter : line) {
      if (letter == ',') {
        row.emplace_back();
      } else {
        row.back() += letter;
      }
    }
  }
  return rows;
}

TEST(CsvSink, WritesOneRowPerDetectionWithUnitsInTheNames) {
  const testing::ScratchFolder folder("csv");
  CsvSink sink(folder / "out.csv");
  ASSERT_TRUE(sink.begin(make_run()));
  MadeResult first(3, {make_detection(1.0 / 3.0, -2.5, 30.0), make_detection(20.0, 1e-7, 20.0)});
  MadeResult none(4);
  MadeResult last(5, {make_detection(7.0, 0.0, 10.0)});
  for (MadeResult* result : {&first, &none, &last}) ASSERT_TRUE(sink.accept(result->result()));
  ASSERT_TRUE(sink.finish(true));

  const auto rows = parse(read_file(folder / "out.csv"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::vector(rows[0].begin(), rows[0].begin() + 7),
            (std::vector<std::string>{"cpi", "start_time_s", "range_m", "range_rate_mps", "power_db", "snr_db",
                                      "azimuth_deg"}));
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][0], "3");
  EXPECT_EQ(rows[1][1], "0.375");
  EXPECT_EQ(std::stod(rows[1][2]), 1.0 / 3.0) << "the number reads back to the last bit";
  EXPECT_EQ(std::stod(rows[2][3]), 1e-7);
  EXPECT_EQ(rows[2][6], "") << "NaN is an empty field";
  EXPECT_EQ(rows[3][0], "5");
  EXPECT_EQ(rows[3].back(), std::to_string(kNoAngle));
}

TEST(CsvSink, NumbersReadBackToTheSameValue) {
  for (const double value : {0.1, 1e300, 5e-324, -2.5, 1.0 / 3.0, 123456789.123456789}) {
    std::string text;
    append_csv_number(text, value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

TEST(CsvSink, QuotesOnlyWhereNeeded) {
  std::string row;
  append_csv_field(row, "plain");
  EXPECT_EQ(row, "plain");
  row.clear();
  append_csv_field(row, "a \"b\", c");
  EXPECT_EQ(row, "\"a \"\"b\"\", c\"");
}

TEST(CsvSink, AFileThatCannotBeMadeIsKnownAtTheStart) {
  const testing::ScratchFolder folder("csv_nowhere");
  std::ofstream(folder / "file") << "not a folder";
  CsvSink sink(folder / "file/out.csv");
  const Expected<void> begun = sink.begin(make_run());
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().kind, ErrorKind::runtime);
}

TEST(CsvSink, AFullDiskIsAnError) {
  CsvSink sink("/dev/full");
  const Expected<void> begun = sink.begin(make_run());
  ASSERT_FALSE(begun);
  EXPECT_NE(begun.error().message().find("No space left on device"), std::string::npos);
}

}  // namespace
}  // namespace cornerturn
