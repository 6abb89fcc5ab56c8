#include "tools/burnin/attribution/pairs/pair_effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxPasses = 20;
constexpr double kSettled = 1e-7;  // log of time: nothing beside the finest line, 1 %
// How much wider a line is with few free residuals, found with 4 to 8 nodes at 2 and 5 % of noise.
constexpr double kFewFree = 1.5;

/// Which times count: positive ones; those alone only of a pair that was never measured in company.
std::vector<bool> counted_times(const PairTable& table) {
  const auto key = [](const RailTime& time) { return std::tuple(time.from, time.to, time.rail); };
  std::map<std::tuple<int, int, int>, bool> in_company;  // of those measured alone, which are few
  for (const RailTime& time : table.times) {
    if (time.alone) in_company[key(time)] = false;
  }
  for (const RailTime& time : table.times) {
    if (in_company.empty() || time.alone || time.repeat > 0 || !(time.seconds > 0)) continue;
    if (const auto of = in_company.find(key(time)); of != in_company.end()) of->second = true;
  }
  std::vector<bool> counted;
  counted.reserve(table.times.size());
  for (const RailTime& time : table.times)
    counted.push_back(time.seconds > 0 && time.repeat == 0 && (!time.alone || !in_company.at(key(time))));
  return counted;
}

/// The times that count, sorted into groups: those of a class, of a sender or of a receiver, on a rail.
class Grouping {
 public:
  template <typename GroupOf>
  Grouping(const std::vector<bool>& counted, std::size_t groups, const GroupOf& group_of) : ends_(groups, 0) {
    for (std::size_t i = 0; i < counted.size(); ++i)
      if (counted[i]) ++ends_[group_of(i)];
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    members_.resize(ends_.empty() ? 0 : ends_.back());
    std::vector<std::size_t> next(groups, 0);
    for (std::size_t group = 1; group < groups; ++group) next[group] = ends_[group - 1];
    for (std::size_t i = 0; i < counted.size(); ++i)
      if (counted[i]) members_[next[group_of(i)]++] = i;
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  /// Numbers of times, in their order.
  [[nodiscard]] std::span<const std::size_t> members(std::size_t group) const {
    const std::size_t begin = group == 0 ? 0 : ends_[group - 1];
    return std::span(members_).subspan(begin, ends_[group] - begin);
  }

 private:
  std::vector<std::size_t> ends_;
  std::vector<std::size_t> members_;
};

double lower_quartile(std::span<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 4;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Takes the middle of each group out of the residuals and into its effect. What moved most.
template <typename MiddleOf>
double polish(const Grouping& groups, const MiddleOf& middle_of, std::vector<double>& residuals,
              std::vector<double>& effects) {
  std::vector<double> values;
  double moved = 0;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::span<const std::size_t> members = groups.members(group);
    if (members.empty()) continue;
    values.clear();
    for (const std::size_t i : members) values.push_back(residuals[i]);
    const double middle = middle_of(std::span(values));
    effects[group] += middle;
    moved = std::max(moved, std::fabs(middle));
    for (const std::size_t i : members) residuals[i] -= middle;
  }
  return moved;
}

/// Whether a group met kMinPartners others, which `partner_of` names for each of its times.
template <typename PartnerOf>
bool met_enough(std::span<const std::size_t> members, const PartnerOf& partner_of) {
  std::set<int> partners;
  for (const std::size_t i : members) {
    partners.insert(partner_of(i));
    if (std::cmp_greater_equal(partners.size(), kMinPartners)) return true;
  }
  return false;
}

std::vector<std::vector<double>> table_rows(const std::vector<double>& flat, int columns) {
  std::vector<std::vector<double>> rows;
  for (std::size_t start = 0; start < flat.size(); start += slot_of(columns)) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(start);
    rows.emplace_back(begin, begin + columns);
  }
  return rows;
}

/// An effect's zero is the median of its rail's nodes; what all have in common goes to the class.
void center(std::vector<double>& effects, std::vector<double>& common, int rails) {
  for (int rail = 0; rail < rails; ++rail) {
    std::vector<double> of_rail;
    for (std::size_t i = slot_of(rail); i < effects.size(); i += slot_of(rails))
      of_rail.push_back(effects[i]);
    const double middle = median(of_rail);
    for (std::size_t i = slot_of(rail); i < effects.size(); i += slot_of(rails)) effects[i] -= middle;
    for (std::size_t i = slot_of(rail); i < common.size(); i += slot_of(rails)) common[i] += middle;
  }
}

}  // namespace

