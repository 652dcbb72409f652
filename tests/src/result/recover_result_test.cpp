#include "src/result/recover_result.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "src/result/hdf5_result_sink.h"
#include "src/support/hdf5.h"
#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

namespace fs = std::filesystem;
using testing::MadeResult;
using testing::make_detection;
using testing::make_run;
using testing::ScratchFolder;

ResultWriterOptions options_for(const std::string& path, std::size_t segment_bytes) {
  ResultWriterOptions options;
  options.hdf5_path = path;
  options.segment_bytes = segment_bytes;
  options.segment_s = 1e9;
  return options;
}

std::size_t count_segments(const std::string& result_path) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(result_path + ".parts", error))
    count += entry.path().extension() == ".h5" ? 1 : 0;
  return count;
}

/// Writes `cpi_count` CPIs of one detection each, one CPI a segment, and dies without finish().
void write_and_die(const std::string& path, std::uint64_t cpi_count) {
  Hdf5ResultSink sink(options_for(path, 1));
  ASSERT_TRUE(sink.begin(make_run()));
  for (std::uint64_t cpi = 0; cpi < cpi_count; ++cpi) {
    MadeResult result(cpi, {make_detection(5.0, 1.0, 30.0)});
    ASSERT_TRUE(sink.accept(result.result()));
  }
}

TEST(RecoverResult, GivesBackAllClosedSegmentsAfterAKill) {
  const ScratchFolder folder("kill");
  const std::string path = folder / "out.h5";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Hdf5ResultSink sink(options_for(path, 20'000));  // two or three CPIs a segment
    if (!sink.begin(make_run())) ::_exit(1);
    for (std::uint64_t cpi = 0;; ++cpi) {
      MadeResult result(cpi, {make_detection(5.0, 1.0, 30.0)}, testing::MadeShape{.channels = 0});
      if (!sink.accept(result.result())) ::_exit(1);
    }
  }
  while (count_segments(path) < 4 && ::waitpid(child, nullptr, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::size_t closed = count_segments(path);

  const Expected<RecoverReport> report = recover_result(path);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->segment_count, closed);
  EXPECT_GE(report->cpi_count, 2 * closed);
  EXPECT_TRUE(report->skipped.empty());
  EXPECT_FALSE(fs::exists(path + ".parts"));

  const h5::File file = h5::open_file(path);
  const std::vector<std::int64_t> cpis = h5::read_vector<std::int64_t>(file.id(), "cpi");
  ASSERT_EQ(cpis.size(), report->cpi_count);
  for (std::size_t i = 0; i < cpis.size(); ++i) EXPECT_EQ(cpis[i], static_cast<std::int64_t>(i));
  const std::vector<float> maps = h5::read_vector<float>(file.id(), "range_doppler_power");
  const MadeResult last(cpis.size() - 1, {make_detection(5.0, 1.0, 30.0)}, testing::MadeShape{.channels = 0});
  EXPECT_TRUE(std::equal(last.map().rbegin(), last.map().rend(), maps.rbegin()));
  EXPECT_EQ(h5::find_number_attribute(file.id(), "complete"), 0.0);
}

TEST(RecoverResult, TakesTheResultOrItsFolder) {
  const ScratchFolder folder("paths");
  for (const char* given : {"out.h5", "out.h5.parts", "out.h5.parts/"}) {
    write_and_die(folder / "out.h5", 2);
    const Expected<RecoverReport> report = recover_result(folder / given);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->result_path, folder / "out.h5");
    EXPECT_EQ(report->cpi_count, 2U);
    EXPECT_EQ(report->detection_count, 2U);
  }
}

TEST(RecoverResult, SkipsADamagedSegmentAndKeepsIt) {
  const ScratchFolder folder("damaged");
  const std::string path = folder / "out.h5";
  write_and_die(path, 3);
  fs::resize_file(path + ".parts/000001.h5", 1000);
  const Expected<RecoverReport> report = recover_result(path);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->segment_count, 2U);
  ASSERT_EQ(report->skipped.size(), 1U);
  EXPECT_NE(report->skipped.front().find("000001.h5"), std::string::npos);
  EXPECT_TRUE(fs::exists(path + ".parts.unreadable/000001.h5"));
  const h5::File file = h5::open_file(path);
  EXPECT_EQ(h5::read_vector<std::int64_t>(file.id(), "cpi"), (std::vector<std::int64_t>{0, 2}));
}

