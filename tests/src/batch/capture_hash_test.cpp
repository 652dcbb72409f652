#include "src/batch/capture_hash.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

class CaptureHash : public testing::Test {
 protected:
  std::string write_file(const std::string& content) const {
    const auto path = std::filesystem::path(testing::TempDir()) /
                      (std::string("hash_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::atomic<bool> stop_{false};
};

TEST_F(CaptureHash, IsThePublishedValueForNoBytes) {
  const auto hash = hash_capture(write_file(""), stop_);
  ASSERT_TRUE(hash);
  if (hash->empty()) GTEST_SKIP() << "built without xxhash";
  EXPECT_EQ(*hash, "xxh3-128:99aa06d3014798d86001c324468d497f");  // seed 0, from the algorithm's own test vectors
}

TEST_F(CaptureHash, SeesOneChangedByteBeyondTheFirstBlock) {
  std::string content(std::size_t{5} << 20, 'a');
  const auto before = hash_capture(write_file(content), stop_);
  content[(std::size_t{5} << 20) - 10] = 'b';
  const auto after = hash_capture(write_file(content), stop_);
  ASSERT_TRUE(before && after);
  if (before->empty()) GTEST_SKIP() << "built without xxhash";
  EXPECT_NE(*before, *after);
}

TEST_F(CaptureHash, IsEmptyForWhatIsNoFile) {
  EXPECT_EQ(hash_capture("sim://", stop_), "");
  EXPECT_EQ(hash_capture(testing::TempDir(), stop_), "");
}

TEST_F(CaptureHash, GivesUpWhenStopped) {
  const std::string path = write_file("content");
  if (hash_capture(path, stop_)->empty()) GTEST_SKIP() << "built without xxhash";
  stop_ = true;
  const auto hash = hash_capture(path, stop_);
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace cornerturn
