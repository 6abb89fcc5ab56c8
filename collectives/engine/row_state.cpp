#include "collectives/engine/row_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "launch/agreement.hpp"

namespace collbench::collectives {
namespace {

RowKey without_size(RowKey key) {
  key.size_bytes = 0;
  key.count = 0;
  return key;
}

FirstVisit known_visit(const RowState& row) {
  return {.size_bytes = row.measurement.key.size_bytes,
          .call_seconds = row.iteration_seconds,
          .check_seconds = row.check_seconds};
}

}  // namespace

std::vector<RowState> planned_rows(launch::Ranks& ranks, const Backend& backend,
                                   const std::vector<RowKey>& keys) {
  std::vector<std::string> unsupported;
  for (const RowKey& key : keys) unsupported.push_back(backend.unsupported_reason(key).value_or(""));
  unsupported = launch::agreed_texts(ranks, unsupported);
  std::vector<RowState> rows(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    RowState& row = rows[i];
    row.measurement.key = keys[i];
    row.measurement.unavailable = unsupported[i];
    row.done = !row.measurement.unavailable.empty();
    if (row.done) continue;
    row.measurement.algorithm_ran = backend.algorithm_ran(keys[i]);
    row.measurement.note = backend.note(keys[i]);
    row.layout = backend.layout(keys[i]);
  }
  return rows;
}

FirstVisit expected_visit(const std::vector<RowState>& rows, const RowState& row) {
  if (row.iteration_seconds > 0) return known_visit(row);
  const RowKey kind = without_size(row.measurement.key);
  const std::uint64_t size_bytes = row.measurement.key.size_bytes;
  std::vector<FirstVisit> smaller;
  for (const RowState& each : rows) {
    const RowKey& key = each.measurement.key;
    const bool is_known = each.iteration_seconds > 0 && each.measurement.unavailable.empty();
    if (is_known && key.size_bytes < size_bytes && without_size(key) == kind)
      smaller.push_back(known_visit(each));
  }
  std::sort(smaller.begin(), smaller.end(),
            [](const FirstVisit& a, const FirstVisit& b) { return a.size_bytes < b.size_bytes; });
  return expected_visit(smaller, size_bytes);
}

std::array<double, 2> largest_buffers(const std::vector<RowState>& rows) {
  std::array<double, 2> most{};
  for (const RowState& row : rows) {
    if (!row.measurement.unavailable.empty()) continue;
    most[0] = std::max(most[0], static_cast<double>(row.layout.bytes.send));
    most[1] = std::max(most[1], static_cast<double>(row.layout.bytes.receive));
  }
  return most;
}

void stop_unfinished(RowState& row, StopReason reason) {
  Measurement& measurement = row.measurement;
  if (measurement.unavailable.empty() && !measurement.stopped) measurement.stopped = Stop{.reason = reason};
}

void leave_out(RowState& row, const VisitOrder& order) {
  row.measurement.unavailable =
      left_out_reason(row.measurement.key.size_bytes, order.needed_seconds, order.left_seconds);
  row.measurement.stopped = Stop{StopReason::out_of_time};
  row.measurement.algorithm_ran.clear();
  row.measurement.note.clear();
  row.done = true;
}

void note_cut_warm_up(RowState& row, std::uint64_t done, std::uint64_t asked) {
  if (done >= asked || row.warm_up_was_cut) return;
  row.warm_up_was_cut = true;
  std::string& note = row.measurement.note;
  note += fmt::format("{}--time ended the warm-up before its {} iterations", note.empty() ? "" : "; ", asked);
}

}  // namespace collbench::collectives
