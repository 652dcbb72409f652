#include <chrono>
#include <limits>
#include <thread>

#include "dsp/stage/detection.h"
#include "kernels/cuda/fault_injection.h"
#include "tests/dsp/chain/chain_helpers.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn {
namespace {

using cuda::Fault;
using cuda::inject_fault;

class CudaBackend : public test::Gpu {
 protected:
  void TearDown() override {
    for (const Fault fault : {Fault::launch, Fault::pinned_memory, Fault::device_memory}) inject_fault(fault, 0);
  }
};

ChainPlan small_plan(SampleFormat format = SampleFormat::int16, IqOrder order = IqOrder::iq) {
  const CpiShape shape{4, 32, 64};
  RadarDescription radar = test::worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(4, radar.waveform.wavelength_m() / 2.0);
  ChainConfig config;
  config.cfar.pfa = 1e-3;
  auto plan = make_chain_plan(radar, make_contiguous_layout(shape, format, order), shape, config);
  if (!plan) throw std::runtime_error(plan.error().message());
  return std::move(*plan);
}

std::vector<float> map_of(const CpiResult& result) {
  const auto values = result.find("range_doppler_power")->values<float>();
  return {values.begin(), values.end()};
}

std::vector<float> map_of(Backend& backend, test::BackendSlot& slot, const CpiShape& shape) {
  auto result = backend.wait(backend.enqueue(slot.lease_whole(shape), {}));
  if (!result) {
    ADD_FAILURE() << result.error().message();
    return {};
  }
  return map_of((*result)->result);
}

TEST_F(CudaBackend, TicketsMayBeWaitedForInAnyOrder) {
  const ChainPlan plan = small_plan();
  const auto backend = test::gpu_backend(plan);
  ASSERT_TRUE(backend);
  const std::size_t count = backend->max_in_flight();
  ASSERT_GE(count, 2U);
  std::vector<std::unique_ptr<test::BackendSlot>> slots;
  std::vector<std::vector<float>> alone;
  for (std::size_t i = 0; i < count; ++i) {
    slots.push_back(std::make_unique<test::BackendSlot>(*backend, test::make_raw_cpi(plan, i)));
    alone.push_back(map_of(*backend, *slots.back(), plan.shape));
  }
  for (int round = 0; round < 5; ++round) {
    std::vector<Ticket> tickets;
    for (auto& slot : slots) tickets.push_back(backend->enqueue(slot->lease_whole(plan.shape), {}));
    for (std::size_t i = count; i-- > 0;) {
      auto result = backend->wait(tickets[i]);
      ASSERT_TRUE(result);
      EXPECT_EQ(map_of((*result)->result), alone[i]);
    }
  }
}

TEST_F(CudaBackend, StartsOnSegmentsAsTheyArrive) {
  const ChainPlan plan = small_plan();
  for (const char* memory : {"hybrid", "overlapped"}) {
    const auto backend = test::gpu_backend(plan, memory);
    ASSERT_TRUE(backend);
    test::BackendSlot slot(*backend, test::make_raw_cpi(plan, 3));
    const std::vector<float> whole = map_of(*backend, slot, plan.shape);
    slot.slot.cpi.segments.assign(2, {});
    slot.slot.write_state = 0;
    const Ticket ticket = backend->enqueue(slot.lease(), {});
    const std::size_t half = slot.slot.memory.host.size() / 2;
    const std::span<const std::byte> bytes = slot.slot.memory.host;
    for (std::uint32_t s = 0; s < 2; ++s) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_FALSE(backend->is_done(ticket));
      EXPECT_FALSE(slot.recycled);
      slot.slot.cpi.segments[s] = {bytes.subspan(s * half, half), s * 16U, 16};
      slot.slot.set_write_state(s + 1);
    }
    auto result = backend->wait(ticket);
    ASSERT_TRUE(result);
    EXPECT_EQ(map_of((*result)->result), whole);
  }
}

