#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "src/result/hdf5_result_sink.h"
#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

using testing::MadeResult;
using testing::make_detection;
using testing::make_run;

constexpr const char* kPython = "/usr/bin/python3";  // Debian's, for which the packages are

bool have_tools() {
  const std::string check = std::string(kPython) +
                            " -c 'import h5netcdf, netCDF4, xarray' >/dev/null 2>&1 && "
                            "command -v ncdump >/dev/null";
  return std::system(check.c_str()) == 0;
}

TEST(ResultNetcdf, NcdumpAndH5netcdfListTheSameVariables) {
  if (!have_tools()) GTEST_SKIP() << "needs ncdump, python3-h5netcdf, python3-netcdf4 and python3-xarray";
  const testing::ScratchFolder folder("netcdf");
  ResultWriterOptions options;
  options.hdf5_path = folder / "out.h5";
  options.segment_bytes = 1;
  Hdf5ResultSink sink(options);
  ASSERT_TRUE(sink.begin(make_run(1)));
  for (std::uint64_t cpi = 5; cpi < 9; ++cpi) {
    MadeResult result(cpi, std::vector<Detection>(cpi - 5, make_detection(5.0, 1.0, 30.0)));
    ASSERT_TRUE(sink.accept(result.result()));
  }
  ASSERT_TRUE(sink.begin(make_run(2)));
  MadeResult result(9, {make_detection(5.0, 1.0, 30.0)}, testing::MadeShape{.gates = 8, .bins = 4, .channels = 2});
  ASSERT_TRUE(sink.accept(result.result()));
  ASSERT_TRUE(sink.finish(true));

  const std::string log = folder / "log";
  const std::string command = std::string(kPython) + " " CORNERTURN_SOURCE_DIR "/tests/src/result/check_netcdf.py " +
                              options.hdf5_path + " >" + log + " 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_EQ(status, 0) << text.str();
  // 5 coordinates, 2 arrays, 8 + 4 columns of CPIs and gaps, 1 + 12 of detections, in each of the two configurations.
  EXPECT_NE(text.str().find("variables: 64"), std::string::npos) << text.str();
}

}  // namespace
}  // namespace cornerturn
