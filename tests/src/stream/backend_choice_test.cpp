#include "src/stream/backend_choice.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(BackendChoice, UnknownNameIsAUsageErrorThatNamesTheChoices) {
  const auto choice = make_backend("gpu", {});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().kind, ErrorKind::usage);
  EXPECT_EQ(choice.error().message(), "--backend: 'gpu' is not a backend; use auto, cpu or cuda");
}

TEST(BackendChoice, CudaSaysWhyItIsNotAvailable) {
  const std::vector<BackendAvailability> rows = available_backends();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "cpu");
  EXPECT_TRUE(rows[0].available);
  EXPECT_FALSE(rows[0].devices.empty());
  EXPECT_EQ(rows[1].name, "cuda");
  if (rows[1].available) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_FALSE(rows[1].reason.empty());

  const auto choice = make_backend("cuda", {});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().kind, ErrorKind::usage);
  EXPECT_NE(choice.error().message().find("use --backend cpu"), std::string::npos);
}

TEST(BackendChoice, ModuleThatIsNoLibraryIsRefusedInWords) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "text_renamed.so";
  std::ofstream(path) << "not a library";
  const auto module = load_backend_module(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().message().find("cannot be loaded"), std::string::npos);
}

TEST(BackendChoice, LibraryWithoutTheSymbolIsRefusedInWords) {
  const auto module = load_backend_module("libm.so.6");
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().message().find("lacks cornerturn_backend_module"), std::string::npos);
}

TEST(BackendChoice, ModuleIsLoadedAndMakesItsBackend) {
  const auto module = load_backend_module(FAKE_BACKEND_MODULE);
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_STREQ((*module)->name, "fake module");
  const auto devices = (*module)->devices();
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->at(0).name, "imagined device");
  BackendOptions options;
  options.memory = "zero-copy";
  const auto backend = (*module)->make({}, options);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().message(), "fake module: cannot make 'zero-copy'");  // options got through
}

TEST(BackendChoice, MemoryAndDevicesAskForCudaInWords) {
  BackendOptions options;
  options.memory = "hybrid";
  options.devices = {0, 1};
  const auto cpu = make_backend("cpu", {}, options);
  ASSERT_FALSE(cpu);
  EXPECT_EQ(cpu.error().kind, ErrorKind::usage);
  EXPECT_EQ(cpu.error().where, "--memory hybrid --devices 0,1");
  if (available_backends()[1].available) GTEST_SKIP() << "this machine has a CUDA device";
  const auto none = make_backend("auto", {}, options);  // not silently the processor
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
  EXPECT_NE(none.error().message().find("needs the CUDA backend"), std::string::npos) << none.error().message();
}

TEST(BackendChoice, WordsOfMemoryAndDevicesAreChecked) {
  for (const std::string_view name : memory_names()) EXPECT_TRUE(parse_memory(name));
  EXPECT_FALSE(parse_memory("magic"));
  ASSERT_TRUE(parse_devices("0,3,0"));
  EXPECT_EQ(*parse_devices("0,3,0"), (std::vector<unsigned>{0, 3, 0}));
  for (const char* text : {"", ",", "0,", "-1", "1x", "0 1", "99999999999"}) {
    const auto devices = parse_devices(text);
    ASSERT_FALSE(devices) << text;
    EXPECT_EQ(devices.error().kind, ErrorKind::usage);
  }
}

TEST(BackendChoice, FactoryPassesOnErrorsOfThePlan) {
  const BackendFactory make = chain_backend_factory("cpu");
  const auto backend = make(CaptureInfo{}, ChainConfig{}, 4);  // a capture without a single sample
  ASSERT_FALSE(backend);
  EXPECT_FALSE(backend.error().message().empty());
}

}  // namespace
}  // namespace cornerturn