TEST_F(CudaBackend, AbandonedInputFailsThatCpiAlone) {
  const ChainPlan plan = small_plan();
  const auto backend = test::gpu_backend(plan);
  ASSERT_TRUE(backend);
  test::BackendSlot slot(*backend, test::make_raw_cpi(plan, 3));
  const std::vector<float> whole = map_of(*backend, slot, plan.shape);
  slot.slot.cpi.segments.assign(2, {});
  slot.slot.cpi.segments[0] = {
      std::span<const std::byte>(slot.slot.memory.host).first(slot.slot.memory.host.size() / 2), 0, 16};
  slot.slot.write_state = 1;
  const Ticket ticket = backend->enqueue(slot.lease(), {});
  slot.slot.set_write_state(1U | RawSlot::kAbandoned);
  const auto failed = backend->wait(ticket);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("16 of 32 pulses"), std::string::npos) << failed.error().message();
  EXPECT_TRUE(slot.recycled);
  for (int i = 0; i < 8; ++i) {  // in every lane, with the counters of samples at zero again
    auto result = backend->wait(backend->enqueue(slot.lease_whole(plan.shape), {}));
    ASSERT_TRUE(result);
    EXPECT_EQ(map_of((*result)->result), whole);
    EXPECT_EQ((*result)->result.quality.zero_channels, 0U);
  }
}

TEST_F(CudaBackend, CountsAndMasksBadSamples) {
  const ChainPlan plan = small_plan(SampleFormat::float32);
  auto cpu = make_cpu_backend(plan, {.threads = 1});
  const auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(cpu && gpu);
  std::vector<std::byte> raw = test::make_raw_cpi(plan, 5);
  auto* values = reinterpret_cast<float*>(raw.data());
  values[10] = std::numeric_limits<float>::quiet_NaN();
  values[2101] = std::numeric_limits<float>::infinity();
  for (std::size_t pulse = 0; pulse < 32; ++pulse)  // channel 2 is dead
    std::fill_n(values + (pulse * 4 + 2) * 128, 128, 0.0F);
  const auto run = [&](Backend& backend) {
    test::BackendSlot slot(backend, raw);
    slot.slot.cpi.header.gaps = {{3, 10, 5}, {0, 60, 100}, {3, 40, 2}, {99, 0, 1}};
    auto result = backend.wait(backend.enqueue(slot.lease_whole(plan.shape), {}));
    EXPECT_TRUE(result);
    return std::pair((*result)->result.quality, map_of((*result)->result));
  };
  const auto [cpu_quality, cpu_map] = run(**cpu);
  const auto [gpu_quality, gpu_map] = run(*gpu);
  EXPECT_EQ(gpu_quality.masked_samples, cpu_quality.masked_samples);
  EXPECT_EQ(gpu_quality.masked_samples, 2U + 4U * (5U + 4U + 2U));
  EXPECT_EQ(gpu_quality.zero_channels, 1U);
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i < cpu_map.size(); ++i) {
    error += std::pow(static_cast<double>(cpu_map[i] - gpu_map[i]), 2);
    power += std::pow(static_cast<double>(cpu_map[i]), 2);
  }
  EXPECT_LT(std::sqrt(error / power), 6e-6);
}

TEST_F(CudaBackend, CountsGapsAndSaturationOfInt16) {
  const ChainPlan plan = small_plan();
  const auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(gpu);
  std::vector<std::byte> raw = test::make_raw_cpi(plan, 5);
  auto* values = reinterpret_cast<std::int16_t*>(raw.data());
  values[100] = 32767;
  values[333] = -32768;
  test::BackendSlot slot(*gpu, raw);
  slot.slot.cpi.header.gaps = {{1, 0, 7}};
  auto result = gpu->wait(gpu->enqueue(slot.lease_whole(plan.shape), {}));
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)->result.quality.masked_samples, 28U);
  EXPECT_EQ((*result)->result.quality.saturated_samples, 2U);
}

TEST_F(CudaBackend, AllZeroInputGivesZerosAndNoDetections) {
  const ChainPlan plan = small_plan();
  const auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(gpu);
  test::BackendSlot slot(*gpu, std::vector<std::byte>(required_bytes(plan.layout, plan.shape).value()));
  auto result = gpu->wait(gpu->enqueue(slot.lease_whole(plan.shape), {}));
  ASSERT_TRUE(result);
  for (const float power : map_of((*result)->result)) ASSERT_EQ(power, 0.0F);
  EXPECT_TRUE(read_detections((*result)->result).empty());
  EXPECT_EQ((*result)->result.quality.zero_channels, 4U);
}

