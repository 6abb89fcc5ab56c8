// Which algorithm really runs, told by the messages that it sends.
#include "collectives/mpi/open_mpi/algorithm_control.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <set>

#include "base/error.hpp"
#include "collectives/mpi/open_mpi/algorithm_rules.hpp"
#include "collectives/mpi/open_mpi/mpi_t_variable.hpp"
#include "launch/mpi/mpi_session.hpp"
#include "tests/collectives/mpi/open_mpi/expected_messages.hpp"
#include "tests/collectives/mpi/open_mpi/message_log.hpp"

namespace collbench::collectives::algorithm_control_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Before main calls MPI_Init.
const bool kAllowed = (allow_forced_algorithms(), true);

constexpr std::array kOperations{OperationId::all_reduce, OperationId::all_gather,
                                 OperationId::reduce_scatter, OperationId::all_to_all};

/// MPI_COMM_WORLD under the algorithms selected when it was made; errors come back as return values.
class Communicator {
 public:
  Communicator() {
    MPI_Comm_dup(MPI_COMM_WORLD, &handle_);
    MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  ~Communicator() { MPI_Comm_free(&handle_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] MPI_Comm get() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

void take_second(void* in, void* out, int* length, MPI_Datatype* /*type*/) {
  std::copy_n(static_cast<int*>(in), *length, static_cast<int*>(out));
}

class AlgorithmControlOnRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kAllowed);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Op_create(take_second, 0, &not_commutative_);
  }
  void TearDown() override { MPI_Op_free(&not_commutative_); }

  [[nodiscard]] CollectiveCall call(OperationId operation, std::uint64_t count, bool in_place = false) const {
    return {operation, count, sizeof(int), ranks_, true, in_place};
  }

  /// Runs `call` on ints and returns MPI's verdict.
  int run(const CollectiveCall& call, MPI_Comm communicator) const {
    const int count = static_cast<int>(call.count);
    const std::vector<int> counts(static_cast<std::size_t>(ranks_), count);
    const std::vector<int> in(call.count * counts.size(), rank_);
    std::vector<int> out(in.size());
    const void* from = call.in_place ? MPI_IN_PLACE : in.data();
    MPI_Op reduction = call.commutative ? MPI_SUM : not_commutative_;
    switch (call.operation) {
      case OperationId::all_reduce:
        return MPI_Allreduce(from, out.data(), count, MPI_INT, reduction, communicator);
      case OperationId::all_gather:
        return MPI_Allgather(from, count, MPI_INT, out.data(), count, MPI_INT, communicator);
      case OperationId::reduce_scatter:
        return MPI_Reduce_scatter(from, out.data(), counts.data(), MPI_INT, reduction, communicator);
      default:
        return MPI_Alltoall(from, count, MPI_INT, out.data(), count, MPI_INT, communicator);
    }
  }

