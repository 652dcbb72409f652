#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "src/result/result_sink.h"

namespace cornerturn::testing {

/// What a FakeSink saw; outlives the session. Read it after run().
struct SinkLog {
  struct Result {
    std::uint64_t index = 0;
    std::uint32_t version = 0;
    double byte = 0.0;
    double pfa = 0.0;
  };
  std::vector<std::uint32_t> begun;  ///< versions
  std::vector<std::uint32_t> begun_at_result;
  std::vector<Result> results;
  int finished = 0;
  bool complete = false;
  std::thread::id thread;
  bool one_thread = true;
};

struct FakeSinkOptions {
  std::string name = "fake sink";
  std::chrono::microseconds accept_time{0};
  bool begin_fails = false;
  bool finish_fails = false;
  std::uint64_t accept_fails_at = UINT64_MAX;
  std::uint64_t accept_throws_at = UINT64_MAX;
  std::function<void(const CpiResult&)> on_accept{};  ///< on the sink's thread
};

class FakeSink final : public ResultSink {
 public:
  FakeSink(FakeSinkOptions options, std::shared_ptr<SinkLog> log)
      : options_(std::move(options)), log_(std::move(log)) {}

  std::string name() const override { return options_.name; }
  Expected<void> begin(const RunDescription& run) override {
    check_thread();
    if (options_.begin_fails) return runtime_error(options_.name, "cannot be written");
    log_->begun.push_back(run.configuration_version);
    return {};
  }
  Expected<void> accept(const CpiResult& result) override {
    check_thread();
    if (options_.accept_time.count() > 0) std::this_thread::sleep_for(options_.accept_time);
    if (result.header.index == options_.accept_fails_at) return runtime_error(options_.name, "disk full");
    if (result.header.index == options_.accept_throws_at) throw std::runtime_error("library failed");
    if (options_.on_accept) options_.on_accept(result);
    const auto values = result.products.at(0).values<double>();
    log_->results.push_back({result.header.index, result.header.configuration_version, values[0], values[1]});
    log_->begun_at_result.push_back(log_->begun.back());
    return {};
  }
  Expected<void> finish(bool complete) override {
    check_thread();
    ++log_->finished;
    log_->complete = complete;
    if (options_.finish_fails) return runtime_error(options_.name, "cannot be closed");
    return {};
  }

 private:
  void check_thread() {
    if (log_->thread == std::thread::id{}) log_->thread = std::this_thread::get_id();
    if (log_->thread != std::this_thread::get_id()) log_->one_thread = false;
  }

  const FakeSinkOptions options_;
  const std::shared_ptr<SinkLog> log_;
};

}  // namespace cornerturn::testing
