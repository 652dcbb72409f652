// Several devices behind one backend: with one GPU, the same device listed twice.
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>

#include "dsp/chain/backend_group.h"
#include "dsp/chain/write_lease.h"
#include "kernels/cuda/fault_injection.h"
#include "src/stream/session.h"
#include "tests/dsp/chain/chain_helpers.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn {
namespace {

using cuda::Fault;
using cuda::inject_fault;

constexpr CpiShape kShape{4, 32, 64};

RadarDescription radar_of_test() {
  RadarDescription radar = test::worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(4, radar.waveform.wavelength_m() / 2.0);
  return radar;
}

ChainPlan plan_of_test() {
  auto plan = make_chain_plan(radar_of_test(), make_contiguous_layout(kShape, SampleFormat::int16, IqOrder::iq), kShape,
                              ChainConfig{});
  if (!plan) throw std::runtime_error(plan.error().message());
  return std::move(*plan);
}

std::unique_ptr<Backend> backend_on(const std::vector<unsigned>& devices, const std::string& memory) {
  BackendOptions options;
  options.memory = memory;
  options.threads = 1;
  options.devices = devices;
  auto backend = cuda::make_cuda_backend(plan_of_test(), options);
  if (!backend) ADD_FAILURE() << backend.error().message();
  return backend ? std::move(*backend) : nullptr;
}

class DeviceGroup : public test::Gpu {
 protected:
  void TearDown() override { inject_fault(Fault::launch, 0); }
};

TEST_F(DeviceGroup, SameDeviceTwiceGivesTheResultsOfOne) {
  const ChainPlan plan = plan_of_test();
  for (const char* memory : {"pageable", "overlapped", "zero-copy-wc", "hybrid"}) {
    const auto pair = backend_on({0, 0}, memory);
    const auto single = backend_on({0}, memory);
    ASSERT_TRUE(pair && single);
    EXPECT_EQ(pair->max_in_flight(), 2 * single->max_in_flight());
    EXPECT_EQ(pair->info().device.rfind("2 x ", 0), 0u) << pair->info().device;
    std::vector<std::unique_ptr<test::BackendSlot>> slots;  // of the first member; the second reads them too
    std::vector<Ticket> tickets;
    for (std::size_t i = 0; i < pair->max_in_flight(); ++i) {
      slots.push_back(std::make_unique<test::BackendSlot>(*pair, test::make_raw_cpi(plan, i)));
      tickets.push_back(pair->enqueue(slots.back()->lease_whole(kShape), {}));
    }
    for (const std::uint64_t share : dynamic_cast<BackendGroup&>(*pair).shares())
      EXPECT_EQ(share, single->max_in_flight());
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      const auto result = pair->wait(tickets[i]);
      ASSERT_TRUE(result) << result.error().message();
      test::BackendSlot slot(*single, test::make_raw_cpi(plan, i));
      const auto expected = single->wait(single->enqueue(slot.lease_whole(kShape), {}));
      ASSERT_TRUE(expected);
      const auto a = (*result)->result.find("range_doppler_power")->values<float>();
      const auto b = (*expected)->result.find("range_doppler_power")->values<float>();
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << memory << ", CPI " << i;
    }
  }
}

TEST_F(DeviceGroup, OneUnknownDeviceIsAUsageErrorThatNamesIt) {
  BackendOptions options;
  options.memory = "hybrid";
  options.devices = {0, 63};
  const auto backend = cuda::make_cuda_backend(plan_of_test(), options);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().kind, ErrorKind::usage);
  EXPECT_NE(backend.error().message().find("no GPU 63"), std::string::npos) << backend.error().message();
}

