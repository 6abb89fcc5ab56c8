#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

// The phase "halving" of a burn-in, without what measures it: whole domains (the hosts below each leaf
// switch; all, where leaves are not known) with one group each; a group that is slow, gives nothing or cannot
// be compared is halved, down to hosts beside two others that are well. What each launch says follows from
// the record alone, so that a burn-in that was cut goes on, and a schedule can be played before it is
// measured.

namespace collbench::analysis {

/// A host that is slow, or gives nothing, beside others that are well.
struct HalvingSuspect {
  int node = 0;
  bool over_nvlink = false;          ///< between hosts of an NVLink domain
  bool over_network = false;         ///< there without NVLink, or where there is none
  double log_time = 0;               ///< over that of pairs of well hosts, by its worst pair
  double line = 0;                   ///< log of time
  bool swapped = false;              ///< also beside a second one
  bool excluded = false;             ///< its group is well without it
  bool works_alone = false;          ///< by itself it gives a rate
  std::vector<int> rails{};          ///< on which alone it is slow or gives nothing
  std::vector<int> working_rails{};  ///< of the others, those that are well
  std::string evidence{};
  std::string why{};  ///< it gives nothing; empty: it gave a rate
};

/// A group that is slow though each part of it is well, in company and alone.
struct HalvingPath {
  std::vector<int> nodes;
  bool across = false;       ///< it is of two domains
  bool over_nvlink = false;  ///< not without NVLink
  double log_time = 0;
  double line = 0;
  bool confirmed = false;  ///< slower, each time, than all groups like it with nothing beside them
  std::string evidence{};
};

/// So many launches with nothing beside it, each followed by one of a group like it, make a path a finding.
inline constexpr std::size_t kPathRepeats = 3;

struct Halving {
  GroupBatch next{};  ///< what is measured next, all at once; empty: it is done
  std::vector<std::vector<int>> slow_domains{};
  std::vector<HalvingSuspect> suspects{};
  std::vector<HalvingPath> paths{};
  std::vector<std::vector<int>> well{};  ///< with NVLink between hosts, and without
  std::set<int> unclear{};      ///< in slow or incomparable groups, without well hosts to put beside them
  double blind_below = 0;       ///< log of time: the widest line that well groups were compared with
  bool across_unclear = false;  ///< groups of two domains cannot be compared
};

/// Where halving stands after all that was measured of it. Slow is a group below what a sound machine makes
/// at least, or beyond kMatters and group_line() of groups of well hosts like it, which are measured beside
/// it where no such floor is known; of domains beyond those of all domains like it, if no quarter of them is
/// that much faster. A group that is not slow is unknown with fewer than kMinPopulation of either, or if they
/// scatter by more than kMaxBlind, and is halved as well. With NVLink domains these come first, and then all
/// of it again without NVLink between hosts.
[[nodiscard]] Halving halving_of(const BurninRecord& record);

/// What is left of a schedule if each of `slow` hosts has a slow NIC on the first rail, and nothing else is
/// slow: measured by nobody.
[[nodiscard]] HalvingCost expected_cost(BurninRecord record, const std::vector<int>& slow, int at_once);

struct HalvingPhaseOptions {
  int at_once = 128;   ///< launches of a batch
  double seconds = 3;  ///< that a launch measures
  std::function<void()> on_prediction{[] {}};
};

/// Measures a batch, and adds its rates and failures to the record: the seconds that it took, and those of
/// its longest launch that gave rates. None: it was left out.
using MeasureGroups = std::function<std::optional<std::pair<double, double>>(const GroupBatch&)>;

/// Measures until nothing is left to halve. After the first launches the record has what all of it will take:
/// each as long to start as the longest of these, and each slow domain with one slow host; at least, if it
/// was others' traffic.
void measure_halving(BurninRecord& record, const HalvingPhaseOptions& options, const MeasureGroups& measure);

/// Whether phase halving launched anything.
[[nodiscard]] bool was_halved(const BurninRecord& record);

/// Adds its findings, and says of each node what halving knows of it.
void judge_halving(const BurninRecord& record, Attribution& found);

/// "predicted after its first launches, which took 1.02 s to start: 17 rounds one after the other, …".
[[nodiscard]] std::string prediction_words(const BurninRecord& record);

/// "halving took 14 launches one after the other, …; predicted after the first: …"; empty where none was.
[[nodiscard]] std::string halving_words(const BurninRecord& record);

}  // namespace collbench::analysis
