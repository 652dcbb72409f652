// T13: what the steady state must not do.
#include <deque>

#include "kernels/cuda/call_counts.h"
#include "tests/dsp/chain/allocation_counter.h"
#include "tests/dsp/chain/chain_helpers.h"
#include "tests/kernels/gpu_fixture.h"

namespace cornerturn {
namespace {

class SteadyState : public test::Gpu {};

ChainPlan covariance_plan() {
  const CpiShape shape{4, 32, 64};
  RadarDescription radar = test::worked_fmcw_radar();
  radar.array = ArrayGeometry::uniform_line(4, radar.waveform.wavelength_m() / 2.0);
  ChainConfig config;
  config.cfar.pfa = 1e-4;
  config.covariance.enabled = true;
  auto plan = make_chain_plan(radar, make_contiguous_layout(shape, SampleFormat::int16, IqOrder::iq), shape, config);
  if (!plan) throw std::runtime_error(plan.error().message());
  return std::move(*plan);
}

TEST_F(SteadyState, AllocatesAndPlansNothingAndWaitsTwiceForEachCpiAtMost) {
  const ChainPlan plan = covariance_plan();
  constexpr std::size_t kCpis = 200;
  for (const char* memory : {"pageable", "pinned", "overlapped", "zero-copy", "zero-copy-wc", "hybrid"}) {
    const auto backend = test::gpu_backend(plan, memory);
    ASSERT_TRUE(backend);
    std::vector<std::unique_ptr<test::BackendSlot>> slots;
    for (std::size_t i = 0; i < backend->max_in_flight(); ++i)
      slots.push_back(std::make_unique<test::BackendSlot>(*backend, test::make_raw_cpi(plan, i)));
    CpiRequest request;
    request.products.covariance = true;
    std::vector<Ticket> tickets(slots.size());
    std::uint64_t host_allocations = 0;
    const auto run = [&](std::size_t rounds) {
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
          ReadLease lease = slots[i]->lease_whole(plan.shape);  // the test's own segment list allocates
          const std::uint64_t before = test::allocation_count();
          tickets[i] = backend->enqueue(std::move(lease), request);
          host_allocations += test::allocation_count() - before;
        }
        for (const Ticket ticket : tickets) ASSERT_TRUE(backend->wait(ticket));
      }
    };
    run(8);  // results get their memory when they are first asked for
    host_allocations = 0;
    const cuda::CallCounts before = cuda::call_counts();
    run((kCpis + slots.size() - 1) / slots.size());
    const cuda::CallCounts after = cuda::call_counts();
    const std::uint64_t cpis = (kCpis + slots.size() - 1) / slots.size() * slots.size();
    EXPECT_EQ(after.allocations, before.allocations) << memory;
    EXPECT_EQ(after.plans, before.plans) << memory;
    EXPECT_EQ(after.graphs, before.graphs) << memory;
    EXPECT_LE(after.synchronisations - before.synchronisations, 2 * cpis) << memory;
    EXPECT_EQ(host_allocations, 0u) << memory;
    RecordProperty(std::string(memory) + " waits per 100 CPIs",
                   static_cast<int>(100 * (after.synchronisations - before.synchronisations) / cpis));
  }
}

TEST_F(SteadyState, CountersCount) {  // the test above could not fail otherwise
  const cuda::CallCounts before = cuda::call_counts();
  ASSERT_TRUE(test::gpu_backend(covariance_plan()));
  const cuda::CallCounts after = cuda::call_counts();
  EXPECT_GT(after.allocations, before.allocations);
  EXPECT_GT(after.plans, before.plans);
  EXPECT_GT(after.graphs, before.graphs);
  EXPECT_GT(after.synchronisations, before.synchronisations);
}

}  // namespace
}  // namespace cornerturn
