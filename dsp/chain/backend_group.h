#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dsp/chain/backend.h"

namespace cornerturn {

/// Several backends of one plan (a device each) as one: each CPI goes to the backend that has the least to do, among
/// those with room the next in turn. As backends keep no state across CPIs, results are those of any one of them; who
/// waits for the tickets in order gets them in order.
///
/// Input slots come from the first backend's allocator, so every member must be able to read them.
/// Threads: as Backend.
class BackendGroup final : public Backend {
 public:
  /// Requires at least one backend (contract).
  explicit BackendGroup(std::vector<std::unique_ptr<Backend>> members);

  BackendInfo info() const override;
  const ChainPlan& plan() const override { return members_.front()->plan(); }
  SlotAllocator& input_allocator() override { return members_.front()->input_allocator(); }
  std::size_t max_in_flight() const override { return jobs_.size(); }
  Ticket enqueue(ReadLease&& input, const CpiRequest& request) override;
  Expected<ResultLease> wait(Ticket ticket) override;
  bool is_done(Ticket ticket) override;
  /// Sums over the members.
  std::vector<StageTime> stage_times() const override;
  std::uint64_t result_waits() const override;

  /// CPIs that each member has been given so far.
  const std::vector<std::uint64_t>& shares() const { return shares_; }

 private:
  struct Job {
    std::uint64_t id = 0;  // 0: free
    std::size_t member = 0;
    Ticket ticket;
  };
  Job& find(Ticket ticket);
  std::size_t choose_member();

  std::vector<std::unique_ptr<Backend>> members_;
  std::vector<Job> jobs_;
  std::vector<std::uint64_t> shares_;
  std::size_t last_member_;
  std::uint64_t next_id_ = 1;
};

}  // namespace cornerturn
