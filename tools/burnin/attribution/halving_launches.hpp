#pragma once
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

// More than kMinPopulation, for the line of four is twice as wide as that of many; they cost no time.
inline constexpr std::size_t kControls = 6;

enum class LaunchState { open, well, slow, failed, unknown };

/// What a launch says.
struct LaunchVerdict {
  LaunchState state = LaunchState::open;
  double log_time = 0;
  double line = 0;
  std::string words{};  ///< "all_reduce makes 12 GB/s, taking 99.8 % longer than the 6 like it (line +5.3 %)"

  [[nodiscard]] bool is_bad() const { return state == LaunchState::slow || state == LaunchState::failed; }
};

/// The launches of phase halving, with NVLink between hosts or without: what each says, by those that it can
/// be compared with, and which are to be measured beside it for that.
class HalvingLaunches {
 public:
  using Nodes = std::vector<int>;

  HalvingLaunches(const BurninRecord& record, bool without_nvlink);

  [[nodiscard]] GroupLaunch launch_of(Nodes nodes, std::optional<int> rail = std::nullopt) const;
  [[nodiscard]] GroupLaunch pair_of(int a, int b, std::optional<int> rail = std::nullopt) const;
  [[nodiscard]] bool was_launched(const GroupLaunch& launch) const;
  [[nodiscard]] LaunchVerdict verdict_of(const GroupLaunch& launch) const;
  /// What a group that was slow in company makes with nothing beside it, `times` times, each time followed
  /// by a group of well hosts like it: well by the first time that it is not slow, for others' traffic was;
  /// slow where all of these times are slower than all of those groups'; unknown where they are not, or none
  /// is like it; open where `next` is to be measured first.
  [[nodiscard]] LaunchVerdict verdict_alone(GroupLaunch launch, std::size_t times, GroupBatch& next) const;
  /// Behind the fastest like it: of a domain that cannot be compared, since so many may be slow.
  [[nodiscard]] bool is_far_behind(const Nodes& nodes) const;

  /// Hosts of well groups: what is put beside others, and what these are compared with.
  [[nodiscard]] const std::set<int>& well() const { return well_; }
  void add_well(const std::set<int>& nodes) { well_.insert(nodes.begin(), nodes.end()); }
  /// What is missing of groups of well hosts like each of `tested`, outside `busy` where there are enough.
  [[nodiscard]] std::vector<GroupLaunch> missing_controls(const std::vector<GroupLaunch>& tested,
                                                          std::set<int> busy) const;
  /// Whether there are, or can be, enough of them.
  [[nodiscard]] bool can_be_compared(const GroupLaunch& launch) const;
  /// With whom of the well ones a node was launched, in pairs.
  [[nodiscard]] Nodes partners_of(int node) const;
  /// A well host for `node`: of its GPUs, below its leaf switch if possible, and none that it met.
  [[nodiscard]] std::optional<int> partner_for(int node, const Nodes& met, const std::set<int>& busy) const;

  [[nodiscard]] bool has_floor() const { return has_floor_; }
  /// Who was measured by itself, and whether it gave a rate.
  [[nodiscard]] const std::map<int, bool>& by_itself() const { return by_itself_; }
  [[nodiscard]] int leaf_of(int node) const;

 private:
  using Key = std::pair<Nodes, int>;  ///< with the rail; below 0: none
  /// What launches have in common that can be compared: as GroupPopulation.
  struct Kind {
    std::size_t size = 0;
    Nodes per_leaf;
    std::set<std::string> gpus;
    int rail = -1;

    auto operator<=>(const Kind&) const = default;
  };
  using Rates = std::vector<const GroupRate*>;

  [[nodiscard]] static Key key_of(const GroupLaunch& launch);
  [[nodiscard]] Kind kind_of(const GroupLaunch& launch) const;
  [[nodiscard]] bool is_well(const Nodes& nodes) const;
  [[nodiscard]] LaunchVerdict verdict_of(const GroupRate& rate) const;
  [[nodiscard]] LaunchVerdict worst_of(const Rates& rates) const;
  [[nodiscard]] Nodes like(const Kind& kind, const std::set<int>& used) const;
  /// One that was not slow beside others, if there is one; else of well hosts.
  [[nodiscard]] Nodes well_group_like(const GroupLaunch& launch) const;
  [[nodiscard]] std::vector<GroupLaunch> controls_for(const GroupLaunch& launch,
                                                      const std::set<int>& busy) const;

  const BurninRecord& record_;
  bool without_nvlink_;
  bool has_floor_ = false;
  std::vector<std::string> gpus_{};  ///< by node
  std::map<Key, Rates> rates_{};
  std::map<Key, std::vector<Rates>> alone_{};  ///< by launch
  std::map<Key, const GroupFailure*> failures_{};
  std::map<Key, const GroupFailure*> failures_alone_{};
  std::map<Kind, Rates> kinds_{};
  std::map<int, bool> by_itself_{};
  std::set<int> well_{};
};

}  // namespace collbench::analysis