TEST_F(CudaBackend, LightParametersCountForEachCpi) {
  const ChainPlan plan = small_plan();
  const auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(gpu);
  test::BackendSlot slot(*gpu, test::make_raw_cpi(plan, 9));
  const auto detections = [&](double pfa) {
    CpiRequest request;
    request.light.pfa = pfa;
    auto result = gpu->wait(gpu->enqueue(slot.lease_whole(plan.shape), request));
    return result ? read_detections((*result)->result).size() : 0;
  };
  const std::size_t few = detections(1e-9);
  const std::size_t many = detections(1e-1);
  EXPECT_GT(many, few);
  EXPECT_EQ(detections(1e-9), few);
}

TEST_F(CudaBackend, ResultsMayOutliveTheBackend) {
  const ChainPlan plan = small_plan();
  auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(gpu);
  ResultLease kept;
  std::vector<float> before;
  {
    test::BackendSlot slot(*gpu, test::make_raw_cpi(plan, 9));
    auto result = gpu->wait(gpu->enqueue(slot.lease_whole(plan.shape), {}));
    ASSERT_TRUE(result);
    before = map_of((*result)->result);
    kept = std::move(*result);
  }
  gpu.reset();
  EXPECT_EQ(map_of(kept->result), before);
}

TEST_F(CudaBackend, SaysWhenPinnedMemoryIsRefusedAndWorksOn) {
  const ChainPlan plan = small_plan();
  for (const char* memory : {"hybrid", "overlapped", "zero-copy"}) {
    const auto gpu = test::gpu_backend(plan, memory);
    ASSERT_TRUE(gpu);
    test::BackendSlot pinned(*gpu, test::make_raw_cpi(plan, 9));
    const std::vector<float> expected = map_of(*gpu, pinned, plan.shape);
    inject_fault(Fault::pinned_memory, 1);
    test::BackendSlot slot(*gpu, test::make_raw_cpi(plan, 9));
    EXPECT_EQ(slot.slot.memory.device, nullptr);
    EXPECT_EQ(map_of(*gpu, slot, plan.shape), expected);
    EXPECT_NE(gpu->info().strategy.find("refused"), std::string::npos) << gpu->info().strategy;
  }
}

TEST_F(CudaBackend, NamesNeededAndFreeMemoryWhenTheDeviceIsFull) {
  inject_fault(Fault::device_memory, 1, 6);
  BackendOptions options;
  options.memory = "hybrid";
  const auto gpu = cuda::make_cuda_backend(small_plan(), options);
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().kind, ErrorKind::runtime);
  EXPECT_NE(gpu.error().message().find(" free"), std::string::npos) << gpu.error().message();
}

TEST_F(CudaBackend, FailingLaunchFailsThatCpiAlone) {
  const ChainPlan plan = small_plan();
  const auto gpu = test::gpu_backend(plan);
  ASSERT_TRUE(gpu);
  test::BackendSlot slot(*gpu, test::make_raw_cpi(plan, 9));
  const std::vector<float> expected = map_of(*gpu, slot, plan.shape);
  inject_fault(Fault::launch, 1);
  const auto failed = gpu->wait(gpu->enqueue(slot.lease_whole(plan.shape), {}));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("launch of unpack"), std::string::npos) << failed.error().message();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(map_of(*gpu, slot, plan.shape), expected);
}

TEST_F(CudaBackend, AutoChoosesAndSaysWhy) {
  const auto gpu = test::gpu_backend(small_plan(), "auto");
  ASSERT_TRUE(gpu);
  EXPECT_NE(gpu->info().strategy.find("ms per CPI"), std::string::npos) << gpu->info().strategy;
}

TEST_F(CudaBackend, RefusesUnknownStrategiesAndDevices) {
  BackendOptions options;
  options.memory = "magic";
  const auto strategy = cuda::make_cuda_backend(small_plan(), options);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().kind, ErrorKind::usage);
  options.memory = "hybrid";
  options.devices = {99};
  const auto device = cuda::make_cuda_backend(small_plan(), options);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::usage);
}

TEST(CudaDevices, SaysWhyThereAreNoneOrDescribesThem) {
  const auto devices = cuda::describe_devices();
  if (devices) {
    EXPECT_FALSE(devices->empty());
  } else {
    EXPECT_FALSE(devices.error().what.empty());
    EXPECT_NE(devices.error().remedy.find("--backend cpu"), std::string::npos);
  }
}

}  // namespace
}  // namespace cornerturn
