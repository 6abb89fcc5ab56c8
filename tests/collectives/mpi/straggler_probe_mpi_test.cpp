// Looks at real ranks, whose clocks a test can set apart as clocks of hosts are.
#include "collectives/mpi/straggler_probe.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <set>
#include <utility>

namespace collbench::collectives::straggler_probe_test {
namespace {

/// As much of the harness's ranks as a look needs: texts of one length.
class WorldRanks : public launch::Ranks {
 public:
  WorldRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, MPI_COMM_WORLD);
  }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& /*text*/) override { return {}; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    const int length = static_cast<int>(text.size());
    std::string joined(text.size() * static_cast<std::size_t>(is_root() ? size_ : 0), '\0');
    MPI_Gather(text.data(), length, MPI_CHAR, joined.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> all;
    for (std::size_t at = 0; at < joined.size(); at += text.size())
      all.push_back(joined.substr(at, text.size()));
    return all;
  }
  void reduce(std::span<double> /*values*/, launch::RankAggregate /*how*/) override {}

 private:
  int rank_ = 0;
  int size_ = 1;
};

class ShiftedClock : public Clock {
 public:
  explicit ShiftedClock(double shift) : shift_(shift) {}
  [[nodiscard]] double seconds() const override { return MPI_Wtime() + shift_; }

 private:
  double shift_;
};

/// Every rank on a host of its own.
Identities apart(int ranks) {
  Identities identities;
  for (int rank = 0; rank < ranks; ++rank)
    identities.push_back({rank, "host" + std::to_string(rank), rank, 0});
  return identities;
}

TEST(RankProber, ClocksThatDifferAreAligned) {
  WorldRanks ranks;
  const ShiftedClock clock(1000.0 * ranks.rank());
  RankProber prober(ranks, clock, apart(ranks.size()), true);
  const ProbeRepetition look = prober.repeat();
  if (!ranks.is_root()) {
    EXPECT_TRUE(look.entry_seconds.empty());
    return;
  }
  EXPECT_EQ(std::ssize(look.entry_seconds), ranks.size());
  // However busy the machine: a clock that was not set right would be off by a thousand seconds.
  for (const double entry : look.entry_seconds) EXPECT_LT(std::fabs(entry), 100);
  EXPECT_GT(look.clock_uncertainty_seconds, 0);
  EXPECT_LT(look.clock_uncertainty_seconds, 100);
  for (const double inside : look.inside_seconds) EXPECT_GT(inside, 0);
}

TEST(RankProber, EveryPairIsMetAndHostsInBothDirections) {
  WorldRanks ranks;
  const ShiftedClock clock(0);
  RankProber prober(ranks, clock, apart(ranks.size()), true);
  const ProbeRepetition look = prober.repeat();
  if (!ranks.is_root()) return;
  std::set<std::pair<int, int>> pairs;
  for (const PairTime& pair : look.latencies) {
    EXPECT_LT(pair.from, pair.to);
    EXPECT_GT(pair.seconds, 0);
    pairs.emplace(pair.from, pair.to);
  }
  const auto count = static_cast<std::size_t>(ranks.size());
  EXPECT_EQ(pairs.size(), count * (count - 1) / 2);
  std::set<std::pair<int, int>> ways;
  for (const PairTime& pair : look.transfers) {
    EXPECT_NE(pair.from, pair.to);
    EXPECT_GT(pair.seconds, 0);
    ways.emplace(pair.from, pair.to);
  }
  EXPECT_EQ(ways.size(), count * (count - 1));
}

TEST(RankProber, LooksAtRanksAloneWhereMpiIsNotWhatIsMeasured) {
  WorldRanks ranks;
  const ShiftedClock clock(0);
  RankProber prober(ranks, clock, apart(ranks.size()), false);
  const ProbeRepetition look = prober.repeat();
  EXPECT_TRUE(look.transfers.empty());
  EXPECT_EQ(look.latencies.empty(), !ranks.is_root());
}

}  // namespace
}  // namespace collbench::collectives::straggler_probe_test