std::string percent_slower(double log_time) {
  if (std::isnan(log_time)) return "not known";
  return log_time > kTooWide ? "too wide" : fmt::format("{:+.1f} %", 100 * std::expm1(log_time));
}

std::string time_words(double log_time, std::string_view than) {
  if (std::isnan(log_time)) return "an unknown time";
  const bool is_too_wide = log_time > kTooWide;
  const std::string more = is_too_wide ? "more than 1,000 times as long"
                                       : fmt::format("{:.1f} % {}", 100 * std::fabs(std::expm1(log_time)),
                                                     log_time < 0 ? "less time" : "longer");
  return than.empty() ? more : fmt::format("{} {} {}", more, is_too_wide ? "as" : "than", than);
}

int path_class(const PairTable& table, int from, int to) {
  if (table.leaf_of_node.empty()) return 0;
  return table.leaf_of_node[slot_of(from)] == table.leaf_of_node[slot_of(to)] ? 0 : 1;
}

PairEffects pair_effects(const PairTable& table) {
  const std::vector<bool> counted = counted_times(table);
  const int nodes = static_cast<int>(table.nodes.size());
  PairEffects found;
  found.residuals.assign(table.times.size(), 0);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    found.classes.push_back(path_class(table, table.times[i].from, table.times[i].to));
    if (counted[i]) found.residuals[i] = std::log(table.times[i].seconds);
  }
  if (nodes == 0 || table.rails < 1) return found;
  const auto cell = [&](int row, std::size_t i) { return slot_of(row * table.rails + table.times[i].rail); };
  const auto by_class = [&](std::size_t i) { return cell(found.classes[i], i); };
  const auto by_sender = [&](std::size_t i) { return cell(table.times[i].from, i); };
  const auto by_receiver = [&](std::size_t i) { return cell(table.times[i].to, i); };
  std::vector<double> common(slot_of(2 * table.rails), 0);
  std::vector<double> send(slot_of(nodes * table.rails), 0);
  std::vector<double> receive = send;
  const Grouping classes(counted, common.size(), by_class);
  const Grouping senders(counted, send.size(), by_sender);
  const Grouping receivers(counted, receive.size(), by_receiver);
  polish(classes, lower_quartile, found.residuals, common);
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    double moved = polish(senders, reordering_median, found.residuals, send);
    moved = std::max(moved, polish(receivers, reordering_median, found.residuals, receive));
    moved = std::max(moved, polish(classes, reordering_median, found.residuals, common));
    if (moved < kSettled) break;
  }
  center(send, common, table.rails);
  center(receive, common, table.rails);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    if (!counted[i]) found.residuals[i] = kUnmeasured;
  }
  for (std::size_t i = 0; i < send.size(); ++i) {
    if (!met_enough(senders.members(i), [&](std::size_t at) { return table.times[at].to; }))
      send[i] = kUnmeasured;
    if (!met_enough(receivers.members(i), [&](std::size_t at) { return table.times[at].from; }))
      receive[i] = kUnmeasured;
  }
  for (std::size_t i = 0; i < common.size(); ++i) {
    if (classes.members(i).empty()) common[i] = kUnmeasured;
  }
  found.common = table_rows(common, table.rails);
  found.send = table_rows(send, table.rails);
  found.receive = table_rows(receive, table.rails);
  return found;
}

