#include "src/capture/array_file.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

std::unique_ptr<ContiguousArray> open_array(const std::string& path, std::vector<std::uint64_t> shape, bool fortran,
                                            std::uint64_t offset) {
  auto file = ReadOnlyFile::open(path);
  auto array = ContiguousArray::make(std::move(*file), ArrayElement{}, std::move(shape), fortran, offset);
  EXPECT_TRUE(array) << (array ? "" : array.error().message());
  return array ? std::move(*array) : nullptr;
}

/// What read_box must give, element by element, from the whole file in memory.
std::vector<std::int16_t> plain_box(const std::vector<std::int16_t>& file, const ContiguousArray& array,
                                    const ArrayBox& box) {
  const auto& order = array.storage_order();
  std::vector<std::uint64_t> stride(order.size());
  std::uint64_t step = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    stride[*axis] = step;
    step *= array.shape()[*axis];
  }
  std::vector<std::int16_t> out;
  for (std::uint64_t index = 0; index < box.element_count(); ++index) {
    std::uint64_t rest = index;
    std::uint64_t at = array.offset() / 2;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      at += (box.start[*axis] + rest % box.count[*axis]) * stride[*axis];
      rest /= box.count[*axis];
    }
    out.push_back(file[at]);
  }
  return out;
}

TEST(ContiguousArray, BoxesEqualPlainIndexing) {
  const CaptureFolder folder;
  const std::vector<std::uint64_t> shape{7, 5, 3, 11};
  const auto values = counted<std::int16_t>(10 + 7 * 5 * 3 * 11);
  write_values(folder / "a.bin", values);
  std::mt19937 random(1);
  for (const bool fortran : {false, true}) {
    const auto array = open_array(folder / "a.bin", shape, fortran, 20);
    for (int trial = 0; trial < 200; ++trial) {
      ArrayBox box{std::vector<std::uint64_t>(4), std::vector<std::uint64_t>(4)};
      for (std::size_t axis = 0; axis < 4; ++axis) {
        box.start[axis] = random() % shape[axis];
        box.count[axis] = 1 + random() % (shape[axis] - box.start[axis]);
      }
      std::vector<std::int16_t> out(box.element_count());
      ASSERT_TRUE(array->read_box(box, std::as_writable_bytes(std::span(out))));
      ASSERT_EQ(out, plain_box(values, *array, box)) << "trial " << trial << " fortran " << fortran;
    }
  }
}

TEST(ContiguousArray, GathersSingleElementsOfALargeFile) {
  const CaptureFolder folder;
  constexpr std::uint64_t kRows = 3000;
  constexpr std::uint64_t kColumns = 1000;  // 6 MB: several windows
  const auto values = counted<std::int16_t>(kRows * kColumns);
  write_values(folder / "a.bin", values);
  const auto array = open_array(folder / "a.bin", {kRows, kColumns}, false, 0);
  std::vector<std::int16_t> out(kRows);
  ASSERT_TRUE(array->read_box({{0, 999}, {kRows, 1}}, std::as_writable_bytes(std::span(out))));
  for (std::size_t row = 0; row < kRows; ++row) ASSERT_EQ(out[row], values[row * kColumns + 999]);
}

TEST(ContiguousArray, RefusesAFileThatIsTooShortWithBothSizes) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(50));
  const auto array = ContiguousArray::make(*ReadOnlyFile::open(folder / "a.bin"), ArrayElement{}, {10, 6}, false, 0);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().kind, ErrorKind::input);
  EXPECT_NE(array.error().message().find("100 bytes on disk, 120 expected"), std::string::npos)
      << array.error().message();
}

TEST(ContiguousArray, RefusesSizesThatOverflow) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(50));
  const std::uint64_t huge = std::uint64_t{1} << 33;
  for (const std::vector<std::uint64_t>& shape :
       {std::vector<std::uint64_t>{huge, huge}, {huge, huge, 0}, {UINT64_MAX}, {0, 4}, {UINT64_MAX / 2 + 1}}) {
    const auto array = ContiguousArray::make(*ReadOnlyFile::open(folder / "a.bin"), ArrayElement{}, shape, false, 0);
    ASSERT_FALSE(array);
    EXPECT_EQ(array.error().kind, ErrorKind::input);
  }
  // The offset takes part in the sum, too.
  EXPECT_FALSE(
      ContiguousArray::make(*ReadOnlyFile::open(folder / "a.bin"), ArrayElement{}, {4}, false, UINT64_MAX - 3));
}

TEST(ContiguousArray, SaysWhereAFileEndsThatShrank) {
  const CaptureFolder folder;
  write_values(folder / "a.bin", counted<std::int16_t>(50));
  const auto array = open_array(folder / "a.bin", {50}, false, 0);
  std::filesystem::resize_file(folder / "a.bin", 30);
  std::vector<std::byte> out(100);
  const auto done = array->read_box({{0}, {50}}, out);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("ends at byte 30"), std::string::npos) << done.error().message();
}

TEST(ReadOnlyFile, RefusesWhatIsNoFile) {
  const CaptureFolder folder;
  EXPECT_NE(ReadOnlyFile::open(folder / "none").error().message().find("no such file"), std::string::npos);
  EXPECT_NE(ReadOnlyFile::open(folder / "").error().message().find("is a folder"), std::string::npos);
  EXPECT_FALSE(ReadOnlyFile::open("/dev/zero"));
}

}  // namespace
}  // namespace cornerturn
