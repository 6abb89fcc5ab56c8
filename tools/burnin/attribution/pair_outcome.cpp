#include "tools/burnin/attribution/pair_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

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
  PairOutcome outcome{.misplaced = misplacement(run, {a, b})};
  if (outcome.misplaced.empty() && run.ranks.size() != 2)
    outcome.misplaced = fmt::format("{} ranks ran, not 2", run.ranks.size());
  if (!outcome.misplaced.empty()) return outcome;
  const bool in_order = is_same_host(run.ranks[0].host, a);
  if (uses.size() == 2) {
    outcome.a = end_of(uses[in_order ? 0 : 1]);
    outcome.b = end_of(uses[in_order ? 1 : 0]);
  }
  for (const Row& row : run.rows) {
    if (row.measurement.pass_seconds.empty()) continue;
    // A disturbance only adds: the quickest pass is the link's.
    const double quickest = *std::ranges::min_element(row.measurement.pass_seconds);
    const bool is_from_a = (row.measurement.key.root == 0) == in_order;
    (is_from_a ? outcome.from_a : outcome.from_b) = quickest;
  }
  if (outcome.from_a <= 0 || outcome.from_b <= 0) outcome.why = "the launch measured nothing";
  return outcome;
}

}  // namespace

std::string misplacement(const Run& run, const std::vector<std::string>& hosts) {
  std::vector<bool> is_there(hosts.size(), false);
  for (const Identity& rank : run.ranks) {
    const auto found = std::ranges::find_if(
        hosts, [&rank](const std::string& host) { return is_same_host(host, rank.host); });
    if (found == hosts.end()) return fmt::format("a rank ran on {}", rank.host);
    is_there[static_cast<std::size_t>(found - hosts.begin())] = true;
  }
  const auto missing = std::ranges::find(is_there, false);
  if (missing == is_there.end()) return {};
  return fmt::format("no rank ran on {}", hosts[static_cast<std::size_t>(missing - is_there.begin())]);
}

std::string first_words(std::string_view said) {
  for (const std::string_view reason : {"collbench: ", "srun: error: ", "mpirun noticed "}) {
    if (const std::size_t at = said.find(reason); at != std::string_view::npos) {
      said.remove_prefix(at);
      break;
    }
  }
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
