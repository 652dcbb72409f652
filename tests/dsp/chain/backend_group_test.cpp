#include "dsp/chain/backend_group.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/dsp/chain/chain_helpers.h"

namespace cornerturn {
namespace {

using test::float_layout;
using test::make_float_slot;
using test::shape_of;
using test::TestSlot;
using test::worked_fmcw_radar;

/// Does nothing until the test says so: who gets which CPI is then the group's choice alone.
class PuppetBackend final : public Backend {
 public:
  PuppetBackend(std::string device, std::size_t max_in_flight)
      : device_(std::move(device)), max_in_flight_(max_in_flight) {}

  BackendInfo info() const override { return {"puppet", device_, "strings"}; }
  const ChainPlan& plan() const override { return plan_; }
  SlotAllocator& input_allocator() override { throw std::logic_error("no slots"); }
  std::size_t max_in_flight() const override { return max_in_flight_; }
  Ticket enqueue(ReadLease&&, const CpiRequest&) override {
    tickets.push_back(++last_id_);
    return {last_id_};
  }
  Expected<ResultLease> wait(Ticket ticket) override {
    std::erase(tickets, ticket.id);
    return runtime_error(device_, "waited for " + std::to_string(ticket.id));
  }
  bool is_done(Ticket) override { return done; }
  std::vector<StageTime> stage_times() const override { return {{"pulling", 1.5}}; }
  std::uint64_t result_waits() const override { return 2; }

  bool done = false;
  std::vector<std::uint64_t> tickets;

 private:
  std::string device_;
  std::size_t max_in_flight_;
  ChainPlan plan_;
  std::uint64_t last_id_ = 0;
};

struct Puppets {
  explicit Puppets(std::size_t count, std::size_t max_in_flight = 2) {
    std::vector<std::unique_ptr<Backend>> members;
    for (std::size_t i = 0; i < count; ++i) {
      auto puppet = std::make_unique<PuppetBackend>("gpu", max_in_flight);
      each.push_back(puppet.get());
      members.push_back(std::move(puppet));
    }
    group = std::make_unique<BackendGroup>(std::move(members));
  }
  std::vector<PuppetBackend*> each;
  std::unique_ptr<BackendGroup> group;
};

TEST(BackendGroup, TakesAsManyCpisAsItsMembersTogether) {
  const Puppets puppets(3, 2);
  EXPECT_EQ(puppets.group->max_in_flight(), 6u);
  for (int i = 0; i < 6; ++i) puppets.group->enqueue({}, {});
  for (const PuppetBackend* puppet : puppets.each) EXPECT_EQ(puppet->tickets.size(), 2u);
}

TEST(BackendGroup, IdleMembersTakeTurns) {
  const Puppets puppets(2);
  for (PuppetBackend* puppet : puppets.each) puppet->done = true;
  for (int i = 0; i < 8; ++i) puppets.group->wait(puppets.group->enqueue({}, {}));
  EXPECT_EQ(puppets.group->shares(), (std::vector<std::uint64_t>{4, 4}));
}

TEST(BackendGroup, NextCpiGoesToTheMemberWithTheLeastToDo) {
  const Puppets puppets(2, 4);
  puppets.each[1]->done = true;  // the second is quick: what it was given is done at once
  for (int i = 0; i < 5; ++i) puppets.group->enqueue({}, {});
  EXPECT_EQ(puppets.each[0]->tickets.size(), 1u);
  EXPECT_EQ(puppets.each[1]->tickets.size(), 4u);  // as many as it has room for
}

TEST(BackendGroup, EachTicketIsWaitedForWhereItWasGiven) {
  const Puppets puppets(2, 3);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 6; ++i) tickets.push_back(puppets.group->enqueue({}, {}));
  std::reverse(tickets.begin(), tickets.end());
  for (const Ticket ticket : tickets) {
    EXPECT_FALSE(puppets.group->is_done(ticket));
    EXPECT_FALSE(puppets.group->wait(ticket));  // a puppet has no results
  }
  for (const PuppetBackend* puppet : puppets.each) EXPECT_TRUE(puppet->tickets.empty());
}

TEST(BackendGroup, AddsUpTimesAndWaitsAndCountsLikeDevices) {
  const Puppets puppets(3);
  EXPECT_EQ(puppets.group->info().device, "3 x gpu");
  EXPECT_EQ(puppets.group->info().strategy, "strings");
  EXPECT_EQ(puppets.group->result_waits(), 6u);
  ASSERT_EQ(puppets.group->stage_times().size(), 1u);
  EXPECT_DOUBLE_EQ(puppets.group->stage_times()[0].seconds, 4.5);
}

TEST(BackendGroup, ResultsAreThoseOfASingleBackend) {
  const CpiShape shape = shape_of(2, 16, 64);
  const auto make = [&] {
    auto plan = make_chain_plan(worked_fmcw_radar(), float_layout(shape), shape, ChainConfig{});
    return std::move(*make_cpu_backend(std::move(*plan), {.threads = 1}));
  };
  std::vector<std::unique_ptr<Backend>> members;
  members.push_back(make());
  members.push_back(make());
  BackendGroup group(std::move(members));
  const auto alone = make();
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0.0, 10.0);
  std::vector<std::unique_ptr<TestSlot>> slots;
  std::vector<Ticket> tickets;
  for (std::size_t i = 0; i < group.max_in_flight(); ++i) {
    slots.push_back(
        make_float_slot(shape, [&](auto...) { return std::complex<double>(normal(random), normal(random)); }));
    slots.back()->slot.cpi.header.index = i;
    tickets.push_back(group.enqueue(slots.back()->lease_whole(shape), {}));
  }
  std::vector<ResultLease> results;
  for (const Ticket ticket : tickets) results.push_back(std::move(*group.wait(ticket)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i]->result.header.index, i);
    const auto single = alone->wait(alone->enqueue(slots[i]->lease_whole(shape), {}));
    ASSERT_TRUE(single);
    const auto expected = (*single)->result.find("range_doppler_power")->values<float>();
    const auto found = results[i]->result.find("range_doppler_power")->values<float>();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin()));
  }
}

}  // namespace
}  // namespace cornerturn
