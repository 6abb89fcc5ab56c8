#include "analysis/poor_choice_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/row_words.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

/// The model is a quarter off where it is good (docs/benchmarks.md).
constexpr double kMuchLess = 0.75;

bool has_ring(OperationId operation) {
  using enum OperationId;
  return operation == all_reduce || operation == all_gather || operation == reduce_scatter;
}

bool ring_should_take_much_less(const Row& row) {
  const Measurement& measured = row.measurement;
  const Expectation& expected = row.expectation;
  return measured.unavailable.empty() && measured.key.algorithm == kLibraryChoice &&
         has_ring(measured.key.operation) && measured.algorithm_ran == expected.expected_by &&
         expected.ring_seconds && expected.expected_seconds &&
         *expected.ring_seconds <= kMuchLess * *expected.expected_seconds &&
         *expected.ring_seconds < measured.seconds;
}

/// The rows of one operation and algorithm.
struct PoorChoice {
  std::set<std::uint64_t> sizes_bytes;
  double least_share = 1;  ///< of the time, that a ring would take
  double most_share = 0;
};

void add(PoorChoice& choice, const Row& row) {
  const double share = *row.expectation.ring_seconds / *row.expectation.expected_seconds;
  choice.sizes_bytes.insert(row.measurement.key.size_bytes);
  choice.least_share = std::min(choice.least_share, share);
  choice.most_share = std::max(choice.most_share, share);
}

}  // namespace

ReportFacts poor_choice_facts(const Run& run) {
  ReportFacts facts;
  const bool measured_beside_it = std::any_of(run.rows.begin(), run.rows.end(), [](const Row& row) {
    return row.measurement.key.algorithm != kLibraryChoice;
  });
  if (run.backend != "mpi" || run.simulated || measured_beside_it) return facts;
  std::map<std::pair<OperationId, std::string>, PoorChoice> choices;
  for (const Row& row : run.rows) {
    if (!ring_should_take_much_less(row)) continue;
    add(choices[{row.measurement.key.operation, row.measurement.algorithm_ran}], row);
  }
  for (const auto& [what, choice] : choices) {
    facts.push_back({fmt::format(
        "{}, {}: auto runs {}; by the model a ring takes {} of its time: --algo auto,ring compares",
        operation(what.first).name, sizes_in_words(choice.sizes_bytes), what.second,
        span_in_words(fmt::format("{:.2f}", choice.least_share), fmt::format("{:.2f}", choice.most_share)))});
  }
  return facts;
}

}  // namespace collbench
