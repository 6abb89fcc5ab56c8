#include "topology/doctor/watchdog_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/units.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// The text behind `before`, up to one of `ends`.
std::string text_behind(std::string_view line, std::string_view before, std::string_view ends) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + before.size());
  return std::string(rest.substr(0, rest.find_first_of(ends)));
}

std::optional<std::int64_t> count_behind(std::string_view line, std::string_view before) {
  return parse_integer(text_behind(line, before, " ,.)"), -1, std::numeric_limits<std::int64_t>::max());
}

/// The rank of all processes where PyTorch writes it (2.3 and newer), else that of the group.
std::optional<int> rank_of(std::string_view line) {
  for (const std::string_view before : {"[rank", "[Rank ", " Rank "})
    if (const auto rank = parse_integer(text_behind(line, before, "]"), 0, 10'000'000))
      return static_cast<int>(*rank);
  return std::nullopt;
}

/// "[PG ID 2 PG GUID 3(tp) Rank 1]" of 2.5 and newer, "[PG 3 (tp) Rank 1]" of 2.4, "[PG 3 Rank 1]" of 2.3.
std::string group_of(std::string_view line) {
  const std::string name = text_behind(line, "PG GUID ", " (");
  return name.empty() ? text_behind(line, "[PG ", " (") : name;
}

/// Also of a rank that had no timeout, and was told of another's: "Last enqueued NCCL work: -1" is none.
void note_progress(std::string_view line, WatchdogRank& rank) {
  for (const std::string_view noun : {"NCCL work: ", "work: "}) {
    const auto enqueued = count_behind(line, fmt::format("ast enqueued {}", noun));
    if (!enqueued) continue;
    const auto completed = count_behind(line, fmt::format("last completed {}", noun));
    rank.enqueued = std::max<std::int64_t>(0, *enqueued);
    // In 2.3 a rank without a completed collective wrote memory that was never set.
    rank.completed = completed && *completed <= rank.enqueued ? std::max<std::int64_t>(0, *completed) : 0;
    return;
  }
}

std::string ranks_in_words(const std::set<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", number_ranges({ranks.begin(), ranks.end()}));
}

/// Ranks by the collective in which they wait: its number, its name, its elements.
using Waiting = std::map<std::tuple<std::int64_t, std::string, std::string>, std::set<int>>;

std::string conclusion(const WatchdogGroup& group, const Waiting& waiting) {
  const std::int64_t earliest = std::get<0>(waiting.begin()->first);
  std::set<int> behind;
  std::set<int> all;
  for (const auto& [rank, seen] : group.ranks)
    if (seen.call > 0) {
      all.insert(rank);
    } else if (seen.enqueued >= 0 && seen.enqueued < earliest) {
      behind.insert(rank);
    }
  if (!behind.empty()) return ranks_in_words(behind) + " never issued it: behind the others";
  if (earliest < std::get<0>(waiting.rbegin()->first))
    return fmt::format("the ranks wait in different calls: {} in the earliest is behind",
                       ranks_in_words(waiting.begin()->second));
  // An exchange of unequal parts has other sizes on each rank by design.
  const auto differs = [first = waiting.begin()->first](const auto& each) {
    const auto& [call, operation, elements] = each.first;
    return operation != std::get<1>(first) || (operation == "ALLREDUCE" && elements != std::get<2>(first));
  };
  if (std::any_of(waiting.begin(), waiting.end(), differs))
    return "the ranks disagree on which collective it is, or on its size";
  return fmt::format("none of {} is behind by its calls: a rank without a log here, or a link or a GPU",
                     ranks_in_words(all));
}

}  // namespace

std::map<std::string, WatchdogGroup> watchdog_groups(const std::vector<EvidenceLine>& lines) {
  // The line of a timeout does not name its group, the next one of the same rank and call does.
  std::map<std::pair<int, std::int64_t>, std::string> by_call;
  std::map<int, std::string> by_rank;
  for (const EvidenceLine& line : lines) {
    const auto rank = rank_of(line.text);
    if (!rank || group_of(line.text).empty()) continue;
    by_rank.try_emplace(*rank, group_of(line.text));
    for (const std::string_view before : {"at work: ", "work sequence id: ", "at NCCL work: "})
      if (const auto call = count_behind(line.text, before))
        by_call.try_emplace({*rank, *call}, group_of(line.text));
  }
  std::map<std::string, WatchdogGroup> groups;
  for (const EvidenceLine& line : lines) {
    const auto rank = rank_of(line.text);
    if (!rank) continue;
    const auto call = count_behind(line.text, "WorkNCCL(SeqNum=");
    const bool timed_out = call && has_text(line.text, "timeout");
    std::string name = group_of(line.text);
    if (name.empty() && timed_out && by_call.contains({*rank, *call})) name = by_call.at({*rank, *call});
    if (name.empty() && by_rank.contains(*rank)) name = by_rank.at(*rank);
    // Where only some ranks name theirs, those of one log are of one.
    if (name.empty() && !by_rank.empty()) name = by_rank.begin()->second;
    // What that says of progress is of the default group, whichever writes it.
    if (has_text(line.text, "Received a dump signal")) name = "0";
    WatchdogGroup& group = groups[name];
    if (group.description.empty()) group.description = text_behind(line.text, "PG GUID " + name + "(", ")");
    WatchdogRank& own = group.ranks[*rank];
    note_progress(line.text, own);
    if (!timed_out || own.call > 0) continue;
    if (group.location.empty()) group.location = line.location;
    own.call = *call;
    own.operation = text_behind(line.text, "OpType=", ",)");
    own.elements = text_behind(line.text, "NumelIn=", ",)");
  }
  return groups;
}

DoctorVerdict look_at_watchdog(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  for (const auto& [name, group] : watchdog_groups(evidence.of("nccl-log"))) {
    if (group.location.empty()) continue;
    Waiting waiting;
    for (const auto& [rank, seen] : group.ranks)
      if (seen.call > 0) waiting[{seen.call, seen.operation, seen.elements}].insert(rank);
    for (const auto& [each, ranks] : waiting) {
      const auto& [call, operation, elements] = each;
      const WatchdogRank& first = group.ranks.at(*ranks.begin());
      found.push_back(
          {fmt::format("{} wait in {} {}{}{}", ranks_in_words(ranks), excerpt(operation, 40), call,
                       elements.empty() ? "" : fmt::format(" ({} elements)", excerpt(elements, 20)),
                       first.enqueued >= 0 ? fmt::format(": last enqueued {}, last completed {}",
                                                         first.enqueued, first.completed)
                                           : ""),
           group.location});
    }
    found.push_back({conclusion(group, waiting), group.location});
  }
  return found.empty() && !evidence.whole.contains("nccl-log") ? std::nullopt : DoctorVerdict(found);
}

}  // namespace collbench::topology
