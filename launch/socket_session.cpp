#include "launch/socket_session.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/units.hpp"
#include "launch/hosts/greeting.hpp"
#include "launch/interruption.hpp"
#include "launch/ranks.hpp"
#include "launch/sockets/meeting.hpp"

namespace collbench::launch {
namespace {

/// A star: rank 0 has a link to each of the others, by rank, and each of them one to it.
class SocketRanks : public Ranks {
 public:
  /// `numbers` are those of these ranks in the run, where they are not all of it.
  SocketRanks(int rank, int size, std::vector<RankLink> links, CallCounter& exchanges,
              std::vector<int> numbers = {})
      : rank_(rank),
        size_(size),
        links_(std::move(links)),
        exchanges_(exchanges),
        numbers_(std::move(numbers)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int number_in_run(int rank) const override {
    return numbers_.empty() ? rank : numbers_.at(static_cast<std::size_t>(rank));
  }

  void barrier() override { static_cast<void>(all_gather("")); }

  void broadcast(std::span<std::byte> bytes, int root) override {
    const CountedCall counted(exchanges_);
    at_links([&] {
      if (rank_ == root && !is_root()) links_.front().send(bytes);
      if (!is_root()) {
        if (rank_ != root) links_.front().receive_into(bytes);
        return;
      }
      if (root != 0) link_to(root).receive_into(bytes);
      for (int rank = 1; rank < size_; ++rank) {
        if (rank != root) link_to(rank).send(bytes);
      }
    });
  }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    return unpacked(broadcast_text(*this, packed(gather(text))));
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    const CountedCall counted(exchanges_);
    std::vector<std::string> texts;
    at_links([&] {
      if (!is_root()) {
        links_.front().send(std::as_bytes(std::span(text)));
        return;
      }
      texts.push_back(text);
      for (const RankLink& link : links_) texts.push_back(link.receive());
    });
    return texts;
  }

  void reduce(std::span<double> values, RankAggregate how) override {
    if (how != RankAggregate::rank0) {
      const CountedCall counted(exchanges_);
      at_links([&] {
        if (!is_root()) {
          links_.front().send(std::as_bytes(values));
          return;
        }
        std::vector<double> others(values.size());
        for (const RankLink& link : links_) {
          link.receive_into(std::as_writable_bytes(std::span(others)));
          combine(values, others, how);
        }
      });
    }
    broadcast(std::as_writable_bytes(values), 0);
    if (how == RankAggregate::average) {
      for (double& value : values) value /= size_;
    }
  }

  /// Tells all that wait for this rank, or for one through it, why they wait in vain.
  void end(const std::string& why) const {
    for (const RankLink& link : links_) link.end(why);
  }

  [[nodiscard]] const RankLink& first_link() const { return links_.front(); }

 private:
  [[nodiscard]] const RankLink& link_to(int rank) const {
    return links_.at(static_cast<std::size_t>(rank) - 1);
  }

  /// What rank 0 learns of a rank that is gone, the others learn from it.
  template <typename Work>
  void at_links(const Work& work) const {
    try {
      work();
    } catch (const Error& lost) {
      if (rank_ == 0) end(lost.what());
      throw;
    }
  }

