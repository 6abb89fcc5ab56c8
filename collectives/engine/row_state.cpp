#include "collectives/engine/row_state.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "launch/agreement.hpp"

namespace collbench::collectives {

FirstVisit expected_visit(std::span<const FirstVisit> smaller, std::uint64_t size_bytes) {
  FirstVisit expected{.size_bytes = size_bytes};
  if (smaller.empty()) return expected;
  const FirstVisit& last = smaller.back();
  const FirstVisit& before = smaller[smaller.size() - std::min<std::size_t>(2, smaller.size())];
  const auto apart = static_cast<double>(last.size_bytes - before.size_bytes);
  const double further = apart > 0 ? static_cast<double>(size_bytes - last.size_bytes) / apart : 0;
  const auto extended = [further](double from, double to) { return to + further * std::max(0.0, to - from); };
  expected.call_seconds = extended(before.call_seconds, last.call_seconds);
  expected.check_seconds = extended(before.check_seconds, last.check_seconds);
  return expected;
}

bool is_left_out(double needed, double left, double run_seconds) {
  constexpr double kShortShare = 0.05;
  constexpr double kShortSeconds = 1;
  return needed > left && needed > std::max(kShortSeconds, kShortShare * run_seconds);
}

std::string left_out_reason(std::uint64_t size_bytes, double needed, double left) {
  return fmt::format("{} left out: it takes about {}, and {} of the run's time was left",
                     format_bytes(size_bytes), format_seconds(needed),
                     left > 0 ? format_seconds(left) : "nothing");
}

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
  std::ranges::sort(smaller, {}, &FirstVisit::size_bytes);
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

void CheckResult::add(const std::optional<Mismatch>& found) {
  if (!found) return;
  if (wrong_elements_ == 0) {
    first_index_ = found->first_index;
    found->expected.copy(expected_.data(), expected_.size() - 1);
    found->got.copy(got_.data(), got_.size() - 1);
  }
  wrong_elements_ += found->count;
}

MeasuredBlock CheckResult::gathered(launch::Ranks& ranks, const std::vector<std::string>& hosts) const {
  MeasuredBlock block;
  block.wrong_elements = 0;
  std::array<double, 1> any{wrong_elements_ > 0 ? 1.0 : 0.0};
  ranks.reduce(any, launch::RankAggregate::maximum);
  if (any[0] == 0) return block;
  const std::vector<CheckResult> all = launch::all_gather_values(ranks, *this);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].wrong_elements_ == 0) continue;
    block.wrong.push_back({.rank = ranks.number_in_run(static_cast<int>(rank)),
                           .host = hosts[rank],
                           .count = all[rank].wrong_elements_,
                           .first_index = all[rank].first_index_,
                           .expected = all[rank].expected_.data(),
                           .got = all[rank].got_.data()});
    *block.wrong_elements += block.wrong.back().count;
  }
  return block;
}

}  // namespace collbench::collectives
