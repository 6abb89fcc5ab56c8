#include "analysis/import/log_readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

/// nccl-tests prints a reduction for SendRecv as well (src/sendrecv.cu walks over all of them).
bool prints_reduction(const Operation& operation) {
  return operation.reduces || operation.id == OperationId::send_recv;
}

bool checks_in_place(OperationId id) { return id != OperationId::send_recv && id != OperationId::all_to_all; }

/// Those that nothing in a table tells from AllToAll or Broadcast, and what no nccl-tests has.
bool recognized_by_name_only(const Operation& operation) {
  return operation.id == OperationId::all_to_all_v || operation.id == OperationId::hypercube ||
         operation.nccl_tests_name.empty();
}

/// Until 2.11 each program had its own heading; alltoall had a redop column with nothing in it.
bool has_old_heading_of(const Operation& operation, const LogTable& table) {
  return table.reduction_column == (prints_reduction(operation) || operation.id == OperationId::all_to_all) &&
         table.root_column == operation.has_root;
}

/// `old_heading`: AllToAll's in-place half was checked as the others' are, though it does not exist.
bool looks_like(const Operation& operation, const LogRow& row, bool old_heading) {
  if (row.reduction.has_value() != prints_reduction(operation)) return false;
  if ((row.root.value_or(-1) >= 0) != operation.has_root) return false;
  if (old_heading && operation.id == OperationId::all_to_all) return true;
  const bool both_checkable = row.in_place && row.out_of_place.checked;
  return !both_checkable || row.in_place->checked == checks_in_place(operation.id);
}

bool looks_like(const Operation& operation, const LogTable& table) {
  const bool old_heading = !table.reduction_column || !table.root_column;
  if (old_heading && !has_old_heading_of(operation, table)) return false;
  return std::ranges::all_of(table.rows,
                             [&](const LogRow& row) { return looks_like(operation, row, old_heading); });
}

/// Where another job's rows begin in a table that fits an operation job by job. Empty where it fits none.
std::vector<int> other_jobs_in(const LogTable& table) {
  for (const Operation& operation : operations()) {
    if (recognized_by_name_only(operation) || !looks_like(operation, table)) continue;
    std::vector<int> lines = lines_of_other_jobs(operation, table.rows);
    if (!lines.empty()) return lines;
  }
  return {};
}

/// Why it cannot be told what a table is of.
Error unknown_operation(const LogTable& table, const std::vector<OperationId>& like, std::string_view file) {
  const std::string where = location(file, table.rows.front().line);
  if (!like.empty()) {
    std::vector<std::string_view> names;
    for (const OperationId id : like) names.push_back(operation(id).name);
    return usage_error(
        where,
        fmt::format("the log does not name the program, and its table fits {}", fmt::join(names, " and ")),
        fmt::format("give --operation {}, or another", operation(like.front()).nccl_tests_name));
  }
  const std::vector<int> lines = other_jobs_in(table);
  if (lines.empty()) {
    return usage_error(where, "the table fits no known operation",
                       "give --operation, such as --operation all_reduce");
  }
  return rows_of_several_jobs(where, lines);
}

}  // namespace

std::vector<OperationId> operations_like(const LogTable& table, std::optional<int> ranks) {
  std::vector<OperationId> found;
  for (const Operation& operation : operations()) {
    if (recognized_by_name_only(operation) || !looks_like(operation, table)) continue;
    const auto range = ranks_by_rates(operation, table.rows);
    if (range && (!ranks || range->contains(*ranks))) found.push_back(operation.id);
  }
  return found;
}

OperationId operation_of(LogTable& table, std::optional<OperationId> given, std::string_view file) {
  if (given) {
    table.facts.operation = {std::string(operation(*given).name), 0};
    return *given;
  }
  if (table.facts.program) {
    const std::string& program = table.facts.program->value;
    const Operation* found = find_operation(program.substr(0, program.rfind("_perf")));
    if (found != nullptr) {
      table.facts.operation = {std::string(found->name), table.facts.program->line};
      return found->id;
    }
  }
  std::optional<int> ranks;
  if (table.facts.ranks) ranks = table.facts.ranks->value;
  const auto like = operations_like(table, ranks);
  if (like.size() != 1) throw unknown_operation(table, like, file);
  table.facts.operation = {std::string(operation(like.front()).name), table.rows.front().line};
  return like.front();
}

}  // namespace collbench::analysis
