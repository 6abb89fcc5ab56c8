#include "analysis/import/log_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::analysis::table_operation_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One row of four ranks whose out-of-place half was checked.
LogTable table(std::uint64_t times, std::optional<Reduction> reduction, int root, double factor,
               bool in_place_checked) {
  LogRow row;
  row.count = 1000;
  row.size_bytes = 4000 * times;
  row.reduction = reduction;
  row.root = root;
  row.out_of_place = {1e-3, {100, 0.005}, {100 * factor, 0.005}, true, 0};
  row.in_place = row.out_of_place;
  row.in_place->checked = in_place_checked;
  LogTable result;
  result.rows = {row};
  return result;
}

TEST(LogOperation, ReductionRootSizeAndFactorTellThemApart) {
  EXPECT_THAT(operations_like(table(1, Reduction::sum, -1, 1.5, true), {}),
              ElementsAre(OperationId::all_reduce));
  EXPECT_THAT(operations_like(table(4, Reduction::sum, -1, 0.75, true), {}),
              ElementsAre(OperationId::reduce_scatter));
  EXPECT_THAT(operations_like(table(1, Reduction::sum, 0, 1, true), {}), ElementsAre(OperationId::reduce));
  EXPECT_THAT(operations_like(table(1, std::nullopt, 0, 1, true), {}), ElementsAre(OperationId::broadcast));
  EXPECT_THAT(operations_like(table(4, std::nullopt, 0, 0.75, true), {}),
              ElementsAre(OperationId::gather, OperationId::scatter));
}

TEST(LogOperation, InPlaceIsCheckedOnlyWhereItExists) {
  EXPECT_THAT(operations_like(table(4, std::nullopt, -1, 0.75, true), {}),
              ElementsAre(OperationId::all_gather));
  EXPECT_THAT(operations_like(table(4, std::nullopt, -1, 0.75, false), {}),
              ElementsAre(OperationId::all_to_all));
  EXPECT_THAT(operations_like(table(1, Reduction::sum, -1, 1, false), {}),
              ElementsAre(OperationId::send_recv));
}

TEST(LogOperation, AnOldHeadingSeparatesAllToAllFromAllGather) {
  LogTable old = table(4, std::nullopt, -1, 0.75, true);
  old.rows[0].out_of_place.checked = false;
  old.rows[0].root.reset();
  old.root_column = false;
  EXPECT_THAT(operations_like(old, {}), ElementsAre(OperationId::all_to_all));
  old.reduction_column = false;
  EXPECT_THAT(operations_like(old, {}), ElementsAre(OperationId::all_gather));
}

TEST(LogOperation, KnownRanksLeaveOutWhatDoesNotFit) {
  LogTable two = table(1, Reduction::sum, -1, 1, true);
  two.rows[0].out_of_place.checked = false;
  EXPECT_THAT(operations_like(two, {}), ElementsAre(OperationId::all_reduce, OperationId::send_recv));
  EXPECT_THAT(operations_like(two, 8), ElementsAre(OperationId::send_recv));
}

TEST(LogOperation, AnOldAllToAllIsKnownThoughItsInPlaceHalfWasChecked) {
  LogTable old = table(4, std::nullopt, -1, 0.75, true);
  old.rows[0].root.reset();
  old.root_column = false;
  EXPECT_THAT(operations_like(old, {}), ElementsAre(OperationId::all_to_all));
}

std::string refusal_of(LogTable rows) {
  try {
    (void)operation_of(rows, std::nullopt, "a.log");
  } catch (const Error& error) {
    return describe(error);
  }
  return "no refusal";
}

TEST(LogOperation, TheNextStepNamesAnOperationThatFits) {
  LogTable unchecked = table(4, std::nullopt, -1, 0.75, true);
  unchecked.rows[0].out_of_place.checked = false;
  EXPECT_THAT(refusal_of(unchecked),
              HasSubstr("fits AllGather and AllToAll; give --operation all_gather, or"));
}

TEST(LogOperation, RowsOfSeveralJobsAreSaidToBe) {
  LogTable several = table(1, Reduction::sum, -1, 1.75, true);
  several.rows.push_back(table(1, Reduction::sum, -1, 1.875, true).rows[0]);
  several.rows[1].line = 9;
  EXPECT_THAT(refusal_of(several), HasSubstr("jobs of different numbers of ranks: another begins on line 9"));
}

}  // namespace
}  // namespace collbench::analysis::table_operation_test
