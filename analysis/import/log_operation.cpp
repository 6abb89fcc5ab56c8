#include "analysis/import/log_operation.hpp"

#include <algorithm>

#include "analysis/import/rank_count.hpp"

namespace collbench {
namespace {

/// nccl-tests prints a reduction for SendRecv as well (src/sendrecv.cu walks over all of them).
bool prints_reduction(const Operation& operation) {
  return operation.reduces || operation.id == OperationId::send_recv;
}

bool checks_in_place(OperationId id) { return id != OperationId::send_recv && id != OperationId::all_to_all; }

/// Those that nothing in a table tells from AllToAll or Broadcast, and what no nccl-tests has.
bool told_by_name_only(const Operation& operation) {
  return operation.id == OperationId::all_to_all_v || operation.id == OperationId::hypercube ||
         operation.nccl_tests_name.empty();
}

/// Until 2.11 each program had its own heading; alltoall had a redop column with nothing in it.
bool has_old_heading_of(const Operation& operation, const LogTable& table) {
  return table.reduction_column == (prints_reduction(operation) || operation.id == OperationId::all_to_all) &&
         table.root_column == operation.has_root;
}

bool looks_like(const Operation& operation, const LogRow& row) {
  if (row.reduction.has_value() != prints_reduction(operation)) return false;
  if ((row.root.value_or(-1) >= 0) != operation.has_root) return false;
  const bool both_checkable = row.in_place && row.out_of_place.checked;
  return !both_checkable || row.in_place->checked == checks_in_place(operation.id);
}

bool looks_like(const Operation& operation, const LogTable& table) {
  const bool old_heading = !table.reduction_column || !table.root_column;
  if (old_heading && !has_old_heading_of(operation, table)) return false;
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const LogRow& row) { return looks_like(operation, row); });
}

}  // namespace

std::vector<OperationId> operations_like(const LogTable& table, std::optional<int> ranks) {
  std::vector<OperationId> found;
  for (const Operation& operation : operations()) {
    if (told_by_name_only(operation) || !looks_like(operation, table)) continue;
    const auto range = ranks_by_rates(operation, table.rows);
    if (range && (!ranks || range->holds(*ranks))) found.push_back(operation.id);
  }
  return found;
}

}  // namespace collbench
