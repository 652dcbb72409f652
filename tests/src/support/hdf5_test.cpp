#include "src/support/hdf5.h"

#include <complex>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>
#include <unistd.h>

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

class Hdf5 : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() / ("cornerturn_hdf5_" + test + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(Hdf5, ReturnsWhatWasWritten) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.5F);
  const std::vector<hsize_t> shape{2, 3, 4};
  {
    h5::File file = h5::create_file(path("a.h5"));
    const h5::Group group = h5::create_group(file.id(), "group");
    h5::Dataset data = h5::write_vector<float>(group.id(), "data", shape, values);
    h5::write_attribute(data.id(), "units", "m s-1");
    h5::write_attribute(data.id(), "empty", "");
    h5::write_attribute(data.id(), "step", 0.25);
    h5::write_attribute(data.id(), "step", 0.5);  // replaced, not refused
    h5::write_attribute<std::int32_t>(data.id(), "list", std::vector<std::int32_t>{1, 2, 3});
    data.close("data");
    file.close("a.h5");
  }
  const h5::File file = h5::open_file(path("a.h5"));
  EXPECT_TRUE(h5::exists(file.id(), "group/data"));
  EXPECT_FALSE(h5::exists(file.id(), "absent/data"));
  EXPECT_EQ(h5::dataset_paths(file.id()), std::vector<std::string>{"group/data"});
  const h5::Dataset data = h5::open_dataset(file.id(), "group/data");
  EXPECT_EQ(h5::shape_of(data), shape);
  EXPECT_EQ(h5::read_vector<float>(file.id(), "group/data"), values);
  EXPECT_EQ(h5::read_text_attribute(data.id(), "units"), "m s-1");
  EXPECT_EQ(h5::read_text_attribute(data.id(), "empty"), "");
  EXPECT_EQ(h5::find_number_attribute(data.id(), "step"), 0.5);
  EXPECT_EQ(h5::find_number_attribute(data.id(), "units"), std::nullopt);
  EXPECT_EQ(h5::find_text_attribute(data.id(), "absent"), std::nullopt);
  EXPECT_EQ(h5::read_number_attribute(data.id(), "list"), (std::vector<double>{1, 2, 3}));
}

TEST_F(Hdf5, ReadsOneBlockOfAnArray) {
  std::vector<std::int16_t> values(5 * 7);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  h5::File file = h5::create_file(path("a.h5"));
  const std::vector<hsize_t> shape{5, 7};
  const h5::Dataset data = h5::write_vector<std::int16_t>(file.id(), "data", shape, values);
  const std::vector<hsize_t> start{1, 2};
  const std::vector<hsize_t> count{2, 3};
  std::vector<std::int16_t> block(6);
  h5::read_block(data, H5T_NATIVE_INT16, start, count, block.data(), "data");
  EXPECT_EQ(block, (std::vector<std::int16_t>{9, 10, 11, 16, 17, 18}));
}

TEST_F(Hdf5, ContiguousOffsetPointsAtTheBytesInTheFile) {
  std::vector<std::int32_t> values(1000);
  std::iota(values.begin(), values.end(), 7);
  {
    h5::File file = h5::create_file(path("a.h5"));
    const std::vector<hsize_t> shape{1000};
    h5::write_vector<std::int32_t>(file.id(), "data", shape, values);
    file.close("a.h5");
  }
  const h5::File file = h5::open_file(path("a.h5"));
  const auto offset = h5::contiguous_offset(h5::open_dataset(file.id(), "data"));
  ASSERT_TRUE(offset);
  std::ifstream raw(path("a.h5"), std::ios::binary);
  raw.seekg(static_cast<std::streamoff>(*offset));
  std::vector<std::int32_t> from_file(1000);
  raw.read(reinterpret_cast<char*>(from_file.data()), 4000);
  EXPECT_EQ(from_file, values);
}