namespace {

/// Six standard deviations of the residuals of `rail` (or of all), and more where few are free: of the cells
/// of an additive table as many as it has effects are fitted exactly, so the median is of the others.
/// Infinite where none is free: then nothing is known of the scatter.
double line_of_residuals(const PairTable& table, const PairEffects& effects, std::optional<int> rail) {
  constexpr double kSigmas = 6;
  constexpr double kMinLine = 0.01;
  std::vector<double> scatter;
  std::vector<bool> is_fitted(2 * table.nodes.size() * slot_of(table.rails), false);
  std::ptrdiff_t fitted = 0;
  const auto fit = [&](int node, int on, bool sends) {
    const std::size_t effect = 2 * slot_of(node * table.rails + on) + (sends ? 1 : 0);
    fitted += is_fitted[effect] ? 0 : 1;
    is_fitted[effect] = true;
  };
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (std::isnan(effects.residuals[i]) || (rail && time.rail != *rail)) continue;
    scatter.push_back(std::fabs(effects.residuals[i]));
    fit(time.from, time.rail, true);
    fit(time.to, time.rail, false);
  }
  if (std::ssize(scatter) <= fitted) return std::numeric_limits<double>::infinity();
  std::nth_element(scatter.begin(), scatter.begin() + (fitted - 1), scatter.end());
  scatter.erase(scatter.begin(), scatter.begin() + (fitted - 1));
  const auto free = static_cast<double>(scatter.size());
  return std::max(kMinLine, kSigmas * kToSigma * reordering_median(scatter) * (1 + kFewFree / free));
}

}  // namespace

std::map<std::optional<int>, double> parts_by_group(const PairTable& table, const PairEffects& effects,
                                                    int node, int rail, bool sends) {
  std::map<std::optional<int>, std::vector<double>> of_group;
  const double part = (sends ? effects.send : effects.receive)[slot_of(node)][slot_of(rail)];
  for (std::size_t i = 0; i < table.times.size() && !table.leaf_of_node.empty(); ++i) {
    const RailTime& time = table.times[i];
    const bool is_mine = time.rail == rail && (sends ? time.from : time.to) == node;
    if (!is_mine || std::isnan(effects.residuals[i])) continue;
    const bool is_inside = effects.classes[i] == 0;
    const int group = table.leaf_of_node[slot_of(sends ? time.to : time.from)];
    of_group[is_inside ? std::nullopt : std::optional(group)].push_back(effects.residuals[i] + part);
  }
  std::map<std::optional<int>, double> parts;
  for (const auto& [group, values] : of_group)
    if (values.size() >= slot_of(kMinPartners)) parts[group] = median(values);
  return parts;
}

double line_of_pairs(const PairTable& table, const PairEffects& effects) {
  return line_of_residuals(table, effects, std::nullopt);
}

double line_of_rail(const PairTable& table, const PairEffects& effects, int rail) {
  std::vector<double> parts;
  for (const auto* direction : {&effects.send, &effects.receive}) {
    for (const std::vector<double>& node : *direction) parts.push_back(node[slot_of(rail)]);
  }
  constexpr double kSigmas = 6;  // of population_line, and what few nodes know badly
  const double widening = std::min(1.0, healthy_deviations(effects.send.size()) / kSigmas);
  return std::max(population_line(parts, widening), widening * line_of_residuals(table, effects, rail) / 2);
}

MedianDoubt median_doubt(const PairTable& table, const PairEffects& effects,
                         const std::function<bool(int node, int rail)>& explains) {
  constexpr double kBadNodeTimes = 1 / 0.95;  // as of a bad node (blame.cpp)
  std::set<int> fast;
  double least = 0;
  const double line = std::max(line_of_pairs(table, effects), std::log(kBadNodeTimes));
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (effects.residuals[i] >= -line || std::isnan(effects.residuals[i])) continue;
    if (explains(time.from, time.rail) || explains(time.to, time.rail)) continue;
    fast.insert({time.from, time.to});
    least = std::min(least, effects.residuals[i]);
  }
  // Fast pairs here and there are ways that are shorter; a faster half is fast among itself.
  std::size_t among = 0;
  std::size_t fast_among = 0;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (std::isnan(effects.residuals[i]) || !fast.contains(time.from) || !fast.contains(time.to)) continue;
    ++among;
    fast_among += effects.residuals[i] < -line ? 1 : 0;
  }
  if (2 * fast_among <= among) return {};
  if (3 * fast.size() < table.nodes.size() || fast.size() == table.nodes.size()) return {};
  MedianDoubt doubt;
  for (int node = 0; node < static_cast<int>(table.nodes.size()); ++node) {
    if (!fast.contains(node)) doubt.slower_half.insert(node);
  }
  doubt.why = fmt::format(
      "pairs between {} of the {} nodes take up to {:.0f} % less time than the median, which is the "
      "reference here: the other {} may be slow, or these have shorter ways",
      fast.size(), table.nodes.size(), -100 * std::expm1(least), doubt.slower_half.size());
  return doubt;
}

}  // namespace collbench::analysis
