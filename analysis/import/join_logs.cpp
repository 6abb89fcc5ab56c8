#include "analysis/import/join_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

Error not_one_run(const Run& other, const std::string& what) {
  return usage_error(other.log->file, what,
                     "give logs of the same job, or import each into a record of its own");
}

void require_joinable(const Run& first, const Run& other) {
  if (first.ranks.size() != other.ranks.size()) {
    throw not_one_run(other, fmt::format("it is of {}, and {} of {}", counted(other.ranks.size(), "rank"),
                                         first.log->file, counted(first.ranks.size(), "rank")));
  }
  if (first.backend != other.backend) {
    throw not_one_run(other, fmt::format("it measures {}, and {} {}", name(other.backend), first.log->file,
                                         name(first.backend)));
  }
  if (first.time_reduction != other.time_reduction) {
    throw not_one_run(other,
                      fmt::format("its ranks' times became one by {}, and those of {} by {}",
                                  name(other.time_reduction), first.log->file, name(first.time_reduction)));
  }
}

/// The row once more: another launch of it.
void add_launch(Row& row, const Row& again) {
  Measurement& measured = row.measurement;
  if (measured.launch_passes.empty())
    measured.launch_passes.push_back(static_cast<int>(measured.pass_seconds.size()));
  measured.pass_seconds.push_back(again.measurement.seconds);
  measured.launch_passes.push_back(1);
  measured.seconds = median(measured.pass_seconds);
  measured.iterations += again.measurement.iterations;
  if (again.measurement.wrong_elements)
    measured.wrong_elements = measured.wrong_elements.value_or(0) + *again.measurement.wrong_elements;
  if (const auto interval = median_interval(measured.pass_seconds))
    measured.interval = TimeInterval{interval->low, interval->high, interval->confidence, true};
}

/// What the logs say of one thing, where it is not the same.
template <class Value>
void note_difference(Run& joined, const Run& other, const char* what, const MaybeLogFact<Value>& a,
                     const MaybeLogFact<Value>& b) {
  if (a && b && a->value != b->value)
    joined.log->notes.push_back(fmt::format("{} says another {} than the first log", other.log->file, what));
}

void join(Run& joined, Run& other, std::map<RowKey, std::size_t>& rows) {
  require_joinable(joined, other);
  LogFacts& facts = *joined.log;
  note_difference(joined, other, "version of NCCL", facts.nccl, other.log->nccl);
  note_difference(joined, other, "GPU", facts.gpu, other.log->gpu);
  note_difference(joined, other, "network", facts.network, other.log->network);
  note_difference(joined, other, "list of hosts", facts.hosts, other.log->hosts);
  for (Row& row : other.rows) {
    const auto [known, is_new] = rows.try_emplace(row.measurement.key, joined.rows.size());
    if (is_new) {
      joined.rows.push_back(std::move(row));
    } else {
      add_launch(joined.rows[known->second], row);
      const auto launches = joined.rows[known->second].measurement.launch_passes.size();
      joined.launches = std::max(joined.launches, static_cast<int>(launches));
    }
  }
  facts.left_out.insert(facts.left_out.end(), other.log->left_out.begin(), other.log->left_out.end());
  facts.notes.insert(facts.notes.end(), other.log->notes.begin(), other.log->notes.end());
  facts.file += ", " + other.log->file;
  joined.complete = joined.complete && other.complete;
}

}  // namespace

Run join_logs(std::vector<Run> logs) {
  Run joined = std::move(logs.front());
  std::map<RowKey, std::size_t> rows;
  for (std::size_t i = 0; i < joined.rows.size(); ++i) rows.try_emplace(joined.rows[i].measurement.key, i);
  for (std::size_t i = 1; i < logs.size(); ++i) join(joined, logs[i], rows);
  joined.repeated = joined.launches > 1;
  return joined;
}

}  // namespace collbench::analysis
