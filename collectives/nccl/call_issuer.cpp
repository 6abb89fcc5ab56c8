#include "collectives/nccl/call_issuer.hpp"

#include <thread>
#include <utility>

namespace collbench::collectives {

void CallIssuer::begin(int rank, const CallQueue& queue, LaunchPace& pace, const CudaStream& stream,
                       const Means& means, double seconds) {
  std::unique_lock lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)] = {.queue = &queue, .pace = &pace, .stream = &stream};
  const std::uint64_t round = rounds_;
  ++handed_in_;
  changed_.notify_all();
  if (rank == 0) {
    changed_.wait(lock, [this] { return handed_in_ == ranks_.size(); });
    handed_in_ = 0;
    all_put_ = false;
    failed_ = false;
    put(means, seconds);
    ++rounds_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return rounds_ != round; });
  }
  throw_failure(rank);
}

bool CallIssuer::go_on(int rank, const Means& means, double seconds) {
  const std::lock_guard lock(mutex_);
  if (rank == 0) put(means, seconds);
  throw_failure(rank);
  return all_put_;
}

void CallIssuer::put(const Means& means, double seconds) {
  for (const double end = means.clock.seconds() + seconds;
       !all_put_ && !failed_ && means.clock.seconds() < end;) {
    if (has_room()) {
      put_next(means);
    } else if (!failed_) {
      try {
        means.look();
      } catch (...) {
        fail(0);
      }
      std::this_thread::yield();  // NCCL may need this core for threads of its own
    }
  }
}

bool CallIssuer::has_room() {
  bool all = true;
  return for_each_rank([&](Rank& each) { all = each.pace->has_room() && all; }) && all;
}

/// The next call of each rank. That the first has none left means it of all: they make the same calls.
void CallIssuer::put_next(const Means& means) {
  const auto issue = [&](Rank& each) { each.launches = each.queue->next(); };
  if (ranks_.size() == 1) {
    if (!for_each_rank(issue)) return;
  } else {
    std::size_t at = 0;
    try {
      means.grouped([&] {
        for (at = 0; at < ranks_.size(); ++at) issue(ranks_[at]);
      });
    } catch (...) {
      fail(at % ranks_.size());  // the end of the group is the first one's
      return;
    }
  }
  all_put_ = ranks_.front().launches == 0;
  if (all_put_) return;
  for_each_rank([](Rank& each) {
    if (each.queue->behind) each.queue->behind();
    each.pace->add(each.launches, *each.stream);
  });
}

/// Until it fails for one of them. Whether it did for none.
template <typename Step>
bool CallIssuer::for_each_rank(const Step& step) {
  std::size_t at = 0;
  try {
    for (; at < ranks_.size(); ++at) step(ranks_[at]);
  } catch (...) {
    fail(at);
  }
  return !failed_;
}

void CallIssuer::fail(std::size_t rank) {
  ranks_[rank].failure = std::current_exception();
  failed_ = true;
}

void CallIssuer::throw_failure(int rank) {
  const std::exception_ptr failure = std::exchange(ranks_[static_cast<std::size_t>(rank)].failure, nullptr);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace collbench::collectives
