#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/deterministic_random.hpp"
#include "tests/sanitizers.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

// Whom every design of a screening names, over fleets that are drawn: one rate of each pair, group or host,
// as others' tables have it and `--from` reads it: the lowest of its hosts', less what leaves cost, with
// normal noise.

namespace collbench::analysis {
namespace {

struct Fleet {
  int hosts = 63;
  int bad = 0;
  double lost = 0;  ///< of a bad host's rate
  double leaf_effect = 0;
  double noise = 0.01;
  int leaf_nodes = 16;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : counter_(scrambled(seed)) {}
  std::uint64_t below(std::uint64_t bound) { return scrambled(counter_++) % bound; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  double uniform() { return (static_cast<double>(below(1'000'000)) + 0.5) / 1e6; }
  std::uint64_t counter_;
};

/// The hosts of each launch, ascending: two of a pair, more of a group, or one.
using Launches = std::set<std::vector<int>>;

struct Design {
  std::string name;
  std::function<Launches(const Fleet&, Draw&)> launches;
  bool is_dense = false;      ///< at least three pairs a host inside its group
  bool is_quadratic = false;  ///< so many pairs that fewer fleets are drawn
};

void add_pair(Launches& launches, int a, int b) {
  if (a != b) launches.insert({std::min(a, b), std::max(a, b)});
}

const std::vector<Design>& designs() {
  const auto with_next = [](bool closed) {
    return [closed](const Fleet& fleet, Draw& /*draw*/) {
      Launches pairs;
      for (int host = 0; host + (closed ? 0 : 1) < fleet.hosts; ++host)
        add_pair(pairs, host, (host + 1) % fleet.hosts);
      return pairs;
    };
  };
  const auto with_first = [](int references) {
    return [references](const Fleet& fleet, Draw& /*draw*/) {
      Launches pairs;
      for (int reference = 0; reference < references; ++reference)
        for (int host = references; host < fleet.hosts; ++host) add_pair(pairs, reference, host);
      return pairs;
    };
  };
  const auto near = [](const Fleet& fleet, Draw& draw) {
    Launches pairs;
    for (int host = 0; host < fleet.hosts; ++host) {
      for (int next = 1; next <= 3; ++next) {  // inside its leaf, around
        const int leaf = host / fleet.leaf_nodes * fleet.leaf_nodes;
        const int size = std::min(fleet.leaf_nodes, fleet.hosts - leaf);
        add_pair(pairs, host, leaf + (host - leaf + next) % size);
      }
      add_pair(pairs, host, static_cast<int>(draw.below(static_cast<std::uint64_t>(fleet.hosts))));
    }
    return pairs;
  };
  const auto where = [](auto meets) {
    return [meets](const Fleet& fleet, Draw& /*draw*/) {
      Launches pairs;
      for (int a = 0; a < fleet.hosts; ++a)
        for (int b = a + 1; b < fleet.hosts; ++b)
          if (meets(a, b, fleet.hosts)) add_pair(pairs, a, b);
      return pairs;
    };
  };
  const auto next_to_each_other = [](int size, int first) {  // from `first` on, around
    return [size, first](const Fleet& fleet, Draw& /*draw*/) {
      Launches groups;
      for (int at = 0; at < fleet.hosts; at += size) {
        std::vector<int> group;
        for (int host = at; host < std::min(at + size, fleet.hosts); ++host)
          group.push_back((host + first) % fleet.hosts);
        std::sort(group.begin(), group.end());
        groups.insert(group);
      }
      return groups;
    };
  };
  static const std::vector<Design> all{
      {"one reference", with_first(1)},
      {"chain", with_next(false)},
      {"ring", with_next(true)},
      {"two references", with_first(2)},
      {"8 references", with_first(8)},
      {"6 near, 2 far", near, true},
      {"two halves", where([](int a, int b, int hosts) { return (a < hosts / 2) != (b < hosts / 2); }), false,
       true},
      {"even with odd", where([](int a, int b, int /*hosts*/) { return a % 2 != b % 2; }), true, true},
      {"all pairs", where([](int /*a*/, int /*b*/, int /*hosts*/) { return true; }), true, true},
      {"groups of 4", next_to_each_other(4, 2)},
      {"each host", next_to_each_other(1, 0)}};
  return all;
}

const Design& design_named(const std::string& name) {
  return *std::find_if(designs().begin(), designs().end(),
                       [&name](const Design& design) { return design.name == name; });
}

struct Score {
  int bad = 0, named = 0, passed = 0;  ///< named, or its group; passed: bad, and said to be good
  int healthy = 0, accused = 0, cleared = 0;

