#include "tools/burnin/attribution/pair_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {
namespace {

// With less nobody knows a share of a tenth of a percent.
constexpr std::uint64_t kBytesForShare = 1'000'000;

/// What the rank with these numbers says of its host; nothing where they are of too little.
PairEnd end_of(const RankUse& use) {
  PairEnd end;
  if (use.tcp_sent_bytes >= kBytesForShare)
    end.resent = static_cast<double>(use.tcp_resent_bytes) / static_cast<double>(use.tcp_sent_bytes);
  const double could_run = use.ran_seconds + use.waited_seconds;
  if (could_run > 0) end.waited = use.waited_seconds / could_run;
  return end;
}

PairOutcome times_between(const Run& run, const std::string& a, const std::string& b,
                          const std::vector<RankUse>& uses) {
  PairOutcome outcome;
  if (run.ranks.size() != 2) {
    outcome.why = fmt::format("the launch had {} ranks, not 2", run.ranks.size());
    return outcome;
  }
  const bool in_order = is_same_host(run.ranks[0].host, a) && is_same_host(run.ranks[1].host, b);
  const bool turned = is_same_host(run.ranks[0].host, b) && is_same_host(run.ranks[1].host, a);
  if (in_order == turned) {  // neither, or one host by two names
    outcome.why = fmt::format("its ranks ran on {} and {}", run.ranks[0].host, run.ranks[1].host);
    return outcome;
  }
  if (uses.size() == 2) {
    outcome.a = end_of(uses[in_order ? 0 : 1]);
    outcome.b = end_of(uses[in_order ? 1 : 0]);
  }
  for (const Row& row : run.rows) {
    if (row.measurement.pass_seconds.empty()) continue;
    // A disturbance only adds: the quickest pass is the link's.
    const double quickest =
        *std::min_element(row.measurement.pass_seconds.begin(), row.measurement.pass_seconds.end());
    const bool is_from_a = (row.measurement.key.root == 0) == in_order;
    (is_from_a ? outcome.from_a : outcome.from_b) = quickest;
  }
  if (outcome.from_a <= 0 || outcome.from_b <= 0) outcome.why = "the launch measured nothing";
  return outcome;
}

}  // namespace

std::string first_words(std::string_view said) {
  const std::size_t own = said.find("collbench: ");
  if (own != std::string_view::npos) said.remove_prefix(own);
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    if (line.find_first_not_of("-=* \t\r") != std::string_view::npos) return std::string(line);
    said.remove_prefix(std::min(said.size(), line.size() + 1));
  }
  return {};
}

PairOutcome pair_outcome(std::string_view record, const std::string& a, const std::string& b,
                         const std::vector<RankUse>& uses) {
  try {
    return times_between(run_from_json_text(record, "the record of a pair"), a, b, uses);
  } catch (const Error& error) {
    return {.why = fmt::format("what it printed is no record: {}", error.what())};
  }
}

}  // namespace collbench::analysis
