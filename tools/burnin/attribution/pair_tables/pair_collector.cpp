#include "tools/burnin/attribution/pair_tables/pair_collector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

enum class Measured { rate, nothing, failure };

/// What a cell says; `rate` is set where it is one. None where it is neither a plain number nor a word of
/// these.
std::optional<Measured> read_cell(std::string_view cell, double& rate) {
  const std::string word = lower(trim(cell));
  for (const std::string_view nothing : {"", "-", "–", "n/a", "na", "nan", "-nan"})
    if (word == nothing) return Measured::nothing;
  if (says_failure(cell)) return Measured::failure;
  const char* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, rate);
  constexpr double kMinRate = 1e-9;  // no link is outside, in any unit
  constexpr double kMaxRate = 1e9;
  const bool is_rate =
      problem == std::errc() && stop == end && (rate == 0 || (rate > kMinRate && rate < kMaxRate));
  if (!is_rate) return std::nullopt;
  return rate > 0 ? Measured::rate : Measured::failure;
}

/// The same. Throws Error (usage) for neither.
Measured require_cell(std::string_view cell, double& rate, const std::string& file, int line) {
  if (const auto measured = read_cell(cell, rate)) return *measured;
  throw usage_error(
      location(file, line),
      fmt::format(
          "'{}' is no rate{}", excerpt(cell),
          cell.find(',') == std::string_view::npos ? "" : ": it has a comma, decimal or of thousands"),
      "a cell is a plain number with a decimal point, - where nothing was measured, or x where it failed");
}

}  // namespace

bool says_failure(std::string_view cell) {
  constexpr std::array<std::string_view, 15> kWords{"x",     "fail",    "failed", "failure", "error",
                                                    "err",   "timeout", "timed",  "hang",    "hung",
                                                    "crash", "crashed", "killed", "aborted", "inf"};
  const std::string word = lower(trim(cell));
  return std::ranges::find(kWords, word.substr(0, word.find_first_of(" :,;(!"))) != kWords.end();
}

std::optional<double> PairCollector::rate(std::string_view cell, double unit, int line) const {
  double found = 0;
  const Measured measured = require_cell(cell, found, file_, line);
  if (measured == Measured::nothing) return std::nullopt;
  return measured == Measured::rate ? found * unit : 0;
}

BurninRecord PairCollector::record_of_groups(const std::string& source) {
  record_.source = source;
  record_.phases_left_out = {left_out(BurninPhase::pairs, "measured by others")};
  return record_;
}

void PairCollector::know(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string key = lower(name);
    if (const std::size_t dot = key.find('.'); dot != std::string::npos)
      full_[key.substr(0, dot)].insert(key);
  }
}

std::string PairCollector::other_names() const {
  std::vector<std::string> words;
  for (const auto& [node, names] : other_names_)
    words.push_back(fmt::format("{} is also {}", record_.table.nodes[slot_of(node)], fmt::join(names, ", ")));
  return words.empty() ? "" : "; " + join_first(words, 4, "; ");
}

int PairCollector::node(const std::string& name, int line) {
  if (!is_host_name(name))
    throw usage_error(
        location(file_, line), fmt::format("'{}' is not the name of a host", excerpt(name)),
        "lists for launchers are made of these names: letters, digits, '-', '.' and '_' (n1-0, not n1:0)");
  std::string key = lower(name);
  if (const auto full = full_.find(key); full != full_.end() && full->second.size() == 1)
    key = *full->second.begin();
  const auto [at, added] = numbers_.try_emplace(key, static_cast<int>(numbers_.size()));
  if (added) {
    record_.table.nodes.push_back(name);
  } else if (name != record_.table.nodes[slot_of(at->second)]) {
    std::vector<std::string>& others = other_names_[at->second];
    if (std::ranges::find(others, name) == others.end()) others.push_back(name);
  }
  return at->second;
}