  Score& operator+=(const Score& other) {
    bad += other.bad, named += other.named, passed += other.passed;
    healthy += other.healthy, accused += other.accused, cleared += other.cleared;
    return *this;
  }
};

/// The table of a screening, as a program writes it.
std::string drawn_table(const Fleet& fleet, const Launches& launches, const std::set<int>& bad, Draw& draw) {
  const bool has_pairs = launches.begin()->size() == 2;
  std::string text = has_pairs ? "node_a,node_b,busbw\n" : "nodes,busbw\n";
  for (const std::vector<int>& hosts : launches) {
    const bool is_slow =
        std::any_of(hosts.begin(), hosts.end(), [&bad](int host) { return bad.contains(host); });
    const auto is_far = [&](int host) { return host / fleet.leaf_nodes != hosts.front() / fleet.leaf_nodes; };
    double rate = is_slow ? 1 - fleet.lost : 1;
    if (std::any_of(hosts.begin(), hosts.end(), is_far)) rate *= 1 - fleet.leaf_effect;
    rate *= std::exp(fleet.noise * draw.normal());
    text += fmt::format("n{},{}\n", fmt::join(hosts, has_pairs ? ",n" : "+n"), rate);
  }
  return text;
}

Score score_of(const Fleet& fleet, const Design& design, std::uint64_t seed) {
  Draw draw(seed);
  std::set<int> bad;
  while (std::cmp_less(bad.size(), fleet.bad))
    bad.insert(static_cast<int>(draw.below(static_cast<std::uint64_t>(fleet.hosts))));
  if (design.name == "one reference") bad.erase(0);  // without --expected it cannot be told
  const Launches launches = design.launches(fleet, draw);
  const BurninRecord record = burnin_from_pairs(drawn_table(fleet, launches, bad, draw), "drawn", {});
  Score score;
  const Attribution found = attribute(record);
  std::set<int> in_named_groups;
  for (const Blame& blame : found.blames)
    if (blame.kind == BlameKind::group) in_named_groups.insert(blame.nodes.begin(), blame.nodes.end());
  for (const NodeVerdict& node : found.nodes) {
    const bool is_accused = node.bucket == Bucket::suspect || node.bucket == Bucket::bad;
    const bool is_good = node.bucket == Bucket::good;
    if (bad.contains(std::stoi(record.table.nodes[slot_of(node.node)].substr(1))))
      ++score.bad, score.named += is_accused || in_named_groups.contains(node.node) ? 1 : 0,
          score.passed += is_good ? 1 : 0;
    else
      ++score.healthy, score.accused += is_accused ? 1 : 0, score.cleared += is_good ? 1 : 0;
  }
  return score;
}

Score score_over(const Fleet& fleet, const Design& design, std::uint64_t seeds, std::uint64_t first = 1) {
  Score all;
  const std::uint64_t end = first + (few_draws() && seeds <= 12 ? 1 : seeds);  // hosts alone cost little
  for (std::uint64_t seed = first; seed < end; ++seed) all += score_of(fleet, design, seed);
  return all;
}

TEST(Screening, NoDesignPassesABadHostOrAccusesAHealthyOne) {
  for (const Design& design : designs()) {
    Score all;
    Score healthy;
    for (const double leaf_effect : {0.0, 0.1}) {
      for (const double lost : {0.1, 0.25, 0.5})
        all += score_over({.bad = 3, .lost = lost, .leaf_effect = leaf_effect}, design, 6);
      healthy += score_over({.leaf_effect = leaf_effect}, design, 6);
    }
    EXPECT_LE(all.passed, all.bad / 100) << design.name;
    EXPECT_LE(all.accused + healthy.accused, (all.healthy + healthy.healthy) / 300) << design.name;
    if (design.is_dense) {
      EXPECT_GE(all.named, all.bad * 19 / 20) << design.name;
    }
  }
}

// The reference's own leaf is a sixteenth of the hosts: who is as slow as the others may be one of them that
// lost a tenth.
TEST(Screening, WhoMayBelongToTheLeafOfTheReferencesIsNotGood) {
  for (const std::string name : {"one reference", "two references", "8 references"}) {
    const Design& design = design_named(name);
    for (const double leaf_effect : {0.05, 0.1}) {
      const Score score =
          score_over({.hosts = 256, .bad = 12, .lost = 0.1, .leaf_effect = leaf_effect}, design, 4);
      EXPECT_EQ(score.passed, 0) << name << leaf_effect;
    }
    const Score alike = score_over({.hosts = 256}, design, 4);
    EXPECT_GE(alike.cleared, alike.healthy * 98 / 100) << name;
  }
}

// Two of four fast hosts are a level, one may have been measured wrongly, and none of them is far beyond what
// chance would do.
TEST(Elimination, AFewFastPairsAreALevel) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(0.01 * std::sin(i));
  const auto with = [&values](std::vector<double> fast) {
    fast.insert(fast.end(), values.begin(), values.end());
    return levels_of(fast).centers;
  };
  EXPECT_EQ(with({}).size(), 1U);
  EXPECT_EQ(with({-0.1}).size(), 1U);
  ASSERT_EQ(with({-0.1, -0.11}).size(), 2U);
  EXPECT_NEAR(with({-0.1, -0.11}).front(), -0.105, 1e-9);
}

// Three quarters of the hosts are below one leaf switch: to the others most of their pairs are slower.
TEST(Screening, AnUnevenLeafIsNobodysFault) {
  for (const Design& design : designs()) {
    const Score score = score_over({.hosts = 64, .leaf_effect = 0.1, .leaf_nodes = 48}, design, 6);
    EXPECT_EQ(score.accused, 0) << design.name;
    if (design.is_dense) {
      EXPECT_GE(score.cleared, score.healthy * 9 / 10) << design.name;
    }
  }
}

// To the few nodes of a small leaf nearly all pairs are slower, as those of the bad nodes are.
TEST(Screening, ASmallLeafBesideALargeOneIsNobodysFault) {
  for (const int large : {50, 58, 60}) {
    for (const double lost : {0.25, 0.5}) {
      const Score score =
          score_over({.bad = 3, .lost = lost, .leaf_effect = 0.1, .noise = 0.02, .leaf_nodes = large},
                     design_named("all pairs"), 3);
      EXPECT_EQ(score.accused, 0) << large << " " << lost;
      EXPECT_EQ(score.named, score.bad) << large << " " << lost;
      EXPECT_GE(score.cleared, score.healthy * 99 / 100) << large << " " << lost;
    }
  }
}

// Of two bad nodes the slower sets the rate, so that their pairs take less than both losses together; but
// they are no faster than either's others.
TEST(Screening, BadNodesAreNoGroupOfTheirOwn) {
  const Design& design = design_named("all pairs");
  const Score few =
      score_over({.bad = 3, .lost = 0.1, .leaf_effect = 0.05, .noise = 0.01, .leaf_nodes = 59}, design, 8);
  EXPECT_EQ(few.passed, 0);
  EXPECT_EQ(few.named, few.bad);
  const Score many =
      score_over({.hosts = 32, .bad = 12, .lost = 0.1, .leaf_effect = 0.05, .leaf_nodes = 16}, design, 8);
  EXPECT_EQ(many.passed, 0);
}

// Three hosts that are as slow in pairs with one reference, or with next ones, may be below a leaf switch.
TEST(Screening, ASmallLeafThatMetNotItselfIsNobodysFault) {
  for (const std::string name : {"one reference", "8 references"}) {
    const Score leaf = score_over({.leaf_effect = 0.1, .leaf_nodes = 60}, design_named(name), 12);
    EXPECT_EQ(leaf.accused, 0) << name;
    const Score bad = score_over({.bad = 3, .lost = 0.25}, design_named(name), 12);
    EXPECT_GE(bad.named, bad.bad * 9 / 10) << name;
  }
}

// Where the nodes' parts scatter as much as the loss, nobody is named, and who may have lost a tenth is not
// good.
TEST(Screening, WhoMayHaveLostATenthIsNotGood) {
  const Score score =
      score_over({.bad = 6, .lost = 0.1, .noise = 0.06, .leaf_nodes = 63}, design_named("6 near, 2 far"), 8);
  EXPECT_LT(score.named, score.bad / 2) << "else the scatter hides nothing";
  EXPECT_LE(score.passed, score.bad / 20);
}

// n20 is slow with n21 and as slow with n19 as the slower level is: its other pair does not clear it, nor
// accuse.
TEST(Elimination, WhoIsNotSlowWithAllIsNotNamed) {
  PairTable table;
  for (int host = 0; host < 23; ++host) table.nodes.push_back(fmt::format("n{}", host));
  for (int host = 0; host + 1 < 23; ++host) {
    const double level = host == 20 ? 1.5 : host % 2 == 0 || host == 21 ? 1 : 1.1;
    table.times.push_back({host, host + 1, 0, level * (1 + 1e-4 * (host % 3))});
  }
  const auto standing = [&table](int host) {
    return pair_elimination(table, 0).nodes.at(slot_of(host)).standing;
  };
  EXPECT_EQ(standing(21), Standing::cleared);
  EXPECT_EQ(standing(20), Standing::unclear);
  std::erase_if(table.times, [](const RailTime& time) { return time.from == 19; });
  EXPECT_EQ(standing(20), Standing::slow);
}

// Leaves of twenty, and n18 is slow: n19 is slow with it, and with n20 as all are who stand between two
// leaves.
TEST(Elimination, WhoStandsBetweenLeavesBesideASlowNodeIsNotNamed) {
  const auto chain = [](double n18, double leaf) {
    PairTable table;
    for (int host = 0; host < 80; ++host) table.nodes.push_back(fmt::format("n{}", host));
    for (int host = 0; host + 1 < 80; ++host) {
      const double seconds = (host == 17 || host == 18 ? n18 : 1) * (host % 20 == 19 ? leaf : 1);
      table.times.push_back({host, host + 1, 0, seconds * (1 + 1e-4 * (host % 3))});
    }
    return pair_elimination(table, 0).nodes;
  };
  EXPECT_EQ(chain(1.1, 1.1)[19].standing, Standing::unclear);
  EXPECT_EQ(chain(1.1, 1.1)[18].standing, Standing::unclear) << "n17 to n18 may be such a path";
  EXPECT_EQ(chain(1.3, 1.1)[19].standing, Standing::unclear);
  EXPECT_EQ(chain(1.3, 1.1)[18].standing, Standing::slow) << "no path costs as much";
  EXPECT_EQ(chain(1.1, 1)[18].standing, Standing::slow);
  EXPECT_EQ(chain(1.1, 1)[19].standing, Standing::cleared);
}

// Rates of hosts that scatter by 2 % name nobody who is slower by less than 12 %.
TEST(Screening, WhoseOwnRateMayHaveLostATenthIsNotGood) {
  const Score score = score_over({.bad = 3, .lost = 0.1, .noise = 0.02}, design_named("each host"), 40);
  EXPECT_LE(score.passed, score.bad / 100);
  EXPECT_GE(score.cleared, score.healthy * 9 / 10);
}

// The scatter of groups is no host's fault, and says that nobody is known.
TEST(Screening, GroupsThatScatterAccuseNobody) {
  const Score score = score_over({.bad = 3, .lost = 0.25, .leaf_effect = 0.1, .noise = 0.02},
                                 design_named("groups of 4"), 12);
  EXPECT_EQ(score.accused, 0);
  EXPECT_EQ(score.passed, 0);
}

// Of 1,024 hosts with eight pairs each, what leaves cost would be scatter that hides all.
TEST(Screening, WhoIsOfAnotherLevelIsNotSaidToHideInAScatter) {
  std::string table = "nodes,busbw\n";
  for (int group = 0; group < 20; ++group)
    table += fmt::format("n{0}+n{1}+n{2}+n{3},{4}\n", 4 * group, 4 * group + 1, 4 * group + 2, 4 * group + 3,
                         (group < 8 ? 100 : 89) * (1 + 0.002 * (group % 3 - 1)));
  int held_back = 0;
  for (const NodeVerdict& node : attribute(burnin_from_pairs(table, "two levels", {})).nodes) {
    if (node.bucket != Bucket::not_tested) continue;
    ++held_back;
    EXPECT_NE(node.why.find("that may be another level, such as a leaf's"), std::string::npos) << node.why;
  }
  EXPECT_EQ(held_back, 48);
}

TEST(Screening, LeavesOfAThousandHostsAreFound) {
  const Score score = score_over({.hosts = 1024, .bad = 10, .lost = 0.1, .leaf_effect = 0.1, .noise = 0.02},
                                 design_named("6 near, 2 far"), 1);
  EXPECT_EQ(score.accused, 0);
  EXPECT_GE(score.named, score.bad * 8 / 10);
  EXPECT_GE(score.cleared, score.healthy * 95 / 100);
}

/// "0.9 [0.7, 1.2] (78 of 86064)": of 1,000, with its 95 % interval (Clopper & Pearson, Biometrika 26, 1934).
std::string per_thousand(int count, int of) {
  using Binomial = boost::math::binomial_distribution<>;
  constexpr double kTail = 0.025;
  return fmt::format("{:.2g} [{:.2g}, {:.2g}] ({} of {})", 1000.0 * count / of,
                     1000 * Binomial::find_lower_bound_on_p(of, count, kTail),
                     1000 * Binomial::find_upper_bound_on_p(of, count, kTail), count, of);
}

/// A row of docs/notes/burnin-screenings.md: `seeds` fleets of each kind, the first of them `seed`.
std::string table_row(const Design& design, int hosts, double noise, std::uint64_t seed,
                      std::uint64_t seeds) {
  std::string named;
  std::string cleared;
  Score beside;
  Score healthy;
  int passed = 0;
  int bad = 0;
  for (const double lost : {0.05, 0.1, 0.25, 0.5}) {
    Score all;
    for (const double leaf_effect : {0.0, 0.05, 0.1})
      for (const double share : {0.01, 0.05})
        all += score_over({.hosts = hosts,
                           .bad = std::max(1, static_cast<int>(share * hosts)),
                           .lost = lost,
                           .leaf_effect = leaf_effect,
                           .noise = noise},
                          design, seeds, seed);
    beside += all;
    named += fmt::format(" {:.1f} |", 100.0 * all.named / all.bad);
    if (lost > 0.05) passed += all.passed, bad += all.bad;
  }
  for (const double leaf_effect : {0.0, 0.05, 0.1}) {
    const Score all =
        score_over({.hosts = hosts, .leaf_effect = leaf_effect, .noise = noise}, design, 2 * seeds, seed);
    healthy += all;
    cleared += fmt::format("{}{:.0f}", cleared.empty() ? "" : ", ", 100.0 * all.cleared / all.healthy);
  }
  return fmt::format("| {} | {} | {:.0f} % |{} {} of {} | {} | {} | {} |\n", design.name, hosts, 100 * noise,
                     named, passed, bad, per_thousand(beside.accused, beside.healthy),
                     per_thousand(healthy.accused, healthy.healthy), cleared);
}

/// `seeds` fleets of each kind, and `of_quadratic` where a design has so many pairs.
void print_table(int hosts, std::uint64_t seeds, std::uint64_t of_quadratic) {
  const char* const first = std::getenv("COLLBENCH_FIRST_SEED");  // NOLINT(concurrency-mt-unsafe)
  const char* const only = std::getenv("COLLBENCH_DESIGN");       // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seed = first == nullptr ? 1 : std::stoull(first);
  for (const Design& design : designs()) {
    if (only != nullptr && design.name != only) continue;
    const std::uint64_t fleets = design.is_quadratic ? of_quadratic : seeds;
    for (const double noise : {0.01, 0.02}) {
      if (fleets > 0) fmt::print("{}", table_row(design, hosts, noise, seed, fleets));
      std::fflush(stdout);
    }
  }
}

// Print the table of docs/notes/burnin-screenings.md: --gtest_also_run_disabled_tests
// --gtest_filter='*Table*', COLLBENCH_FIRST_SEED for other fleets, COLLBENCH_DESIGN for one row.
TEST(Screening, DISABLED_TableOf63) { print_table(63, 36, 6); }
TEST(Screening, DISABLED_TableOf256) { print_table(256, 5, 1); }
TEST(Screening, DISABLED_TableOf1024) { print_table(1024, 1, 0); }

}  // namespace
}  // namespace collbench::analysis
