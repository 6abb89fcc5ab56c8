#include "tools/burnin/attribution/failure_verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace collbench::analysis {
namespace {

/// Whom a node met, by node and rail.
using PartnersByRail = std::map<std::pair<int, int>, std::set<int>>;

PartnersByRail partners_met(const BurninRecord& record) {
  PartnersByRail met;
  for (const RailTime& time : record.table.times) {
    if (time.seconds <= 0) continue;
    met[{time.from, time.rail}].insert(time.to);
    met[{time.to, time.rail}].insert(time.from);
  }
  return met;
}

PartnersByRail partners_failed(const BurninRecord& record) {
  PartnersByRail failed;
  for (const PairFailure& failure : record.failures) {
    failed[{failure.a, failure.rail}].insert(failure.b);
    failed[{failure.b, failure.rail}].insert(failure.a);
  }
  return failed;
}

/// Who gave times, and at the end of this run, alone, none with two others or more.
std::set<int> silent_nodes(const BurninRecord& record) {
  std::map<int, std::set<int>> silent_with;
  for (const PairFailure& failure : record.failures) {
    if (!failure.alone) continue;
    silent_with[failure.a].insert(failure.b);
    silent_with[failure.b].insert(failure.a);
  }
  std::erase_if(silent_with, [](const auto& of) { return of.second.size() < 2; });
  std::set<int> gave_times;
  for (std::size_t i = 0; i < record.table.times.size() && !silent_with.empty(); ++i) {
    const RailTime& time = record.table.times[i];
    if (time.seconds <= 0) continue;
    for (const int node : {time.from, time.to}) {
      if (!silent_with.contains(node)) continue;
      gave_times.insert(node);
      if (time.alone && i >= record.earlier_times) silent_with.erase(node);
    }
  }
  std::set<int> silent;
  for (const auto& [node, others] : silent_with)
    if (gave_times.contains(node)) silent.insert(node);
  return silent;
}

/// By rail the share of pairs that fail whoever their ends are, where failures follow no node: three pairs
/// without a node in common fail (two beside nodes that fail with most) among those who meet most of their
/// partners, or most nodes fail with most. A launcher fails so, and a fabric.
std::map<int, double> shares_of_scattered_failures(const BurninRecord& record, const PartnersByRail& met,
                                                   const PartnersByRail& failed,
                                                   const std::set<int>& silent) {
  std::map<int, std::set<int>> in_question;  // by rail: who fails with more than it meets
  std::map<int, std::set<int>> others;
  std::map<int, std::size_t> others_met;  // each pair of them twice
  for (const auto& [key, partners] : failed) {
    const auto times = met.find(key);
    if (times != met.end() && partners.size() > times->second.size())
      in_question[key.second].insert(key.first);
  }
  for (const auto& [key, partners] : met)
    if (!silent.contains(key.first) && !in_question[key.second].contains(key.first))
      others[key.second].insert(key.first);
  for (const auto& [key, partners] : met)
    if (const std::set<int>& of_rail = others[key.second]; of_rail.contains(key.first))
      others_met[key.second] += static_cast<std::size_t>(
          std::ranges::count_if(partners, [&](int partner) { return of_rail.contains(partner); }));
  std::map<int, std::set<std::pair<int, int>>> failed_pairs;
  std::map<int, std::set<int>> apart_ends;
  std::map<int, std::size_t> apart;  // of these so many have no node in common
  for (const PairFailure& failure : record.failures) {
    const std::set<int>& of_rail = others[failure.rail];
    if (!of_rail.contains(failure.a) || !of_rail.contains(failure.b)) continue;
    failed_pairs[failure.rail].insert(std::minmax(failure.a, failure.b));
    std::set<int>& ends = apart_ends[failure.rail];
    if (!ends.contains(failure.a) && !ends.contains(failure.b)) {
      ends.insert({failure.a, failure.b});
      ++apart[failure.rail];
    }
  }
  std::map<int, double> shares;
  for (const auto& [rail, nodes] : in_question) {
    const bool most_fail = nodes.size() > others[rail].size();
    if (apart[rail] < (nodes.empty() ? 3U : 2U) && !most_fail) continue;
    const auto gone = static_cast<double>(failed_pairs[rail].size());
    shares[rail] = most_fail ? 1 : (gone + 1) / (gone + static_cast<double>(others_met[rail]) / 2 + 1);
  }
  return shares;
}

/// What the failures of a burn-in say of its nodes.
class FailureJudge {
 public:
  explicit FailureJudge(const BurninRecord& record)
      : table_(record.table),
        met_(partners_met(record)),
        failed_(partners_failed(record)),
        silent_(silent_nodes(record)),
        scattered_(shares_of_scattered_failures(record, met_, failed_, silent_)) {
    for (const auto& [key, partners] : met_) {
      answers_.insert(key.first);
      rails_.insert(key.second);
    }
  }

