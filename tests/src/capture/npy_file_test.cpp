#include "src/capture/npy_file.h"

#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

TEST(NpyFile, ReadsTypesByteOrdersAndComplexNumbers) {
  const CaptureFolder folder;
  struct Case {
    std::string type;
    std::size_t bytes;
    SampleFormat format;
    bool big_endian;
    bool complex_pair;
    std::size_t i_scalar;
  };
  const std::string real_first = "[('real', '<i2'), ('imag', '<i2')]";
  const std::string imag_first = "[('imag', '>f4'), ('real', '>f4')]";
  for (const Case& each :
       {Case{"|i1", 1, SampleFormat::int8, false, false, 0}, Case{"<u2", 2, SampleFormat::uint16, false, false, 0},
        Case{">i2", 2, SampleFormat::int16, true, false, 0}, Case{">f8", 8, SampleFormat::float64, true, false, 0},
        Case{"<c8", 8, SampleFormat::float32, false, true, 0}, Case{">c16", 16, SampleFormat::float64, true, true, 0},
        Case{real_first, 4, SampleFormat::int16, false, true, 0},
        Case{imag_first, 8, SampleFormat::float32, true, true, 1}}) {
    write_npy(folder / "a.npy", each.type, "2, 3", std::vector<std::byte>(6 * each.bytes));
    const auto array = open_npy(folder / "a.npy");
    ASSERT_TRUE(array) << each.type << ": " << array.error().message();
    EXPECT_EQ((*array)->element().format, each.format) << each.type;
    EXPECT_EQ((*array)->element().big_endian, each.big_endian) << each.type;
    EXPECT_EQ((*array)->element().complex_pair, each.complex_pair) << each.type;
    EXPECT_EQ((*array)->element().i_scalar, each.i_scalar) << each.type;
    EXPECT_EQ((*array)->element().bytes(), each.bytes) << each.type;
    EXPECT_EQ((*array)->shape(), (std::vector<std::uint64_t>{2, 3}));
  }
}

TEST(NpyFile, FortranOrderReversesTheStorage) {
  const CaptureFolder folder;
  const auto values = counted<std::int16_t>(6);  // in memory: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2)
  write_npy(folder / "a.npy", "<i2", "2, 3", std::as_bytes(std::span(values)), true);
  const auto array = open_npy(folder / "a.npy");
  ASSERT_TRUE(array);
  EXPECT_EQ((*array)->storage_order(), (std::vector<std::size_t>{1, 0}));
  std::vector<std::int16_t> row(3);
  ASSERT_TRUE((*array)->read_box({{1, 0}, {1, 3}}, std::as_writable_bytes(std::span(row))));
  EXPECT_EQ(row, (std::vector<std::int16_t>{1, 3, 5}));
}

TEST(NpyFile, RefusesDamagedFilesInOneLine) {
  const CaptureFolder folder;
  const std::vector<std::byte> data(12);
  const auto message = [&] {
    const auto array = open_npy(folder / "a.npy");
    EXPECT_FALSE(array);
    EXPECT_EQ(array.error().kind, ErrorKind::input);
    std::string text = array.error().message();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  };
  write_text(folder / "a.npy", "");
  EXPECT_NE(message().find("is empty (0 bytes)"), std::string::npos);
  write_text(folder / "a.npy", "\x93NUM");
  EXPECT_NE(message().find("cut inside its .npy header"), std::string::npos);
  write_text(folder / "a.npy", "this is a plain text file");
  EXPECT_NE(message().find("is not a .npy file"), std::string::npos);
  write_npy(folder / "a.npy", "<i2", "2, 4", data);
  EXPECT_NE(message().find("140 bytes on disk, 144 expected"), std::string::npos) << message();
  write_npy(folder / "a.npy", "|O", "6", data);
  EXPECT_NE(message().find("type |O"), std::string::npos);
  write_npy(folder / "a.npy", "<i8", "1", data);
  EXPECT_NE(message().find("type <i8"), std::string::npos);
  write_npy(folder / "a.npy", "<i2", "0, 6", data);
  EXPECT_NE(message().find("no samples"), std::string::npos);
  write_npy(folder / "a.npy", "<i2", "9223372036854775807, 9223372036854775807", data);
  EXPECT_NE(message().find("more than any file can hold"), std::string::npos);
  write_npy(folder / "a.npy", "<i2", "-3", data);
  EXPECT_NE(message().find("header that cannot be read"), std::string::npos);
  write_npy(folder / "a.npy", "<i2", "99999999999999999999999", data);
  EXPECT_NE(message().find("header that cannot be read"), std::string::npos);
  write_npy(folder / "a.npy", "[('a', '<i2'), ('b', '<f4')]", "2", data);
  EXPECT_NE(message().find("not read here"), std::string::npos);
}

TEST(NpyFile, DamagedHeadersNeitherCrashNorReadBeyondTheFile) {
  const CaptureFolder folder;
  write_npy(folder / "a.npy", "[('real', '<i2'), ('imag', '<i2')]", "2, 3", std::vector<std::byte>(24));
  std::ifstream file(folder / "a.npy", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  std::mt19937 random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bad = good;
    const std::size_t header = bad.size() - 24;
    for (unsigned change = 0; change <= random() % 4; ++change)
      bad[random() % header] =
          random() % 2 == 0 ? "0123456789(),'<>[]{}: "[random() % 22] : static_cast<char>(random());
    write_text(folder / "b.npy", bad);
    const auto array = open_npy(folder / "b.npy");
    if (!array) {
      ASSERT_EQ(array.error().kind, ErrorKind::input);
      continue;
    }
    const std::uint64_t bytes = ArrayBox{{}, (*array)->shape()}.element_count() * (*array)->element().bytes();
    ASSERT_LE(bytes, bad.size());
    std::vector<std::byte> out(bytes);
    ASSERT_TRUE((*array)->read_box({std::vector<std::uint64_t>((*array)->shape().size()), (*array)->shape()}, out));
  }
}

TEST(NpyFile, EveryCutOfTheHeaderIsRefused) {
  const CaptureFolder folder;
  write_npy(folder / "a.npy", "<i2", "2, 3", std::vector<std::byte>(12));
  const auto size = std::filesystem::file_size(folder / "a.npy");
  for (std::uintmax_t length = size; length-- > 0;) {
    std::filesystem::resize_file(folder / "a.npy", length);
    ASSERT_FALSE(open_npy(folder / "a.npy")) << length;
  }
}

}  // namespace
}  // namespace cornerturn
