#include "src/capture/hdf5_file_check.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "src/capture/open_capture.h"
#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

// BL-04: 64 frames of 1 MiB in one dataset; copies cut to 40 MiB, 96 B and 0 B; a text file renamed .h5.
class Bl04 : public testing::Test {
 protected:
  void SetUp() override {
    const h5::File file = h5::create_file(folder_ / "r1.h5");
    const std::array<hsize_t, 4> shape{64, 128, 8, 256};
    const h5::Datatype type = h5::pair_type(H5T_STD_I16LE);
    const h5::Dataset frames = h5::create_dataset(file.id(), "frames", type.id(), h5::make_space(shape));
    // Writing the last element allocates all of it; the hole costs no disk.
    const std::array<hsize_t, 4> last{63, 127, 7, 255};
    const std::array<hsize_t, 4> one{1, 1, 1, 1};
    const std::array<std::int16_t, 2> value{1, 2};
    const h5::Datatype memory = h5::pair_type(H5T_NATIVE_INT16);
    h5::write_block(frames, memory.id(), last, one, value.data(), "frames");
  }

  std::string cut(const std::string& name, std::uintmax_t bytes) {
    std::filesystem::copy_file(folder_ / "r1.h5", folder_ / name, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder_ / name, bytes);
    return folder_ / name;
  }

  CaptureFolder folder_;
};

TEST_F(Bl04, FourBadFilesGiveFourDistinctLinesWithPathAndSize) {
  const std::uintmax_t whole = std::filesystem::file_size(folder_ / "r1.h5");
  ASSERT_GT(whole, 64U << 20);
  const std::string cut_late = cut("late.h5", 40U << 20);
  const std::string cut_early = cut("early.h5", 96);
  const std::string empty = cut("empty.h5", 0);
  const std::string text = folder_ / "text.h5";
  write_text(text, "Dear colleague,\nthe capture is on the other disk.\n");

  std::set<std::string> lines;
  for (const auto& [path, size] :
       {std::pair{cut_late, "41943040 bytes on disk"}, std::pair{cut_early, "96 bytes on disk"},
        std::pair{empty, "0 bytes"}, std::pair{text, "50 bytes"}}) {
    testing::internal::CaptureStderr();
    const auto source = open_capture(path);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "no trace of the library";
    ASSERT_FALSE(source) << path;
    EXPECT_EQ(source.error().kind, ErrorKind::input);
    const std::string line = source.error().message();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line.find(path), 0U) << line;
    EXPECT_NE(line.find(size), std::string::npos) << line;
    lines.insert(line.substr(path.size()));
  }
  EXPECT_EQ(lines.size(), 4U);
  const std::string expected = std::to_string(whole) + " expected";
  EXPECT_NE(open_capture(cut_late).error().message().find(expected), std::string::npos);
  EXPECT_NE(open_capture(cut_early).error().message().find(expected), std::string::npos);
}

TEST_F(Bl04, CutsInsideTheHeaderAreTold) {
  for (const std::uintmax_t bytes : {9U, 20U, 35U}) {
    const auto source = open_capture(cut("c.h5", bytes));
    ASSERT_FALSE(source);
    EXPECT_NE(source.error().message().find("cut inside its HDF5 header"), std::string::npos)
        << source.error().message();
  }
}

TEST_F(Bl04, TheWholeFileOpens) {
  EXPECT_TRUE(open_hdf5_checked(folder_ / "r1.h5"));
  // Nothing describes it, which is another message than damage.
  EXPECT_NE(open_capture(folder_ / "r1.h5").error().message().find("no known format"), std::string::npos);
}

TEST(Hdf5FileCheck, TellsAnUnclosedFile) {
  const CaptureFolder folder;
  const std::string path = folder / "a.h5";
  {
    const h5::Properties access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    const h5::File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()));
    H5Fflush(file.id(), H5F_SCOPE_GLOBAL);
    std::filesystem::copy_file(path, folder / "open.h5");  // as a killed writer leaves it
  }
  const auto opened = open_hdf5_checked(folder / "open.h5");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::input);
  EXPECT_NE(opened.error().message().find("still being written"), std::string::npos) << opened.error().message();
}

}  // namespace
}  // namespace cornerturn
