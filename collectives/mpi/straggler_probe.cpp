#include "collectives/mpi/straggler_probe.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/pairing.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/mpi/host_buffer.hpp"

namespace collbench::collectives {
namespace {

constexpr int kCalls = 40;           // of a small AllReduce, the first few not looked at
constexpr int kCallsPassedOver = 5;  // the ranks come from a barrier
constexpr int kQuestions = 8;        // to each clock
constexpr int kPings = 24;
constexpr int kTransfers = 3;
constexpr std::uint64_t kTransferBytes = kMiB;

void send(const void* from, std::uint64_t bytes, int to, MPI_Comm communicator) {
  launch::check_mpi(MPI_Send(from, static_cast<int>(bytes), MPI_BYTE, to, 0, communicator), "MPI_Send");
}

void receive(void* to, std::uint64_t bytes, int from, MPI_Comm communicator) {
  launch::check_mpi(MPI_Recv(to, static_cast<int>(bytes), MPI_BYTE, from, 0, communicator, MPI_STATUS_IGNORE),
                    "MPI_Recv");
}

}  // namespace

struct RankProber::Handles {
  launch::Ranks& ranks;
  const Clock& clock;
  std::vector<int> first_ranks;  // of the hosts; none without transfers
  Communicator world;
  HostBuffer buffer;
  int turn = 0;

  /// How far rank 0's clock is ahead of this rank's. Rank 0 answers one rank after the other.
  [[nodiscard]] ClockOffset offset_to_root() const {
    std::array<ClockSample, kQuestions> samples{};
    if (!ranks.is_root()) {
      for (ClockSample& sample : samples) {
        sample.asked = clock.seconds();
        send(&sample.asked, sizeof(double), 0, world.get());
        receive(&sample.answered, sizeof(double), 0, world.get());
        sample.heard = clock.seconds();
      }
      return clock_offset(samples);
    }
    for (int rank = 1; rank < ranks.size(); ++rank) {
      for (int i = 0; i < kQuestions; ++i) {
        double now = 0;
        receive(&now, sizeof now, rank, world.get());
        now = clock.seconds();
        send(&now, sizeof now, rank, world.get());
      }
    }
    return {};
  }

  /// Entries, by rank 0's clock, and what the calls took; then how uncertain that clock is here.
  [[nodiscard]] std::vector<double> calls() const {
    const ClockOffset before = offset_to_root();
    std::vector<double> entries;
    std::vector<double> inside;
    ranks.barrier();
    double sum = 0;
    for (int i = 0; i < kCalls; ++i) {
      const double mine = 1;
      const double entry = clock.seconds();
      launch::check_mpi(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world.get()), "MPI_Allreduce");
      inside.push_back(clock.seconds() - entry);
      entries.push_back(entry);
    }
    const ClockOffset after = offset_to_root();
    for (double& entry : entries) entry += (before.seconds + after.seconds) / 2;
    entries.insert(entries.end(), inside.begin(), inside.end());
    entries.push_back(std::max({before.uncertainty_seconds, after.uncertainty_seconds,
                                std::abs(after.seconds - before.seconds) / 2}));
    return entries;
  }

