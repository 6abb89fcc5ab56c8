#include "src/run/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::program::calibration_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Run two_ranks() {
  Run run;
  run.ranks = {{0, "node01", 0, 0}, {1, "node01", 0, 1}};
  run.cores_per_node = {2};
  return run;
}

collectives::MeasuredCalibration measured() {
  using enum CalibrationKind;
  return {.points = {{.kind = send_recv_intra, .bytes = 8, .seconds = 1e-6},
                     {.kind = send_recv_intra, .bytes = 4096, .seconds = 2e-6},
                     {.kind = send_recv_intra, .bytes = 1048576, .seconds = 1e-4},
                     {.kind = copy, .bytes = 4096, .seconds = 1e-6},
                     {.kind = copy, .bytes = 1048576, .seconds = 1e-4}},
          .wanted = 5};
}

TEST(TakeCalibration, OneThatFitsItselfIsUsed) {
  collbench::Run run = two_ranks();
  take_calibration(run, measured(), {});
  ASSERT_TRUE(run.calibration);
  EXPECT_TRUE(run.calibration->intra);
  EXPECT_THAT(run.environment_notes, IsEmpty());
}

TEST(TakeCalibration, OneThatContradictsItselfIsNotAndTheRunSaysWhy) {
  collbench::Run run = two_ranks();
  auto points = measured();
  points.points[0].seconds = 30e-3;
  take_calibration(run, points, {});
  ASSERT_TRUE(run.calibration);
  EXPECT_FALSE(run.calibration->intra) << "so that no row has an expectation";
  EXPECT_EQ(run.calibration->points, points.points) << "a reader can see what was wrong";
  EXPECT_THAT(
      run.environment_notes,
      ElementsAre(HasSubstr("no row has an expectation: measured again, 1 of 5 points still contradict the "
                            "others by more than a factor of 2, such as send_recv_intra of 8 B in 30 ms")));
}

TEST(TakeCalibration, OneThatWasCutShortSaysSo) {
  collbench::Run run = two_ranks();
  auto points = measured();
  points.wanted = 46;
  take_calibration(run, points, {});
  EXPECT_TRUE(run.calibration->intra);
  EXPECT_THAT(run.environment_notes, ElementsAre(HasSubstr("calibrated at 5 of 46 points")));
}

class SavedCalibration : public ::testing::Test {
 protected:
  SavedCalibration() : then_(two_ranks()), now_(two_ranks()) {
    take_calibration(then_, measured(), {});
    then_.calibration->gammas = {{DataType::float32, Reduction::sum, 1e-10}};
    then_.started = "2026-11-22T20:00:00Z";
  }

  std::string refusal(const std::vector<RowKey>& rows) {
    try {
      take_saved_calibration(now_, then_, rows, "run.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return describe(error);
    }
    return "taken";
  }

  static RowKey sum_of(std::uint64_t bytes) {
    return {.operation = OperationId::all_reduce,
            .size_bytes = bytes,
            .count = bytes / 4,
            .type = DataType::float32,
            .reduction = Reduction::sum};
  }

  collbench::Run then_;
  collbench::Run now_;
};

TEST_F(SavedCalibration, OfTheSameRanksIsTaken) {
  EXPECT_EQ(refusal({sum_of(8), sum_of(1048576)}), "taken");
  EXPECT_EQ(now_.calibration, then_.calibration);
  EXPECT_THAT(now_.environment_notes,
              ElementsAre("not calibrated: the calibration is that of run.json, of 2026-11-22T20:00:00Z"));
}

TEST_F(SavedCalibration, OfAnotherBackendLibraryOrTimeIsRefused) {
  then_.backend = BackendId::nccl;
  EXPECT_THAT(refusal({}),
              HasSubstr("--calibration: run.json was calibrated with nccl, and this run uses mpi"));
  then_.backend = BackendId::mpi;
  then_.versions.mpi = "Open MPI v5";
  EXPECT_THAT(refusal({}), HasSubstr("was calibrated with Open MPI v5"));
  then_.versions.mpi = now_.versions.mpi;
  then_.simulated = true;
  EXPECT_THAT(refusal({}), HasSubstr("simulated time"));
}

TEST_F(SavedCalibration, OfAnImportedLogThereIsNone) {
  then_.backend = BackendId::nccl;
  then_.calibration.reset();
  EXPECT_THAT(refusal({}), HasSubstr("run.json has no calibration that can be used"));
}

TEST_F(SavedCalibration, OfOtherRanksOrHostsIsRefused) {
  then_.ranks.push_back({2, "node02", 1, 0});
  EXPECT_THAT(refusal({}), HasSubstr("3 ranks on 2 hosts, and this run has 2 ranks on 1 host"));
  then_.ranks = two_ranks().ranks;
  then_.ranks[1].host = then_.ranks[0].host = "node07";
  EXPECT_THAT(refusal({}), HasSubstr("rank 0 on node07"));
}

TEST_F(SavedCalibration, ThatLacksWhatTheRowsNeedIsRefused) {
  EXPECT_THAT(refusal({sum_of(8), sum_of(4194304)}),
              HasSubstr("up to 1 MiB, and this run has rows of 4 MiB"));
  RowKey product = sum_of(8);
  product.reduction = Reduction::prod;
  EXPECT_THAT(refusal({product}), HasSubstr("was not calibrated for float prod"));
  then_.calibration->points[0].seconds = 30e-3;
  EXPECT_THAT(refusal({}), HasSubstr("contradicts itself: measured again, 1 of 5 points"));
  then_.calibration = Calibration{};
  EXPECT_THAT(refusal({}), HasSubstr("no calibration that can be used"));
}

}  // namespace
}  // namespace collbench::program::calibration_test
