#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// What a pattern of slow pairs points at.
enum class BlameKind {
  nic_transmit,  ///< a node is slow as a sender on one rail: NIC, its PCIe link, cable or port, Tx
  nic_receive,   ///< the same as a receiver
  nic,           ///< both ways on one rail
  host,          ///< on all of several rails
  node,          ///< on the only rail there is: NIC and host cannot be told apart
  leaf,          ///< all nodes of one leaf on one rail
  rail,          ///< a whole rail against the others
  trunk,         ///< between two leaves, while each by itself is fine
  path,          ///< a pair only, while both of its nodes are fine with others
  inside,        ///< a host by itself, without the network
  busy,          ///< a host whose cores others keep busy, so that its links are not known
  gpu,           ///< a GPU, without any link to others
  nvlink,        ///< NVLink of a host to others
  group,         ///< a group of hosts, while its nodes and smaller groups are fine
};

/// One finding, with its evidence.
struct Blame {
  BlameKind kind = BlameKind::path;
  std::vector<int> nodes{};       ///< one; two of a path; those of a leaf or group
  std::optional<int> rail{};      ///< none: all of them
  double times_slower = 1;        ///< time over that of the median
  double line = 1;                ///< what it would have had to exceed
  bool against_expected = false;  ///< times_slower is that of the expected rate, not of the median
  std::string measure{};          ///< what was found where it is no time: "loses 1.1 % of what it sends"
  bool confirmed = false;         ///< seen while nothing else ran, against at least two others
  bool by_exclusion = false;  ///< confirmed: its group is well without it, and two others' are slow with it
  std::size_t alone_launches = 0;  ///< of a path: so many times nothing else ran
  std::string evidence{};          ///< in numbers
  std::string next{};              ///< what a technician does
};

/// Where a node stands after all that was measured.
enum class Bucket { good, suspect, bad, not_tested };

struct NodeVerdict {
  int node = 0;
  Bucket bucket = Bucket::good;
  std::string why;         ///< empty for good
  bool held_back = false;  ///< nothing was found of it, and the times cannot clear anybody like it
};

/// Who was slow in company, and is not alone: a disturbance, or something that comes and goes.
struct Cleared {
  int node = 0;
  std::optional<int> peer{};  ///< of a path; none: the node's own part
  int rail = 0;
};

/// Whether the rail is to blame by one of them already.
[[nodiscard]] bool blames_rail(const std::vector<Blame>& blames, int rail);

struct Attribution {
  PairEffects effects;
  std::vector<Blame> blames;  ///< worst first
  std::vector<NodeVerdict> nodes;
  std::string doubt{};  ///< why the median is a poor reference; empty: nothing speaks against it
  double blind_below =
      0;  ///< log of time: what a part may cost without being seen, for its rail scatters so much
  std::vector<Cleared> cleared{};
  /// The same by node, where it is not the same for all (mixed_fleet.hpp); else empty.
  std::vector<double> blind_below_by_node{};
  /// Found from the pairs themselves (node_groups.hpp): who was judged against pairs of its own group.
  std::vector<std::vector<int>> groups{};
  double line_of_nodes = 0;  ///< log of time: from where on a node is named; 0: by elimination
  double across_groups =
      0;  ///< log of time between groups over that inside; of several kinds of hosts the most

  [[nodiscard]] double blind_below_of(int node) const {
    return blind_below_by_node.empty() ? blind_below : blind_below_by_node[slot_of(node)];
  }
};

/// The part from which on a node may have lost kMustBeSeen, and its worst part: of any rail and direction.
[[nodiscard]] double unseen_below(const Attribution& found);
[[nodiscard]] double worst_part(const PairEffects& effects, int node);

/// The worst first.
[[nodiscard]] bool is_worse(const Blame& a, const Blame& b);

inline constexpr double kBadTimes = 1 / 0.95;  // below 95 % of the others' rate

/// The scatter from which on an all-clear says too little: a fifth of a rate could be missing.
inline constexpr double kMaxBlind = 0.2231;  // log 1/0.8

/// "bad", "not tested".
[[nodiscard]] std::string name(Bucket bucket);
/// What a scheduler does with a host: PASSED is used, FAILED is drained, INCOMPLETE is measured again.
[[nodiscard]] std::string result_of(Bucket bucket);
[[nodiscard]] std::string name(BlameKind kind);

/// Who is to blame for the slow times of a table, and each node in exactly one bucket: bad where a finding of
/// its own is confirmed; suspect with any other finding of its own (none is made of less than kMatters, or of
/// what a node shows with other groups and not inside its own), below a blamed leaf switch, as an end of a
/// slow path that was confirmed alone (a path that was slow in company is a finding to measure again, and no
/// node's), and where the median is in doubt; not tested with fewer than kMinPartners partners on any rail,
/// unless most nodes have so few: then pair_elimination() tells them apart, and who it cannot tell of is not
/// tested. Confirmed is what times alone say beside times alone. `expected_seconds`, of each time at a rate
/// that is known (0: none is), names whose quickest pairs fall 5 % short of it on a rail on which most others
/// do not, where the scatter hides that.
[[nodiscard]] Attribution attribute(const PairTable& table, double expected_seconds = 0);

// Whose processors others keep busy: its pairs are slow and scatter on every rail, and no link is to blame.

/// A host that others keep busy.
struct BusyHost {
  int node = 0;
  double had_core = 0;  ///< share of the time in which its ranks could run, median of its launches
  double usual = 0;     ///< the same of the median host
  int launches = 0;
};

/// Each host whose ranks, in the median of its launches, could run and had no core for more than half of that
/// time, and were given less than half of the share that the median host's ranks were. Nobody where fewer
/// than four hosts say so.
[[nodiscard]] std::vector<BusyHost> busy_hosts(const PairTable& table);

/// Without the times of these hosts: what they take says nothing of a link, and nothing of others' scatter.
[[nodiscard]] PairTable without_hosts(const PairTable& table, const std::vector<BusyHost>& busy);

/// Adds a finding for each of them, and makes it suspect.
void judge_busy_hosts(const PairTable& table, const std::vector<BusyHost>& busy, Attribution& found);

// Who sends into a link that loses, or receives from one: TCP sends again what was lost, and so hides it in
// the times.

/// From what share of its bytes sent again on a link speaks of a fault, where others' do not. A healthy data
/// center network drops 10⁻⁵ to 10⁻⁴ of its packets, and above 10⁻³ an alert is raised (Guo et al., Pingmesh,
/// SIGCOMM 2015, sections 4.2 and 4.3); what is sent again in vain comes on top.
inline constexpr double kLossLine = 1e-3;

/// Adds a finding for each node most of whose pairs on a rail, at least three, send again more than the line,
/// as sender, receiver or both: a NIC, its cable or port; and makes it suspect. The line is the larger of
/// kLossLine and the median of the rail's nodes + 6 robust standard deviations. Confirmed where times alone
/// with two partners say so too. Nothing of a node and rail that is named already.
void judge_losses(const PairTable& table, Attribution& found);

/// What elimination (pair_elimination.hpp) says of a design in which most nodes met one or two others.
/// `expected_seconds`: of every pair; 0: not known, and then nothing is said of a star's reference.
[[nodiscard]] Attribution attribute_by_elimination(const PairTable& table, const PairDesign& design,
                                                   double expected_seconds);

}  // namespace collbench::analysis
