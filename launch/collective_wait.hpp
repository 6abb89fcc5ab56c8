#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "launch/flight/flight_page.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// Does on all ranks what only ends when all take part, and ends it on all when one fails: nobody waits for a
/// rank that gave up.
class CollectiveWait {
 public:
  /// `host` is this rank's. `limit_seconds` is how long one wait may take; 0: as long as it likes. A rank
  /// that waits is inside a call of `waits`, which must outlive this. `begins` is told of each wait before it
  /// begins: a rank that hangs inside a call of `begin` answers no question, so that only a watchdog can end
  /// the others' wait. `goes_on` is told, some times a second, that what this rank waits for has come
  /// further.
  CollectiveWait(Ranks& ranks, std::string host, const Clock& clock, double limit_seconds, CallCounter& waits,
                 std::function<void(const std::string& what)> begins = {}, std::function<void()> goes_on = {})
      : ranks_(ranks),
        host_(std::move(host)),
        clock_(clock),
        limit_seconds_(limit_seconds),
        waits_(waits),
        begins_(std::move(begins)),
        goes_on_(std::move(goes_on)) {}

  /// Calls `begin` once, then `over` again and again until it is true on every rank. Collective. When either
  /// throws an Error on some rank, or the time is up, throws the same AgreedError on all ranks; `what` names
  /// it then ("AllReduce 4 KiB"). While it waits it is inside MPI only between questions: neither `begin` nor
  /// `over` may communicate through `ranks`. `progress` is a number that grows as what is waited for goes on:
  /// while it does on some rank, the time begins anew.
  void wait(const std::string& what, const std::function<void()>& begin, const std::function<bool()>& over,
            const std::function<std::size_t()>& progress = {}) const;

  /// The same among other ranks, which outlive it.
  [[nodiscard]] CollectiveWait among(Ranks& ranks) const {
    return {ranks, host_, clock_, limit_seconds_, waits_, begins_, goes_on_};
  }

  [[nodiscard]] Ranks& ranks() const { return ranks_; }
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }

 private:
  Ranks& ranks_;
  std::string host_;
  const Clock& clock_;
  double limit_seconds_;
  CallCounter& waits_;
  std::function<void(const std::string& what)> begins_;
  std::function<void()> goes_on_;
};

}  // namespace collbench::launch
