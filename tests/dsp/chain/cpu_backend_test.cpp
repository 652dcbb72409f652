#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <malloc.h>

#include "dsp/stage/detection.h"
#include "tests/dsp/chain/allocation_counter.h"
#include "tests/dsp/chain/chain_helpers.h"

namespace cornerturn {
namespace {

using test::float_layout;
using test::make_float_slot;
using test::shape_of;
using test::TestSlot;
using test::turn;
using test::worked_fmcw_radar;

constexpr ProductSet kAllProducts{true, true, true, true, true};

RadarDescription array_radar(std::size_t channels) {
  RadarDescription radar = worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(channels, radar.waveform.wavelength_m() / 2);
  return radar;
}

std::unique_ptr<Backend> backend_of(const RadarDescription& radar, const CpiShape& shape, const ChainConfig& config,
                                    std::size_t result_slots = 4) {
  auto plan = make_chain_plan(radar, float_layout(shape), shape, config);
  if (!plan) ADD_FAILURE() << plan.error().message();
  auto backend = make_cpu_backend(std::move(plan.value()), {.threads = 2, .result_slots = result_slots});
  if (!backend) ADD_FAILURE() << backend.error().message();
  return std::move(backend.value());
}

std::unique_ptr<TestSlot> noise_slot(const CpiShape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.0, 10.0);
  return make_float_slot(shape, [&](auto...) { return std::complex<double>(normal(random), normal(random)); });
}

TEST(CpuBackend, TicketsMayBeWaitedForInAnyOrder) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  ASSERT_GE(backend->max_in_flight(), 2U);
  const auto first_slot = noise_slot(shape, 1);
  const auto second_slot = noise_slot(shape, 2);
  first_slot->slot.cpi.header.index = 10;
  second_slot->slot.cpi.header.index = 11;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Ticket first = backend->enqueue(first_slot->lease_whole(shape), {});
    const Ticket second = backend->enqueue(second_slot->lease_whole(shape), {});
    const auto later = backend->wait(second);
    EXPECT_TRUE(backend->is_done(first));  // first in, first out
    const auto earlier = backend->wait(first);
    ASSERT_TRUE(later && earlier);
    EXPECT_EQ((*earlier)->result.header.index, 10U);
    EXPECT_EQ((*later)->result.header.index, 11U);
  }
  EXPECT_EQ(backend->result_waits(), 0U);
}

// The slot comes back as soon as the range stage has read it, long before anyone waits for the result.
TEST(CpuBackend, GivesTheInputBackBeforeTheResultIsTaken) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto slot = noise_slot(shape, 1);
  const Ticket ticket = backend->enqueue(slot->lease_whole(shape), {});
  for (int i = 0; i < 1000 && !slot->recycled; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(slot->recycled);
  EXPECT_TRUE(backend->wait(ticket));
}

TEST(CpuBackend, StartsOnSegmentsAsTheyArriveAndGivesTheSameResult) {
  const CpiShape shape = shape_of(2, 21, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto slot = noise_slot(shape, 3);
  const Ticket whole = backend->enqueue(slot->lease_whole(shape), {});
  const auto expected = backend->wait(whole);
  ASSERT_TRUE(expected);

  const std::size_t pulse_bytes = slot->memory.size() / shape.pulse_count;
  slot->slot.cpi.segments.assign(3, {});
  slot->slot.write_state = 0;
  const Ticket ticket = backend->enqueue(slot->lease(), {});
  std::size_t pulse = 0;
  std::uint32_t published = 0;
  for (const std::size_t count : {std::size_t{5}, std::size_t{9}, std::size_t{7}}) {
    EXPECT_FALSE(backend->is_done(ticket));
    slot->slot.cpi.segments[published] = {std::span(slot->memory).subspan(pulse * pulse_bytes, count * pulse_bytes),
                                          pulse, count};
    slot->slot.set_write_state(++published);
    pulse += count;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto segmented = backend->wait(ticket);
  ASSERT_TRUE(segmented);
  const auto a = (*expected)->result.find("range_doppler_power")->values<float>();
  const auto b = (*segmented)->result.find("range_doppler_power")->values<float>();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

TEST(CpuBackend, AbandonedInputFailsThatCpiAlone) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto broken = noise_slot(shape, 3);
  broken->slot.cpi.header.index = 7;
  broken->slot.cpi.segments.assign(2, {});
  broken->slot.cpi.segments[0] = {std::span(broken->memory).first(broken->memory.size() / 2), 0, 8};
  broken->slot.write_state = 1;
  const auto whole = noise_slot(shape, 4);
  const Ticket first = backend->enqueue(broken->lease(), {});
  const Ticket second = backend->enqueue(whole->lease_whole(shape), {});
  broken->slot.set_write_state(1 | RawSlot::kAbandoned);
  const auto failed = backend->wait(first);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "CPI 7: the source delivered 8 of 16 pulses; the CPI is dropped");
  EXPECT_TRUE(broken->recycled);
  EXPECT_TRUE(backend->wait(second));
}

TEST(CpuBackend, RefusesSegmentsThatAreTooShortOrOutOfOrder) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto slot = noise_slot(shape, 3);
  slot->slot.cpi.segments = {{std::span(slot->memory).first(slot->memory.size() - 1), 0, 16}};
  slot->slot.write_state = 1;
  EXPECT_FALSE(backend->wait(backend->enqueue(slot->lease(), {})));
  slot->slot.cpi.segments = {{slot->memory, 1, 15}};
  EXPECT_FALSE(backend->wait(backend->enqueue(slot->lease(), {})));
  slot->slot.cpi.segments = {{slot->memory, 0, 17}};
  EXPECT_FALSE(backend->wait(backend->enqueue(slot->lease(), {})));
}