  /// The two collectives that make up Open MPI's "nonoverlapping" and its linear AllGather.
  void run_in_two_steps(const CollectiveCall& call, MPI_Comm communicator) const {
    const int count = static_cast<int>(call.count);
    const std::vector<int> counts(static_cast<std::size_t>(ranks_), count);
    std::vector<int> starts(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    std::vector<int> in(call.count * counts.size());
    std::vector<int> out(in.size());
    switch (call.operation) {
      case OperationId::all_reduce:
        MPI_Reduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, 0, communicator);
        MPI_Bcast(out.data(), count, MPI_INT, 0, communicator);
        break;
      case OperationId::all_gather:
        MPI_Gather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, 0, communicator);
        MPI_Bcast(out.data(), count * ranks_, MPI_INT, 0, communicator);
        break;
      default:
        MPI_Reduce(in.data(), out.data(), count * ranks_, MPI_INT, MPI_SUM, 0, communicator);
        MPI_Scatterv(out.data(), counts.data(), starts.data(), MPI_INT, in.data(), count, MPI_INT, 0,
                     communicator);
    }
  }

  /// The messages of the algorithm called `name`, whatever was selected.
  Messages expected(const std::string& name, const CollectiveCall& call, MPI_Comm communicator) const {
    const auto known = expected_messages(name, call, rank_, segment_elements_);
    const std::set<std::string> in_two_steps{"nonoverlapping", "non-overlapping", "linear"};
    EXPECT_TRUE(known || in_two_steps.contains(name)) << name;
    return known ? *known : messages_of([&] { run_in_two_steps(call, communicator); });
  }

  /// That `algorithm`, once selected, runs `call` with the messages of the algorithm that ran() names.
  void expect_truth(const std::string& algorithm, const CollectiveCall& call) {
    control_.select(call.operation, algorithm);
    const Communicator communicator;
    control_.select(call.operation, kLibraryChoice);
    const std::string ran = control_.ran(algorithm, call);
    const Messages sent =
        messages_of([&] { EXPECT_EQ(run(call, communicator.get()), MPI_SUCCESS) << algorithm; });
    const Messages wanted = expected(ran, call, communicator.get());
    EXPECT_EQ(sent, wanted) << fmt::format(
        "{} of {} ints on {} ranks{}{}: {} selected, {} claimed; sent {}, wanted {}",
        operation(call.operation).name, call.count, ranks_, call.in_place ? ", in place" : "",
        call.commutative ? "" : ", not commutative", algorithm, ran, describe(sent), describe(wanted));
    EXPECT_EQ(ran == "self", ranks_ == 1);
  }

  AlgorithmControl control_;
  int rank_ = 0;
  int ranks_ = 0;
  std::uint64_t segment_elements_ = 0;
  MPI_Op not_commutative_ = MPI_OP_NULL;
};

TEST_F(AlgorithmControlOnRanks, MessagesAreSeen) {
  const Communicator communicator;
  const Messages sent = messages_of([&] { run(call(OperationId::all_reduce, 1), communicator.get()); });
  EXPECT_EQ(sent.empty(), ranks_ == 1) << "run under OMPI_MCA_pml_monitoring_enable=1";
}

TEST_F(AlgorithmControlOnRanks, WhatIsSaidToRunIsWhatSendsTheMessages) {
  const auto one_each = static_cast<std::uint64_t>(ranks_);
  for (const OperationId operation : kOperations) {
    EXPECT_FALSE(control_.available(operation).empty());
    for (const std::string& algorithm : control_.available(operation)) {
      if (control_.unsupported_reason(operation, algorithm, ranks_)) continue;
      for (const std::uint64_t count : {std::uint64_t{1}, one_each - 1, one_each, std::uint64_t{1001}}) {
        if (count == 0) continue;
        for (const bool in_place : {false, true}) {
          expect_truth(algorithm, call(operation, count, in_place));
        }
      }
    }
  }
}

TEST_F(AlgorithmControlOnRanks, ReductionsThatDoNotCommuteFallBackToo) {
  auto ordered = call(OperationId::all_reduce, 1001);
  ordered.commutative = false;
  for (const char* const algorithm : {"rabenseifner", "recursive_doubling", "basic_linear"}) {
    expect_truth(algorithm, ordered);
  }
}

TEST_F(AlgorithmControlOnRanks, SegmentedRingRunsWhenThereIsASegmentSize) {
  const auto segment_bytes = MpiTVariable::find("coll_tuned_allreduce_algorithm_segmentsize");
  ASSERT_TRUE(segment_bytes);
  EXPECT_TRUE(segment_bytes->set(256));
  segment_elements_ = 256 / sizeof(int);
  for (const std::uint64_t count : {100U, 319U, 320U, 1001U, 1200U}) {
    expect_truth("segmented_ring", call(OperationId::all_reduce, count));
  }
  EXPECT_EQ(control_.ran("segmented_ring", call(OperationId::all_reduce, 1001)),
            ranks_ > 1 ? "segmented_ring" : "self");
  EXPECT_TRUE(segment_bytes->set(0));
}

