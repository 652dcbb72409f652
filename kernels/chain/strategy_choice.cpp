#include "kernels/chain/strategy_choice.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/memory.h"

namespace cornerturn::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// A slot of noise-like bytes whose lease ends nowhere.
struct Probe final : SlotOwner<RawSlot> {
  Probe(const SlotMemory& memory, const ChainPlan& plan) {
    slot.memory = memory;
    slot.owner = this;
    slot.cpi.segments = {{memory.host, 0, plan.shape.pulse_count}};
    slot.set_write_state(1);
    std::uint64_t state = 0x9E3779B97F4A7C15ULL;
    for (std::size_t i = 0; i + 8 <= memory.host.size(); i += 8) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      std::memcpy(memory.host.data() + i, &state, 8);
    }
  }
  void recycle(RawSlot&) noexcept override {}
  ReadLease lease() {
    slot.holders.fetch_add(1);
    return ReadLease::adopt(slot);
  }
  RawSlot slot;
};

/// Seconds per CPI in the stream, CPIs in flight as many as the strategy allows; detections and matrices come back.
double seconds_per_cpi(const std::shared_ptr<const ChainPlan>& plan, DeviceBackend::Options options,
                       MemoryStrategy strategy) {
  options.strategy = strategy;
  options.result_slots = 1;
  options.measure_stages = false;
  options.foreign_slots = false;
  DeviceBackend backend(plan, options);
  const std::size_t bytes = required_bytes(plan->layout, plan->shape).value_or(0);
  SlotAllocator& allocator = backend.input_allocator();
  const SlotMemory memory = allocator.allocate(bytes);
  double best = 1e30;
  try {
    Probe probe(memory, *plan);
    CpiRequest request;
    request.products.map = false;
    request.products.covariance = plan->config.covariance.enabled;
    const std::size_t in_flight = backend.max_in_flight();
    std::vector<Ticket> tickets;
    constexpr auto kBudget = std::chrono::milliseconds(120);  // set-up of three strategies stays under two seconds
    constexpr std::size_t kMostRounds = 40;
    const auto start = Clock::now();
    for (std::size_t round = 0; round < kMostRounds && (round < 3 || Clock::now() - start < kBudget); ++round) {
      const auto begin = Clock::now();
      tickets.clear();
      for (std::size_t i = 0; i < in_flight; ++i) tickets.push_back(backend.enqueue(probe.lease(), request));
      for (const Ticket ticket : tickets) {
        const auto result = backend.wait(ticket);
        if (!result) throw std::runtime_error(result.error().message());
      }
      const std::chrono::duration<double> elapsed = Clock::now() - begin;
      if (round > 0) best = std::min(best, elapsed.count() / static_cast<double>(in_flight));  // the first one warms up
    }
  } catch (...) {
    allocator.free(memory);
    throw;
  }
  allocator.free(memory);
  return best;
}

}  // namespace

StrategyChoice choose_strategy(const std::shared_ptr<const ChainPlan>& plan, const DeviceBackend::Options& options) {
  std::vector<MemoryStrategy> candidates = {MemoryStrategy::overlapped};
  if (options.device.maps_host_memory) candidates.push_back(MemoryStrategy::hybrid);
  // Only where the matrices go does zero-copy differ from hybrid.
  if (options.device.maps_host_memory && plan->config.covariance.enabled)
    candidates.push_back(MemoryStrategy::zero_copy);
  StrategyChoice choice;
  double best = 0.0;
  for (const MemoryStrategy candidate : candidates) {
    const double seconds = seconds_per_cpi(plan, options, candidate);
    if (best == 0.0 || seconds < best) {
      best = seconds;
      choice.strategy = candidate;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s%.3g ms per CPI %s", choice.reason.empty() ? "auto: " : ", ",
                  1e3 * seconds, traits_of(candidate).name.data());
    choice.reason += text.data();
  }
  return choice;
}

}  // namespace cornerturn::cuda