TEST(CpuBackend, HeldResultsHoldBackTheNextEnqueue) {
  const CpiShape shape = shape_of(1, 8, 32);
  const auto backend = backend_of(worked_fmcw_radar(), shape, ChainConfig{}, 1);
  std::vector<ResultLease> held;
  const auto slot = noise_slot(shape, 1);
  const std::size_t capacity = 1 + backend->max_in_flight();
  while (held.size() < capacity) {
    auto result = backend->wait(backend->enqueue(slot->lease_whole(shape), {}));
    ASSERT_TRUE(result);
    held.push_back(std::move(*result));
  }
  EXPECT_EQ(backend->result_waits(), 0U);
  auto blocked = std::async(std::launch::async,
                            [&] { return backend->wait(backend->enqueue(slot->lease_whole(shape), {})).has_value(); });
  EXPECT_EQ(blocked.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  held.pop_back();
  EXPECT_TRUE(blocked.get());
  EXPECT_EQ(backend->result_waits(), 1U);
}

TEST(CpuBackend, ResultsMayOutliveTheBackend) {
  const CpiShape shape = shape_of(1, 8, 32);
  ResultLease kept;
  float before = 0.0F;
  {
    const auto backend = backend_of(worked_fmcw_radar(), shape, ChainConfig{});
    const auto slot = noise_slot(shape, 1);
    kept = std::move(backend->wait(backend->enqueue(slot->lease_whole(shape), {})).value());
    before = kept->result.find("range_doppler_power")->values<float>()[5];
  }
  EXPECT_EQ(kept->result.find("range_doppler_power")->values<float>()[5], before);
}

TEST(CpuBackend, UnfinishedCpisAreGivenUpWithTheBackend) {
  const CpiShape shape = shape_of(1, 8, 32);
  const auto first = noise_slot(shape, 1);
  const auto second = noise_slot(shape, 2);
  {
    const auto backend = backend_of(worked_fmcw_radar(), shape, ChainConfig{});
    backend->enqueue(first->lease_whole(shape), {});
    backend->enqueue(second->lease_whole(shape), {});
  }
  EXPECT_TRUE(first->recycled);
  EXPECT_TRUE(second->recycled);
}

TEST(CpuBackend, EachRequestGetsItsProductsInOrder) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto slot = noise_slot(shape, 1);
  const auto names_of = [&](const ProductSet& products) {
    CpiRequest request;
    request.products = products;
    const auto result = backend->wait(backend->enqueue(slot->lease_whole(shape), request));
    std::vector<std::string> names;
    for (const Product& product : (*result)->result.products) {
      if (!product.is_detection_column()) names.push_back(product.name);
      EXPECT_GE(product.bytes.size(), product.element_count() * size_of(product.type)) << product.name;
    }
    return names;
  };
  using Names = std::vector<std::string>;
  for (int repeat = 0; repeat < 3; ++repeat) {  // slots are used again with other products in them
    EXPECT_EQ(names_of(kAllProducts), (Names{"range_doppler_power", "covariance", "range_profiles", "doppler_cube"}));
    EXPECT_EQ(names_of({.map = false, .detections = true}), Names{});
    EXPECT_EQ(names_of({.map = false, .detections = false, .covariance = true}), Names{"covariance"});
    EXPECT_EQ(names_of({.map = true, .detections = false, .doppler_cube = true}),
              (Names{"range_doppler_power", "doppler_cube"}));
  }
}

TEST(CpuBackend, LightParametersCountForEachCpi) {
  const CpiShape shape = shape_of(1, 64, 128);
  ChainConfig config;
  config.grouping.enabled = false;  // each alarm a detection
  const auto backend = backend_of(worked_fmcw_radar(), shape, config);
  const auto slot = noise_slot(shape, 1);
  const auto detections_at = [&](double pfa) {
    CpiRequest request;
    request.light.pfa = pfa;
    return read_detections((*backend->wait(backend->enqueue(slot->lease_whole(shape), request)))->result).size();
  };
  const std::size_t many = detections_at(1e-1);
  const std::size_t few = detections_at(1e-3);
  EXPECT_GT(many, 10 * std::max<std::size_t>(few, 1));
  EXPECT_EQ(detections_at(1e-1), many);
}