/// CPIs of noise and echoes, each other than the one before.
class RawSource final : public CaptureSource {
 public:
  explicit RawSource(std::size_t cpi_count) {
    info_.path = "raw";
    info_.shape = kShape;
    info_.layout = make_contiguous_layout(kShape, SampleFormat::int16, IqOrder::iq);
    info_.slot_bytes = required_bytes(info_.layout, kShape).value();
    info_.cpi_count = cpi_count;
    info_.cpi_period_s = 0.1;
    info_.radar = radar_of_test();
    const ChainPlan plan = plan_of_test();
    for (std::size_t i = 0; i < 5; ++i) cpis_.push_back(test::make_raw_cpi(plan, i));
  }
  const CaptureInfo& info() const override { return info_; }
  Expected<Fill> fill(WriteLease& slot) override {
    if (next_ == info_.cpi_count) return Fill::end;
    const std::vector<std::byte>& cpi = cpis_[next_ % cpis_.size()];
    std::memcpy(slot.memory().data(), cpi.data(), cpi.size());
    slot.header().index = next_++;
    slot.publish_segment({slot.memory().first(cpi.size()), 0, kShape.pulse_count});
    return Fill::filled;
  }
  Expected<void> seek(std::size_t cpi_index) override {
    next_ = cpi_index;
    return {};
  }

 private:
  CaptureInfo info_;
  std::vector<std::vector<std::byte>> cpis_;
  std::size_t next_ = 0;
};

/// Remembers the order of CPIs and a figure of each map.
class OrderSink final : public ResultSink {
 public:
  explicit OrderSink(std::vector<std::pair<std::uint64_t, double>>& seen) : seen_(seen) {}
  std::string name() const override { return "order"; }
  Expected<void> begin(const RunDescription&) override { return {}; }
  Expected<void> accept(const CpiResult& result) override {
    double sum = 0.0;
    for (const float power : result.find("range_doppler_power")->values<float>()) sum += static_cast<double>(power);
    seen_.emplace_back(result.header.index, sum);
    return {};
  }
  Expected<void> finish(bool) override { return {}; }

 private:
  std::vector<std::pair<std::uint64_t, double>>& seen_;
};

SessionReport run_session(const std::vector<unsigned>& devices, std::size_t cpi_count,
                          std::vector<std::pair<std::uint64_t, double>>& seen,
                          const std::function<void()>& before_cpis = {}) {
  StreamConfiguration configuration;
  configuration.make_backend = [&](const CaptureInfo&, const ChainConfig&,
                                   std::size_t result_slots) -> Expected<std::unique_ptr<Backend>> {
    BackendOptions options;
    options.memory = "hybrid";
    options.threads = 1;
    options.devices = devices;
    options.result_slots = result_slots;
    auto backend = cuda::make_cuda_backend(plan_of_test(), options);
    if (before_cpis) before_cpis();
    return backend;
  };
  std::vector<SinkSetup> sinks;
  sinks.push_back({std::make_unique<OrderSink>(seen), SinkPolicy::lossless, 4});
  Session session(std::make_unique<RawSource>(cpi_count), std::move(configuration), std::move(sinks));
  return session.run();
}

TEST_F(DeviceGroup, SessionRetiresResultsInOrderAsWithOneDevice) {
  constexpr std::size_t kCpis = 200;
  std::vector<std::pair<std::uint64_t, double>> of_one;
  std::vector<std::pair<std::uint64_t, double>> of_two;
  const SessionReport one = run_session({0}, kCpis, of_one);
  const SessionReport two = run_session({0, 0}, kCpis, of_two);
  ASSERT_TRUE(one.complete() && two.complete());
  ASSERT_EQ(of_two.size(), kCpis);
  for (std::size_t i = 0; i < kCpis; ++i) EXPECT_EQ(of_two[i].first, i);
  EXPECT_EQ(of_one, of_two);
}

TEST_F(DeviceGroup, FailingLaunchIsToldAndAllOtherResultsAreKept) {
  constexpr std::size_t kCpis = 40;
  std::vector<std::pair<std::uint64_t, double>> seen;
  const SessionReport report =
      run_session({0, 0}, kCpis, seen, [] { inject_fault(Fault::launch, 1, 10); });  // one unpack launch a CPI
  EXPECT_FALSE(report.error);
  ASSERT_TRUE(report.first_cpi_error);
  EXPECT_NE(report.first_cpi_error->message().find("launch of"), std::string::npos);
  EXPECT_EQ(report.statistics.dropped[DropCause::failed], 1u);
  ASSERT_EQ(seen.size(), kCpis - 1);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i].first, seen[i - 1].first);
}

}  // namespace
}  // namespace cornerturn