TEST(RecoverResult, IgnoresAHalfWrittenSegment) {
  const ScratchFolder folder("half");
  const std::string path = folder / "out.h5";
  write_and_die(path, 2);
  std::ofstream(path + ".parts/000002.h5.partial") << "cut short";
  const Expected<RecoverReport> report = recover_result(path);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->cpi_count, 2U);
  EXPECT_FALSE(fs::exists(path + ".parts"));
}

TEST(RecoverResult, SaysWhenThereIsNothing) {
  const ScratchFolder folder("nothing");
  const Expected<RecoverReport> absent = recover_result(folder / "out.h5");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::input);
  write_and_die(folder / "empty.h5", 0);
  EXPECT_FALSE(recover_result(folder / "empty.h5"));
}

TEST(RecoverResult, LeavesARunningWriterAlone) {
  const ScratchFolder folder("running");
  Hdf5ResultSink sink(options_for(folder / "out.h5", 1));
  MadeResult result(0);
  ASSERT_TRUE(sink.begin(make_run()));
  ASSERT_TRUE(sink.accept(result.result()));
  const Expected<RecoverReport> report = recover_result(folder / "out.h5");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::usage);
  EXPECT_TRUE(sink.finish(true));
}

/// In a child, so that limits and mounts end with it: fills the disk, reports the message, returns CPIs kept.
struct FullDisk {
  std::string accept_message;
  std::string finish_message;
  std::uint64_t accepted = 0;
};
FullDisk write_until_full(const std::string& path) {
  FullDisk outcome;
  Hdf5ResultSink sink(options_for(path, 1));
  if (const auto begun = sink.begin(make_run()); !begun) {
    outcome.accept_message = begun.error().message();
    return outcome;
  }
  for (std::uint64_t cpi = 0; cpi < 1000; ++cpi) {
    MadeResult result(cpi, {make_detection(5.0, 1.0, 30.0)}, testing::MadeShape{.gates = 512, .bins = 128});
    if (const auto accepted = sink.accept(result.result()); !accepted) {
      outcome.accept_message = accepted.error().message();
      break;
    }
    ++outcome.accepted;
  }
  if (const auto finished = sink.finish(false); !finished) outcome.finish_message = finished.error().message();
  return outcome;
}

TEST(ResultDiskFull, IsOneLineAndTheSegmentsBeforeAreKept) {
  const ScratchFolder folder("full");
  const std::string disk = folder / "disk";
  fs::create_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "mounting needs root";
  const std::string path = disk + "/out.h5";
  const FullDisk outcome = write_until_full(path);
  EXPECT_NE(outcome.accept_message.find("No space left on device"), std::string::npos) << outcome.accept_message;
  EXPECT_NE(outcome.accept_message.find("cornerturn recover"), std::string::npos) << outcome.accept_message;
  EXPECT_EQ(outcome.accept_message.find('\n'), std::string::npos);
  EXPECT_NE(outcome.finish_message.find("No space left on device"), std::string::npos) << outcome.finish_message;
  EXPECT_GE(outcome.accepted, 2U);
  EXPECT_EQ(count_segments(path), outcome.accepted);

  // On a larger disk everything that was accepted comes back.
  ::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m");
  const Expected<RecoverReport> report = recover_result(path);
  EXPECT_TRUE(report) << report.error().message();
  if (report) {
    EXPECT_EQ(report->cpi_count, outcome.accepted);
  }
  ::umount(disk.c_str());
}

TEST(ResultDiskFull, ALimitOnFileSizesIsReportedLikewise) {
  const ScratchFolder folder("limit");
  const std::string path = folder / "out.h5";
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};  // each segment is smaller, the joined file is not
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Hdf5ResultSink sink(options_for(path, 1));
    std::string message = "began not";
    if (sink.begin(make_run())) {
      for (std::uint64_t cpi = 0; cpi < 5; ++cpi) {
        MadeResult result(cpi, {}, testing::MadeShape{.gates = 512, .bins = 128, .channels = 0});
        if (const auto accepted = sink.accept(result.result()); !accepted) ::_exit(2);
      }
      const auto finished = sink.finish(true);
      message = finished ? "finished" : finished.error().message();
    }
    ::_exit(::write(channel[1], message.data(), message.size()) > 0 ? 0 : 1);
  }
  ::close(channel[1]);
  std::string message(4096, '\0');
  const ssize_t size = ::read(channel[0], message.data(), message.size());
  message.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_NE(message.find("safe in 5 segment(s)"), std::string::npos) << message;
  const Expected<RecoverReport> report = recover_result(path);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->cpi_count, 5U);
}

}  // namespace
}  // namespace cornerturn