TEST(CpuBackend, AsManyDetectionsAsFitAndTheOthersCounted) {
  const CpiShape shape = shape_of(1, 64, 128);
  ChainConfig config;
  config.grouping.enabled = false;
  config.grouping.max_detections = 5;
  const auto backend = backend_of(worked_fmcw_radar(), shape, config);
  const auto slot = noise_slot(shape, 1);
  CpiRequest request;
  request.light.pfa = 1e-1;
  const auto result = backend->wait(backend->enqueue(slot->lease_whole(shape), request));
  EXPECT_EQ(read_detections((*result)->result).size(), 5U);
  EXPECT_GT((*result)->result.quality.dropped_detections, 100U);
}

TEST(CpuBackend, AllZeroInputGivesZerosAndNoDetections) {
  const CpiShape shape = shape_of(3, 16, 64);
  ChainConfig config;
  config.cfar.pfa = 1e-2;
  const auto backend = backend_of(array_radar(3), shape, config);
  const auto slot = make_float_slot(shape, [](auto...) { return std::complex<double>(0.0); });
  CpiRequest request;
  request.products = kAllProducts;
  request.light = light_parameters(config);
  const auto result = backend->wait(backend->enqueue(slot->lease_whole(shape), request));
  EXPECT_EQ((*result)->result.quality.zero_channels, 3U);
  EXPECT_TRUE(read_detections((*result)->result).empty());
  for (const float power : (*result)->result.find("range_doppler_power")->values<float>()) ASSERT_EQ(power, 0.0F);
  for (const auto value : (*result)->result.find("covariance")->values<std::complex<float>>())
    ASSERT_EQ(value, std::complex<float>(0.0F));
}

TEST(CpuBackend, SteadyStateAllocatesNothing) {
  const CpiShape shape = shape_of(4, 32, 128);
  ChainConfig config;
  config.canceller = Canceller::two_pulse;
  config.covariance = {.enabled = true, .forward_backward = true, .loading = 0.01};
  const auto backend = backend_of(array_radar(4), shape, config);
  const auto slot = noise_slot(shape, 5);
  CpiRequest request;
  request.products = kAllProducts;
  request.light = light_parameters(config);
  request.light.pfa = 1e-2;  // a good many detections, with angles
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      auto lease = slot->lease();
      const auto result = backend->wait(backend->enqueue(std::move(lease), request));
      if (!result || (*result)->result.quality.zero_channels != 0) ADD_FAILURE();
    }
  };
  slot->lease_whole(shape).release();  // fills in the segment
  run(12);                             // every result slot has met every product
  const std::uint64_t before = test::allocation_count();
  run(20);
  EXPECT_EQ(test::allocation_count() - before, 0U);
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The estimates that `--dry-run` prints against what the allocator says was taken.
TEST(CpuBackend, MemoryEstimatesAreTrue) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps its own heap";
#endif
  const CpiShape shape = shape_of(16, 64, 2048);
  const RadarDescription radar = array_radar(16);
  auto plan = make_chain_plan(radar, float_layout(shape), shape, ChainConfig{});
  ASSERT_TRUE(plan);
  const std::size_t before = heap_bytes();
  const auto backend = std::move(make_cpu_backend(*plan, {.threads = 1}).value());
  const std::size_t made = heap_bytes();
  // On top come scratch of the thread, steering vectors and FFTW's tables, 0.7 MB here: less than 5 %.
  EXPECT_NEAR(static_cast<double>(made - before), static_cast<double>(plan->work_bytes()),
              0.05 * static_cast<double>(plan->work_bytes()));

  const auto slot = noise_slot(shape, 1);
  for (const ProductSet& products : {ProductSet{}, kAllProducts}) {
    const std::size_t unused = heap_bytes();
    const auto fresh = std::move(make_cpu_backend(*plan, {.threads = 1}).value());
    const std::size_t idle = heap_bytes();
    CpiRequest request;
    request.products = products;
    const auto result = fresh->wait(fresh->enqueue(slot->lease_whole(shape), request));
    EXPECT_NEAR(static_cast<double>(heap_bytes() - idle), static_cast<double>(plan->result_bytes(products)),
                0.02 * static_cast<double>(plan->result_bytes(products)));
    EXPECT_GT(idle, unused);
  }
}

TEST(CpuBackend, StageTimesAddUpToLessThanTheWallTime) {
  const CpiShape shape = shape_of(2, 32, 128);
  const auto backend = backend_of(array_radar(2), shape, ChainConfig{});
  const auto slot = noise_slot(shape, 1);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(backend->wait(backend->enqueue(slot->lease_whole(shape), {})));
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double sum_s = 0.0;
  for (const StageTime& stage : backend->stage_times()) {
    EXPECT_GE(stage.seconds, 0.0) << stage.stage;
    sum_s += stage.seconds;
  }
  EXPECT_GT(sum_s, 0.0);
  EXPECT_LT(sum_s, wall_s);
}

}  // namespace
}  // namespace cornerturn
