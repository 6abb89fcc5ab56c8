#include "launch/align_barrier_exit.hpp"

#include <gtest/gtest.h>

namespace collbench::launch::align_barrier_exit_test {
namespace {

/// Ranks that must not say a word.
class SilentRanks : public Ranks {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void barrier() override { FAIL(); }
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override { FAIL(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& /*text*/) override {
    ADD_FAILURE();
    return {};
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& /*text*/) override {
    ADD_FAILURE();
    return {};
  }
  void reduce(std::span<double> /*values*/, RankAggregate /*how*/) override { FAIL(); }
};

// The simulator's side is tested by tests/simgrid: its rows are off by a latency without it.
TEST(LeaveTogether, AddsNothingToABarrierOfARealMachine) {
  SilentRanks ranks;
  align_barrier_exit(ranks, 1.0);
}

}  // namespace
}  // namespace collbench::launch::align_barrier_exit_test
