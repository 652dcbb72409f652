#include "dsp/chain/backend_group.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {
namespace {

std::size_t jobs_of(const std::vector<std::unique_ptr<Backend>>& members) {
  std::size_t count = 0;
  for (const auto& member : members) count += member->max_in_flight();
  return count;
}

// "2 x A, B": what is alike is counted.
std::string counted_list(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const std::string& word : words) {
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == word; });
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [word, count] : counts) {
    if (!text.empty()) text += ", ";
    if (count > 1) text += std::to_string(count) + " x ";
    text += word;
  }
  return text;
}

}  // namespace

BackendGroup::BackendGroup(std::vector<std::unique_ptr<Backend>> members)
    : members_(std::move(members)), jobs_(jobs_of(members_)), shares_(members_.size()) {
  CORNERTURN_REQUIRE(!members_.empty());
  last_member_ = members_.size() - 1;
}

BackendInfo BackendGroup::info() const {
  BackendInfo info = members_.front()->info();
  std::vector<std::string> devices;
  std::vector<std::string> strategies;
  for (const auto& member : members_) {
    const BackendInfo one = member->info();
    devices.push_back(one.device);
    if (std::find(strategies.begin(), strategies.end(), one.strategy) == strategies.end())
      strategies.push_back(one.strategy);
  }
  info.device = counted_list(devices);
  info.strategy = counted_list(strategies);
  return info;
}

BackendGroup::Job& BackendGroup::find(Ticket ticket) {
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& entry) { return entry.id == ticket.id; });
  CORNERTURN_REQUIRE(ticket.id != 0 && job != jobs_.end());  // a ticket is waited for once
  return *job;
}

/// A CPI that is done but not yet waited for takes room, but no time.
std::size_t BackendGroup::choose_member() {
  std::size_t chosen = members_.size();
  std::size_t least_busy = SIZE_MAX;
  for (std::size_t step = 1; step <= members_.size(); ++step) {
    const std::size_t member = (last_member_ + step) % members_.size();
    std::size_t held = 0;
    std::size_t busy = 0;
    for (const Job& job : jobs_) {
      if (job.id == 0 || job.member != member) continue;
      ++held;
      if (!members_[member]->is_done(job.ticket)) ++busy;
    }
    if (held < members_[member]->max_in_flight() && busy < least_busy) {
      least_busy = busy;
      chosen = member;
    }
  }
  return chosen;
}

Ticket BackendGroup::enqueue(ReadLease&& input, const CpiRequest& request) {
  const std::size_t member = choose_member();
  CORNERTURN_REQUIRE(member < members_.size());  // no more than max_in_flight() before the first is waited for
  const auto free_job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.id == 0; });
  const Ticket ticket = members_[member]->enqueue(std::move(input), request);
  *free_job = {next_id_++, member, ticket};
  last_member_ = member;
  ++shares_[member];
  return {free_job->id};
}

Expected<ResultLease> BackendGroup::wait(Ticket ticket) {
  Job& job = find(ticket);
  const Job taken = std::exchange(job, Job{});  // waited for even if that throws
  return members_[taken.member]->wait(taken.ticket);
}

bool BackendGroup::is_done(Ticket ticket) {
  const Job& job = find(ticket);
  return members_[job.member]->is_done(job.ticket);
}

std::vector<StageTime> BackendGroup::stage_times() const {
  std::vector<StageTime> sums;
  for (const auto& member : members_)
    for (const StageTime& time : member->stage_times()) {
      const auto known =
          std::find_if(sums.begin(), sums.end(), [&](const StageTime& sum) { return sum.stage == time.stage; });
      if (known == sums.end()) {
        sums.push_back(time);
      } else {
        known->seconds += time.seconds;
      }
    }
  return sums;
}

std::uint64_t BackendGroup::result_waits() const {
  std::uint64_t waits = 0;
  for (const auto& member : members_) waits += member->result_waits();
  return waits;
}

}  // namespace cornerturn
