#include "src/stream/memory_cache.h"

#include <fstream>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

class MemoryCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file() const { return folder_ / "deep" / "memory-strategy.json"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(MemoryCacheTest, FindsWhatWasRememberedUnderItsKeyAlone) {
  const MemoryCache cache(file());
  EXPECT_FALSE(cache.find("a GPU, 10 bytes"));
  cache.remember("a GPU, 10 bytes", {"hybrid", "auto: 1 ms"});
  cache.remember("a GPU, 20 bytes", {"overlapped", "auto: 2 ms"});
  const MemoryCache later(file());
  ASSERT_TRUE(later.find("a GPU, 10 bytes"));
  EXPECT_EQ(later.find("a GPU, 10 bytes")->memory, "hybrid");
  EXPECT_EQ(later.find("a GPU, 20 bytes")->reason, "auto: 2 ms");
  EXPECT_FALSE(later.find("another GPU, 10 bytes"));
}

TEST_F(MemoryCacheTest, DamagedFileIsMeasuredAgainAndWrittenOver) {
  std::filesystem::create_directories(file().parent_path());
  for (const char* text : {"", "{\"key\": ", "[1, 2]", "{\"key\": 7}", "{\"key\": {\"memory\": 1, \"reason\": []}}"}) {
    std::ofstream(file()) << text;
    const MemoryCache cache(file());
    EXPECT_FALSE(cache.find("key")) << text;
    cache.remember("key", {"pinned", "why"});
    ASSERT_TRUE(cache.find("key")) << text;
    EXPECT_EQ(cache.find("key")->memory, "pinned");
  }
}

TEST_F(MemoryCacheTest, NowhereToWriteIsNoError) {
  const MemoryCache none({});
  none.remember("key", {"pinned", "why"});
  EXPECT_FALSE(none.find("key"));
  const MemoryCache impossible("/proc/no/such/place.json");
  impossible.remember("key", {"pinned", "why"});
  EXPECT_FALSE(impossible.find("key"));
}

TEST_F(MemoryCacheTest, KeyTellsVersionDeviceAndSize) {
  ChainPlan plan;
  plan.shape = {4, 128, 256};
  plan.layout = make_contiguous_layout(plan.shape, SampleFormat::int16, IqOrder::iq);
  const std::string key = MemoryCache::key_of("a GPU", plan);
  EXPECT_NE(key.find("a GPU"), std::string::npos) << key;
  EXPECT_NE(key.find("524288 bytes"), std::string::npos) << key;
  plan.config.covariance.enabled = true;
  EXPECT_NE(MemoryCache::key_of("a GPU", plan), key);
}

}  // namespace
}  // namespace cornerturn