void PairCollector::add_own(RailTime time, std::string_view cell, double unit, int line) {
  if (time.from == time.to) return;
  const std::optional<double> bytes_per_second = rate(cell, unit, line);
  if (!bytes_per_second) return;
  record_.table.rails = std::max(record_.table.rails, time.rail + 1);
  if (*bytes_per_second == 0) {
    const auto [a, b] = std::minmax(time.from, time.to);
    if (failed_.insert({a, b, time.rail}).second) {  // one failure of a pair, whichever direction names it
      record_.failures.push_back({a, b, time.rail,
                                  fmt::format("{} with {}: no rate in {}", record_.table.nodes[slot_of(a)],
                                              record_.table.nodes[slot_of(b)], location(file_, line)),
                                  time.alone});
    }
    return;
  }
  time.seconds = kNominalBytes / *bytes_per_second;
  record_.table.times.push_back(time);
}

void PairCollector::add(int from, int to, int rail, std::string_view cell, double unit, int line) {
  const std::size_t before = record_.table.times.size();
  add_own({from, to, rail}, cell, unit, line);
  if (record_.table.times.size() == before) return;
  double& quickest = rates_[{from, to, rail}];
  quickest = std::max(quickest, kNominalBytes / record_.table.times.back().seconds);
  record_.table.times.pop_back();
}

PairCollector::Directions PairCollector::directions() const {
  std::size_t with_reverse = 0;
  for (const auto& [direction, rate] : rates_) {
    const auto& [from, to, rail] = direction;
    with_reverse += rates_.contains({to, from, rail}) ? 1 : 0;
  }
  return with_reverse == 0               ? Directions::one_each
         : with_reverse == rates_.size() ? Directions::both
                                         : Directions::mixed;
}

std::vector<RailTime> PairCollector::times(bool mirrored) const {
  std::vector<RailTime> all;
  for (const auto& [direction, rate] : rates_) {
    const auto& [from, to, rail] = direction;
    all.push_back({from, to, rail, kNominalBytes / rate});
    if (mirrored && !rates_.contains({to, from, rail})) all.push_back({to, from, rail, kNominalBytes / rate});
  }
  return all;
}

BurninRecord PairCollector::record(bool mirrored, const std::string& source) {
  const std::vector<RailTime> collected = times(mirrored);
  record_.table.times.insert(record_.table.times.end(), collected.begin(), collected.end());
  record_.bytes = kNominalBytes;
  record_.planned = static_cast<int>(record_.table.times.size() + record_.failures.size());
  record_.source = source;
  require_comparable();
  return record_;
}

void PairCollector::require_comparable() const {
  const std::size_t nodes = record_.table.nodes.size();
  if (nodes <= slot_of(kMinPartners)) {
    throw usage_error(
        file_,
        fmt::format("{} nodes cannot be told apart: each needs {} others to be judged", nodes, kMinPartners),
        fmt::format("give the pairs of at least {}", kMinPartners + 1));
  }
  std::vector<int> group(nodes);
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&group](int node) {
    while (group[slot_of(node)] != node) {
      group[slot_of(node)] = group[slot_of(group[slot_of(node)])];
      node = group[slot_of(node)];
    }
    return node;
  };
  const auto join = [&](int a, int b) { group[slot_of(root(a))] = root(b); };
  std::set<int> measured;  // of whom the file has no rate at all is not tested
  const auto meet = [&](int a, int b) {
    join(a, b);
    measured.insert({a, b});
  };
  for (const RailTime& time : record_.table.times) meet(time.from, time.to);
  for (const PairFailure& failure : record_.failures) meet(failure.a, failure.b);
  if (measured.empty()) throw usage_error(file_, "no cell has a rate", "check the column of rates");
  const int first = *measured.begin();
  for (const int node : measured) {
    if (root(node) == root(first)) continue;
    throw usage_error(file_,
                      fmt::format("no chain of pairs joins {} and {}: they cannot be compared",
                                  record_.table.nodes[slot_of(first)], record_.table.nodes[slot_of(node)]),
                      "give the pairs of one cluster, or choose its rows with --where COLUMN=CELL");
  }
}

}  // namespace collbench::analysis
