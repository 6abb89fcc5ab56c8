#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deterministic_random.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/engine/block_timer.hpp"
#include "collectives/engine/measurement_loop.hpp"

namespace collbench::collectives {

/// A clock that only operations move.
class StepClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return now; }
  double now = 0;
};

/// An operation takes 1 ms × the rank's slowness. Data are wrong where told.
class StepBackend : public Backend {
 public:
  struct Behavior {
    double slowness = 1;
    std::optional<std::uint64_t> page_faults = std::nullopt;  ///< in a call
    bool wrong = false;
    bool out_of_memory = false;
    bool lacks_elsewhere = false;
    double call_seconds = 1e-3;
    double byte_seconds = 0;       ///< more for each byte
    std::uint64_t slow_after = 0;  ///< calls from this one on take 4 ms more, as on a shared core; 0: none
    std::uint64_t slow_call_every = 0;  ///< such a call takes 100 times as long; 0: none
    bool holds_buffers = false;         ///< its communicators do
    double communicator_seconds = 0;    ///< that making one takes
    bool two_states = false;            ///< every other pass takes three times as long, and a probe tells
  };

  explicit StepBackend(Behavior behavior) : behavior_(behavior) {}

  [[nodiscard]] BackendCapabilities capabilities() const override {
    return {.communicators_hold_buffers = behavior_.holds_buffers};
  }
  void describe(Run& run) const override { run.backend = BackendId::mpi; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] std::vector<std::string> algorithms(OperationId /*operation*/) const override { return {}; }
  [[nodiscard]] std::optional<std::string> unsupported_reason(const RowKey& key) const override {
    if (key.algorithm == "nowhere") return "not on this machine";
    if (key.algorithm == "elsewhere" && behavior_.lacks_elsewhere) return "not on this host";
    return std::nullopt;
  }
  [[nodiscard]] std::string algorithm_ran(const RowKey& key) const override { return key.algorithm; }
  [[nodiscard]] std::string note(const RowKey& /*key*/) const override { return {}; }
  [[nodiscard]] RowLayout layout(const RowKey& key) const override {
    RowLayout layout;
    layout.bytes = {.send = key.size_bytes, .receive = 2 * key.size_bytes};
    return layout;
  }
  [[nodiscard]] BackendLimits limits() const override { return {}; }
  void allocate(const BufferBytes& bytes) override {
    if (behavior_.out_of_memory) throw std::bad_alloc();
    allocated.push_back(bytes);
    order.emplace_back("buffers");
  }
  void keep_buffers() override { order.emplace_back("kept"); }
  [[nodiscard]] std::optional<MachineProbe> probe_machine() override {
    if (!behavior_.two_states) return std::nullopt;
    // No two probes are alike.
    return MachineProbe{.round_trip_seconds = (is_slow_pass() ? 530e-9 : 110e-9) * (1 + 1e-9 * ++probes_)};
  }
  void renew_communicators() override {
    ++renewed;
    has_communicator_ = false;
    order.emplace_back("end of communicators");
  }
  [[nodiscard]] double clock_read_seconds() const override { return 35e-9; }
  [[nodiscard]] double now() const { return clock_.now; }
  void let_time_pass(double seconds) { clock_.now += seconds; }
  [[nodiscard]] std::unique_ptr<PreparedRow> prepare(const RowKey& key,
                                                     const RowLayout& /*layout*/) override {
    if (!std::exchange(has_communicator_, true)) {
      clock_.now += behavior_.communicator_seconds;
      order.emplace_back("communicator");
    }
    return std::make_unique<Row>(*this, key);
  }

  std::vector<BufferBytes> allocated;
  int renewed = 0;
  std::vector<std::string> order;      // of what passes begin with
  std::vector<std::uint64_t> visited;  // sizes, in the order of their timed blocks

 private:
  class Row : public PreparedRow {
   public:
    Row(StepBackend& backend, RowKey key) : backend_(backend), key_(std::move(key)) {}
    void fill(std::uint64_t iteration) override { filled_ = iteration; }
    void fill_to_repeat() override { filled_ = 0; }
    void run(std::uint64_t iterations) override { static_cast<void>(time(iterations, iterations, {})); }
    [[nodiscard]] Block time(std::uint64_t iterations, std::uint64_t per_sample,
                             const GoesOn& goes_on) override {
      if (backend_.visited.empty() || backend_.visited.back() != key_.size_bytes) {
        backend_.visited.push_back(key_.size_bytes);
      }
      const auto now = [this] { return backend_.clock_.now; };
      Block block =
          time_block(now, iterations, per_sample, [this] { backend_.call(key_.size_bytes); }, goes_on);
      if (const auto faults = backend_.behavior_.page_faults) block.page_faults = iterations * *faults;
      return block;
    }
    [[nodiscard]] std::optional<double> enqueue_seconds(std::uint64_t calls) override {
      EXPECT_GT(calls, 0U);
      return 1e-6 * backend_.behavior_.slowness;
    }
    [[nodiscard]] std::optional<Mismatch> check(std::uint64_t iteration) override {
      EXPECT_EQ(iteration, filled_) << "what is checked is what was filled last";
      EXPECT_NE(iteration, 0U);
      if (!backend_.behavior_.wrong) return std::nullopt;
      return Mismatch{.count = 3, .first_index = 7, .expected = "1", .got = "2"};
    }

   private:
    StepBackend& backend_;
    RowKey key_;
    std::uint64_t filled_ = 0;
  };

  /// Every pass allocates once.
  [[nodiscard]] bool is_slow_pass() const { return behavior_.two_states && allocated.size() % 2 == 0; }

  void call(std::uint64_t size_bytes) {
    const std::uint64_t every = behavior_.slow_call_every;
    const bool slow = every > 0 && scrambled(calls_++) % every == 0;
    if (behavior_.slow_after > 0 && ++calls_before_ > behavior_.slow_after) clock_.now += 4e-3;
    const double seconds = behavior_.call_seconds + behavior_.byte_seconds * static_cast<double>(size_bytes);
    clock_.now += seconds * behavior_.slowness * (slow ? 100 : 1) * (is_slow_pass() ? 3 : 1);
  }

  Behavior behavior_;
  StepClock clock_;
  bool has_communicator_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t calls_before_ = 0;
  int probes_ = 0;
};

inline const std::vector<std::string> kHosts{"alpha", "beta", "gamma"};

inline RowKey row_of(std::uint64_t size_bytes, const std::string& algorithm = "auto") {
  return {.operation = OperationId::all_reduce,
          .size_bytes = size_bytes,
          .count = size_bytes / 4,
          .type = DataType::float32,
          .reduction = Reduction::sum,
          .in_place = false,
          .algorithm = algorithm};
}

/// Three passes of four operations.
inline MeasurementLoopOptions quick() {
  MeasurementLoopOptions options;
  options.fixed.iterations = 4;
  options.stopping.passes = FixedPasses{3};
  return options;
}

}  // namespace collbench::collectives