  int rank_;
  int size_;
  std::vector<RankLink> links_;
  CallCounter& exchanges_;
  std::vector<int> numbers_;
};

/// A descriptor for each rank: the usual limit of 1,024 is the shell's. Throws Error (not_here) where the
/// system allows fewer.
void allow_descriptors(int ranks) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  constexpr rlim_t kOthers = 512;
  const rlim_t wanted = static_cast<rlim_t>(ranks) + kOthers;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < static_cast<rlim_t>(ranks))
    throw Error(ExitStatus::not_here, "rendezvous",
                fmt::format("rank 0 needs a file descriptor for each of {} ranks, and may have {}", ranks,
                            limit.rlim_max),
                "raise the limit (ulimit -Hn)");
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Where rank 0 of `host` has to listen: at that address where it is one of this host alone; empty: at all.
std::string listening_address(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  return host.starts_with("127.") || host == "::1" ? host : "";
}

std::unique_ptr<SocketRanks> meet(const Rendezvous& at, const MeetingPatience& patience,
                                  CallCounter& exchanges) {
  const CountedCall counted(exchanges);
  const Party party{
      .rank = at.rank, .ranks = at.ranks, .word = at.job, .numbers = {}, .interruption = interrupting_signal};
  std::vector<RankLink> links;
  if (at.rank == 0 && at.ranks > 1) {
    allow_descriptors(at.ranks);
    Door door(at.port, at.ports, listening_address(at.host));
    links = door.receive(party, patience.seconds, [&](const std::vector<int>& missing) {
      patience.waits(fmt::format("rank 0 is waiting at port {} of {} for {} of {} ranks: {}", door.port(),
                                 own_host_name(), missing.size(), at.ranks, number_ranges(missing)));
    });
  } else if (at.rank > 0) {
    // Of "localhost" only where rank 0 listens: at its IPv6 address somebody else might.
    const std::string own = listening_address(at.host);
    links.push_back(knock(own.empty() ? at.host : own, at.port, at.ports, party, patience.seconds));
  }
  return std::make_unique<SocketRanks>(at.rank, at.ranks, std::move(links), exchanges);
}

class SocketSession : public Session {
 public:
  SocketSession(const Rendezvous& at, const MeetingPatience& patience, CallCounter& exchanges)
      : by_(at.by),
        address_(listening_address(at.host)),
        patience_(patience),
        exchanges_(exchanges),
        ranks_(meet(at, patience, exchanges)) {}

  [[nodiscard]] Ranks& ranks() const override { return *ranks_; }

  /// The lowest of them is their rank 0, at a port that it tells the others by the links that there are.
  [[nodiscard]] std::unique_ptr<Ranks> ranks_of(int group) const override {
    const std::vector<int> groups = all_gather_values(*ranks_, group);
    std::vector<int> members;
    for (std::size_t rank = 0; rank < groups.size(); ++rank) {
      if (groups[rank] == group) members.push_back(static_cast<int>(rank));
    }
    const auto own = std::ranges::find(members, ranks_->rank());
    Party party{.rank = static_cast<int>(own - members.begin()),
                .ranks = static_cast<int>(members.size()),
                .word = "",
                .numbers = members,
                .interruption = interrupting_signal};
    std::optional<Door> door;
    if (party.rank == 0 && party.ranks > 1) {
      door.emplace(0, 1, address_);
      party.word = random_word();
    }
    const auto where =
        ranks_->all_gather(packed({door && !ranks_->is_root() ? ranks_->first_link().own_address() : "",
                                   std::to_string(door ? door->port() : 0), party.word}));
    std::vector<RankLink> links;
    if (door) {
      links = door->receive(party, patience_.seconds, [](const std::vector<int>&) {});
    } else if (party.rank > 0) {
      const std::vector<std::string> at = unpacked(where.at(static_cast<std::size_t>(members.front())));
      party.word = at.at(2);
      const std::string address = members.front() == 0 ? ranks_->first_link().peer_address() : at.at(0);
      links.push_back(
          knock(address, static_cast<std::uint16_t>(std::stoi(at.at(1))), 1, party, patience_.seconds));
    }
    return std::make_unique<SocketRanks>(party.rank, party.ranks, std::move(links), exchanges_, members);
  }

  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] std::string host() const override { return own_host_name(); }

  /// As NCCL tells hosts apart: by name and boot (getHostHash of its src/misc/utils.cc).
  [[nodiscard]] int shared_memory_leader() const override {
    const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
    const auto machines = ranks_->all_gather(own_host_name() + " " + boot);
    const auto& own = machines.at(static_cast<std::size_t>(ranks_->rank()));
    return static_cast<int>(std::ranges::find(machines, own) - machines.begin());
  }

  [[nodiscard]] bool has_mpi() const override { return false; }
  [[nodiscard]] std::string library() const override { return fmt::format("no MPI ({})", by_); }

  [[noreturn]] void abort(int status) const override {
    ranks_->end(fmt::format("rank {} ({}) has ended", ranks_->rank(), own_host_name()));
    std::_Exit(status);
  }

 private:
  std::string by_;
  std::string address_;  // where doors are; empty: at all addresses
  MeetingPatience patience_;
  CallCounter& exchanges_;
  std::unique_ptr<SocketRanks> ranks_;
  SteadySeconds clock_;
};

}  // namespace

std::unique_ptr<Session> make_socket_session(const Rendezvous& rendezvous, const MeetingPatience& patience,
                                             CallCounter& exchanges) {
  return std::make_unique<SocketSession>(rendezvous, patience, exchanges);
}

}  // namespace collbench::launch