  void add_calls(ProbeRepetition& repetition) const {
    const std::vector<std::vector<double>> all = launch::gather_spans(ranks, calls());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      std::vector<double> later;
      for (int call = kCallsPassedOver; call < kCalls; ++call) {
        std::vector<double> others;
        for (std::size_t other = 0; other < all.size(); ++other) {
          if (other != rank) others.push_back(all[other][static_cast<std::size_t>(call)]);
        }
        later.push_back(all[rank][static_cast<std::size_t>(call)] - median(std::move(others)));
      }
      repetition.entry_seconds.push_back(median(std::move(later)));
      const auto inside = all[rank].begin() + kCalls + kCallsPassedOver;
      repetition.inside_seconds.push_back(median({inside, all[rank].end() - 1}));
      repetition.clock_uncertainty_seconds = std::max(repetition.clock_uncertainty_seconds, all[rank].back());
    }
  }

  /// Half a round trip of 8 B: the quicker quarter, since a partner may have waited for a core.
  [[nodiscard]] double latency(int partner) const {
    double word = 0;
    std::vector<double> trips;
    for (int i = 0; i < kPings; ++i) {
      const double before = clock.seconds();
      if (ranks.rank() < partner) {
        send(&word, sizeof word, partner, world.get());
        receive(&word, sizeof word, partner, world.get());
      } else {
        receive(&word, sizeof word, partner, world.get());
        send(&word, sizeof word, partner, world.get());
      }
      trips.push_back((clock.seconds() - before) / 2);
    }
    return quantile(std::move(trips), 0.25);
  }

  /// A large message from the lower to the higher, or back, and a word that it came: the quickest.
  [[nodiscard]] double transfer(int partner, bool sends) const {
    char done = 0;
    double quickest = 0;
    for (int i = 0; i < kTransfers; ++i) {
      const double before = clock.seconds();
      if (sends) {
        send(buffer.data(), kTransferBytes, partner, world.get());
        receive(&done, 1, partner, world.get());
      } else {
        receive(buffer.data(), kTransferBytes, partner, world.get());
        send(&done, 1, partner, world.get());
      }
      const double seconds = clock.seconds() - before;
      quickest = i == 0 ? seconds : std::min(quickest, seconds);
    }
    return quickest;
  }

  void add_latencies(ProbeRepetition& repetition) const {
    for (const int round : rounds(ranks.size())) {
      ranks.barrier();
      const auto partner = pairing_partner(ranks.rank(), round, ranks.size());
      const double mine = partner ? latency(*partner) : 0;
      const auto all = launch::gather_values(ranks, mine);
      for (int rank = 0; std::cmp_less(rank, all.size()); ++rank) {
        const auto other = pairing_partner(rank, round, ranks.size());
        if (other && rank < *other) {
          repetition.latencies.push_back({rank, *other, all[static_cast<std::size_t>(rank)]});
        }
      }
    }
  }

  /// One pair of hosts at a time is not asked for: pairs of one round share no host.
  void add_transfers(ProbeRepetition& repetition) const {
    const int hosts = static_cast<int>(first_ranks.size());
    const auto own = std::ranges::find(first_ranks, ranks.rank());
    for (const int round : rounds(hosts)) {
      for (const bool up : {true, false}) {
        ranks.barrier();
        double mine = 0;
        if (own != first_ranks.end()) {
          const int host = static_cast<int>(own - first_ranks.begin());
          const auto partner = pairing_partner(host, round, hosts);
          if (partner)
            mine = transfer(first_ranks[static_cast<std::size_t>(*partner)], (host < *partner) == up);
        }
        const auto all = launch::gather_values(ranks, mine);
        if (all.empty()) continue;
        for (int host = 0; host < hosts; ++host) {
          const auto partner = pairing_partner(host, round, hosts);
          if (!partner || (host < *partner) != up) continue;
          const int from = first_ranks[static_cast<std::size_t>(host)];
          repetition.transfers.push_back(
              {from, first_ranks[static_cast<std::size_t>(*partner)], all[static_cast<std::size_t>(from)]});
        }
      }
    }
  }

  [[nodiscard]] std::vector<int> rounds(int count) const {
    std::vector<int> some(static_cast<std::size_t>(std::min(kPairingRoundsPerProbe, pairing_rounds(count))));
    for (std::size_t i = 0; i < some.size(); ++i) {
      some[i] = (turn * kPairingRoundsPerProbe + static_cast<int>(i)) % pairing_rounds(count);
    }
    return some;
  }
};

RankProber::RankProber(launch::Ranks& ranks, const Clock& clock, const Identities& identities, bool transfers)
    : handles_(new Handles{.ranks = ranks,
                           .clock = clock,
                           .first_ranks = {},
                           .world = Communicator::duplicate(MPI_COMM_WORLD),
                           .buffer = HostBuffer(transfers ? kTransferBytes : 0)}) {
  if (!transfers) return;
  std::memset(handles_->buffer.data(), 0, handles_->buffer.size());
  for (const Identity& identity : identities) {
    if (identity.local_rank == 0) handles_->first_ranks.push_back(identity.rank);
  }
}

RankProber::~RankProber() = default;

ProbeRepetition RankProber::repeat() {
  ProbeRepetition repetition;
  handles_->add_calls(repetition);
  handles_->add_latencies(repetition);
  handles_->add_transfers(repetition);
  ++handles_->turn;
  return repetition;
}

}  // namespace collbench::collectives