  /// The verdict on a node of a pair that failed, `known` being what is known of it so far.
  [[nodiscard]] NodeVerdict after(const PairFailure& failure, const NodeVerdict& known) const {
    const int node = known.node;
    const std::size_t gone = failed_.at({node, failure.rail}).size();
    const std::string why =
        fmt::format("{} of {} pairs{} gave no time: {}", gone, gone + times(node, failure.rail),
                    table_.of_rail(failure.rail, " on"), failure.why);
    if (!answers_.contains(node)) return {node, Bucket::not_tested, failure.why};
    if (silent_.contains(node))
      return {node, Bucket::not_tested, "it answered at first, and at the end nobody: " + failure.why};
    if (known.bucket == Bucket::bad) return known;
    if (!rails_.contains(failure.rail)) return {node, Bucket::not_tested, why};
    if (is_scattered(node, failure.rail)) {
      if (known.bucket != Bucket::good) return known;
      return {node, Bucket::not_tested,
              "failures follow no host; the launcher or the fabric is likelier: " + why, true};
    }
    if (explains(node, failure.rail)) return {node, Bucket::bad, why};
    const int other = node == failure.a ? failure.b : failure.a;
    const bool is_other = explains(other, failure.rail);
    return known.bucket == Bucket::good && !is_other ? NodeVerdict{node, Bucket::suspect, why} : known;
  }

 private:
  [[nodiscard]] std::size_t times(int node, int rail) const {
    const auto at = met_.find({node, rail});
    return at == met_.end() ? 0 : at->second.size();
  }
  /// It fails no more than its rail's pairs do, but for what happens to one of a thousand.
  [[nodiscard]] bool is_scattered(int node, int rail) const {
    const auto share = scattered_.find(rail);
    if (share == scattered_.end()) return false;
    const auto gone = static_cast<double>(failed_.at({node, rail}).size());
    const boost::math::binomial_distribution<> of_partners(gone + static_cast<double>(times(node, rail)),
                                                           share->second);
    return boost::math::cdf(boost::math::complement(of_partners, gone - 1)) > 1e-3;
  }
  /// It failed with more than it met.
  [[nodiscard]] bool explains(int node, int rail) const {
    return silent_.contains(node) || failed_.at({node, rail}).size() > times(node, rail);
  }

  const PairTable& table_;
  PartnersByRail met_;
  PartnersByRail failed_;
  std::set<int> silent_;
  std::map<int, double> scattered_;  ///< by rail
  std::set<int> answers_{};
  std::set<int> rails_{};
};

/// Of those that a node met on the failure's rail, who fails with fewer than it does.
std::vector<int> better_partners(const PairFailure& failure, int node, const PartnersByRail& met,
                                 const PartnersByRail& failed) {
  const auto failures_of = [&](int each) {
    const auto at = failed.find({each, failure.rail});
    return at == failed.end() ? 0 : at->second.size();
  };
  const auto partners = met.find({node, failure.rail});
  std::vector<int> better;
  if (partners == met.end()) return better;
  std::ranges::copy_if(partners->second, std::back_inserter(better),
                       [&](int partner) { return failures_of(partner) < failures_of(node); });
  return better;
}

}  // namespace

void judge_failures(const BurninRecord& record, Attribution& found) {
  if (record.failures.empty()) return;
  const FailureJudge judge(record);
  for (const PairFailure& failure : record.failures) {
    for (const int node : {failure.a, failure.b})
      found.nodes[slot_of(node)] = judge.after(failure, found.nodes[slot_of(node)]);
  }
}

bool lost_a_host(const BurninRecord& record) {
  std::set<int> answers;
  for (const auto& [key, partners] : partners_met(record)) answers.insert(key.first);
  if (answers.empty()) return false;
  return !silent_nodes(record).empty() ||
         std::ranges::any_of(record.failures, [&answers](const PairFailure& failure) {
           return !answers.contains(failure.a) || !answers.contains(failure.b);
         });
}

std::vector<PairFailure> failures_to_retry(const BurninRecord& record) {
  const PartnersByRail met = partners_met(record);
  std::vector<PairFailure> again;
  for (const PairFailure& failure : record.failures) {
    const bool both_answer =
        met.contains({failure.a, failure.rail}) && met.contains({failure.b, failure.rail});
    if (both_answer && again.size() < record.table.nodes.size()) again.push_back(failure);
  }
  return again;
}

std::vector<PairOnRail> last_contacts(const BurninRecord& record) {
  const PartnersByRail met = partners_met(record);
  const PartnersByRail failed = partners_failed(record);
  std::set<int> asked;
  std::vector<PairOnRail> contacts;
  const auto add = [&](int a, int b, int rail) {
    const PairOnRail contact{std::minmax(a, b), rail};
    if (std::ranges::find(contacts, contact) == contacts.end()) contacts.push_back(contact);
  };
  for (const PairFailure& failure : record.failures) {
    if (!failure.alone) continue;
    const auto of = [&](int node) { return failed.at({node, failure.rail}).size(); };
    for (const int node : {failure.a, failure.b}) {
      // The end that fails with more others is the one in question.
      if (of(node) < std::max(of(failure.a), of(failure.b)) || asked.size() >= kMaxSilent) continue;
      const std::vector<int> good = better_partners(failure, node, met, failed);
      if (good.empty() || !asked.insert(node).second) continue;
      for (int rail = 0; rail < record.table.rails; ++rail) add(node, good.front(), rail);
      if (good.size() < 2) continue;
      add(node, good[1], failure.rail);
      add(good[0], good[1], failure.rail);
    }
  }
  return contacts;
}

}  // namespace collbench::analysis