TEST_F(AlgorithmControlOnRanks, OnlyCommunicatorsMadeAfterwardsChange) {
  const auto many = call(OperationId::all_reduce, 1001);
  const Communicator before;
  control_.select(many.operation, "ring");
  const Communicator forced;
  control_.select(many.operation, kLibraryChoice);
  const Communicator after;
  const auto messages_on = [&](const Communicator& communicator) {
    return messages_of([&] { run(many, communicator.get()); });
  };
  EXPECT_EQ(messages_on(before), messages_on(after));
  EXPECT_EQ(messages_on(forced), expected("ring", many, forced.get()));
  EXPECT_EQ(messages_on(before) == messages_on(forced), ranks_ == 1);
}

TEST_F(AlgorithmControlOnRanks, WhatWouldFailInsideTheCallIsSaidBefore) {
  for (const OperationId operation : {OperationId::all_gather, OperationId::all_to_all}) {
    const auto reason = control_.unsupported_reason(operation, "two_proc", ranks_);
    control_.select(operation, "two_proc");
    const Communicator communicator;
    control_.select(operation, kLibraryChoice);
    EXPECT_EQ(run(call(operation, 1), communicator.get()) != MPI_SUCCESS, reason.has_value());
    EXPECT_EQ(reason.has_value(), ranks_ > 2);
  }
}

TEST_F(AlgorithmControlOnRanks, WhatTheLibraryLacksIsNamedWithWhatItHas) {
  EXPECT_THAT(control_.available(OperationId::all_reduce), Contains("recursive_doubling"));
  EXPECT_THAT(control_.available(OperationId::all_reduce), Not(Contains("ignore")));
  EXPECT_THAT(control_.available(OperationId::send_recv), ::testing::IsEmpty());
  EXPECT_TRUE(control_.unsupported_reason(OperationId::send_recv, "ring", ranks_));
  EXPECT_FALSE(control_.unsupported_reason(OperationId::send_recv, kLibraryChoice, ranks_));
  EXPECT_THAT(control_.unsupported_reason(OperationId::all_reduce, "pairwise", ranks_).value_or(""),
              HasSubstr("basic_linear, nonoverlapping"));
  EXPECT_NO_THROW(control_.select(OperationId::send_recv, kLibraryChoice));
  try {
    control_.select(OperationId::all_to_all, "hypercube");
    ADD_FAILURE() << "selected";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    EXPECT_THAT(describe(error), HasSubstr("--algo hypercube"));
    EXPECT_THAT(describe(error), HasSubstr("modified_bruck"));
  }
}

/// On both sides of the limits that the rules of Open MPI 4.1 have for so few ranks (open_mpi_rules.cpp).
TEST_F(AlgorithmControlOnRanks, WhatTheLibraryIsSaidToChooseIsWhatSendsTheMessages) {
  if (!has_open_mpi_rules(launch::MpiSession::library_version())) GTEST_SKIP() << "another library";
  for (const OperationId operation : kOperations) {
    for (const std::uint64_t bytes :
         {4U,     12U,    16U,    60U,    64U,     252U,    256U,    4092U,   4096U,   8192U,    16384U,
          32764U, 32768U, 65532U, 65536U, 131072U, 262140U, 262144U, 524284U, 524288U, 1048572U, 1048576U}) {
      const auto one = call(operation, bytes / sizeof(int));
      EXPECT_NE(control_.ran(kLibraryChoice, one), kLibraryChoice) << collbench::operation(operation).name;
      expect_truth(kLibraryChoice, one);
    }
    expect_truth(kLibraryChoice, call(operation, 1001, true));
  }
}

TEST_F(AlgorithmControlOnRanks, OfOtherOperationsTheChoiceIsNotKnown) {
  EXPECT_EQ(control_.ran(kLibraryChoice, call(OperationId::broadcast, 1)), kLibraryChoice);
}

}  // namespace
}  // namespace collbench::collectives::algorithm_control_test