TEST_F(Hdf5, ComplexNumbersArePackedPairs) {
  const std::vector<std::complex<float>> values{{1, 2}, {3, 4}};
  h5::File file = h5::create_file(path("a.h5"));
  const h5::Datatype type = h5::pair_type(H5T_NATIVE_FLOAT);
  const h5::Dataset data = h5::create_dataset(file.id(), "data", type.id(), h5::make_space({2}));
  h5::write_all(data, type.id(), values.data(), "data");
  std::vector<std::complex<float>> back(2);
  h5::read_all(data, type.id(), back.data(), "data");
  EXPECT_EQ(back, values);
  EXPECT_EQ(h5::contiguous_offset(data).has_value(), true);
}

TEST_F(Hdf5, ChildrenComeInOrderOfCreation) {
  h5::File file = h5::create_file(path("a.h5"));
  for (const char* name : {"c", "a", "b"}) h5::create_group(file.id(), name);
  EXPECT_EQ(h5::child_names(file.id()), (std::vector<std::string>{"c", "a", "b"}));
  EXPECT_EQ(h5::child_kind(file.id(), "a"), h5::ChildKind::group);
}

TEST_F(Hdf5, TheImageOfAMemoryFileIsAFile) {
  {
    h5::MemoryFile file("memory", 1 << 16);
    const std::vector<hsize_t> shape{3};
    h5::write_vector<double>(file.id(), "data", shape, std::vector<double>{1, 2, 3});
    const h5::MemoryFile::Image image = file.finish();
    EXPECT_LT(image.size, std::size_t{1} << 16) << "the slack of the last step of growth is no part of the file";
    std::ofstream(path("a.h5"), std::ios::binary)
        .write(reinterpret_cast<const char*>(image.bytes().data()), static_cast<std::streamsize>(image.size));
  }
  EXPECT_FALSE(fs::exists("memory"));
  const h5::File file = h5::open_file(path("a.h5"));
  EXPECT_EQ(h5::read_vector<double>(file.id(), "data"), (std::vector<double>{1, 2, 3}));
}

TEST_F(Hdf5, FaultsAreOneLineWithTheLibrarysCause) {
  std::ofstream(path("text.h5")) << "this is no HDF5 file\n";
  ::testing::internal::CaptureStderr();
  try {
    h5::open_file(path("text.h5"));
    ADD_FAILURE() << "text was opened as HDF5";
  } catch (const h5::Hdf5Error& error) {
    EXPECT_EQ(error.cause(), "file signature not found");
    EXPECT_EQ(error.what(), "open file '" + path("text.h5") + "': file signature not found");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "the library printed its error stack";
}

TEST_F(Hdf5, ATruncatedFileNamesBothSizes) {
  {
    h5::File file = h5::create_file(path("a.h5"));
    const std::vector<hsize_t> shape{10000};
    h5::write_vector<double>(file.id(), "data", shape, std::vector<double>(10000, 1.0));
    file.close("a.h5");
  }
  const std::uintmax_t whole = fs::file_size(path("a.h5"));
  fs::resize_file(path("a.h5"), 5000);
  try {
    h5::open_file(path("a.h5"));
    ADD_FAILURE() << "a cut file was opened";
  } catch (const h5::Hdf5Error& error) {
    EXPECT_NE(error.cause().find("truncated file: eof = 5000"), std::string::npos) << error.what();
    EXPECT_NE(error.cause().find("stored_eof = " + std::to_string(whole)), std::string::npos) << error.what();
  }
}

TEST(Hdf5Error, FindsTheSystemsReasonInTheLibrarysMessage) {
  const h5::Hdf5Error full(
      "write", "x", "file write failed: time = now, errno = 28, error message = 'No space left on device', buf = 0x1");
  EXPECT_EQ(full.system_reason(), "No space left on device");
  EXPECT_EQ(h5::Hdf5Error("open", "x", "not a file").system_reason(), "");
}

}  // namespace
}  // namespace cornerturn
