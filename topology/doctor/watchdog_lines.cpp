// look_at_watchdog() of look.hpp: the lines that PyTorch's ProcessGroupNCCL writes when a collective times
// out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

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

/// The rank of all processes where PyTorch writes it (2.3 and newer), else that of the group.
std::optional<int> rank_of(std::string_view line) {
  for (const std::string_view before : {"[rank", "[Rank ", " Rank "})
    if (const auto rank = parse_integer(text_behind(line, before, "]"), 0, 10'000'000))
      return static_cast<int>(*rank);
  return std::nullopt;
}

/// A group of ranks: its name is the same on all of them since 2.5.
std::string group_of(std::string_view line) { return text_behind(line, "PG GUID ", " ("); }

/// The collective in which a rank waited.
struct Waiting {
  double sequence = 0;
  std::string operation;
  std::string elements;
  auto operator<=>(const Waiting&) const = default;
};

/// What a rank had given to NCCL, and what had ended.
struct Progress {
  double enqueued = 0;
  double completed = 0;
  bool operator==(const Progress&) const = default;
};

std::optional<Progress> progress_of(std::string_view line) {
  for (const std::string_view noun : {"NCCL work: ", "work: "}) {
    const auto enqueued = number_behind(line, fmt::format("last enqueued {}", noun));
    const auto completed = number_behind(line, fmt::format("last completed {}", noun));
    // In 2.3 a rank without a completed collective wrote memory that was never set.
    if (enqueued) return Progress{*enqueued, completed && *completed <= *enqueued ? *completed : 0};
  }
  return std::nullopt;
}

std::string ranks_in_words(const std::set<int>& ranks) {
  constexpr std::size_t kShown = 12;
  const auto end = std::next(ranks.begin(), static_cast<std::ptrdiff_t>(std::min(kShown, ranks.size())));
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(ranks.begin(), end, ", "),
                     ranks.size() > kShown ? fmt::format(" and {} more", ranks.size() - kShown) : "");
}

/// By group: the ranks in each collective, and how far each rank had come.
struct Timeouts {
  std::map<Waiting, std::set<int>> waiting;
  std::map<int, Progress> progress;
  std::string location;
};

void conclude(const Timeouts& seen, std::vector<DoctorObservation>& found) {
  std::set<int> behind;
  for (const auto& [rank, progress] : seen.progress)
    if (progress.enqueued < seen.waiting.begin()->first.sequence) behind.insert(rank);
  std::set<std::pair<std::string, std::string>> kinds;
  std::set<double> sequences;
  std::set<int> waiting;
  for (const auto& [each, ranks] : seen.waiting) {
    // An exchange of unequal parts has other sizes on each rank by design.
    kinds.emplace(each.operation, each.operation == "ALLREDUCE" ? each.elements : "");
    sequences.insert(each.sequence);
    waiting.insert(ranks.begin(), ranks.end());
  }
  if (!behind.empty()) {
    found.push_back(
        {fmt::format("{} never issued it: behind the others", ranks_in_words(behind)), seen.location});
  } else if (sequences.size() > 1) {
    found.push_back({fmt::format("the ranks wait in different calls: {} in the earliest is behind",
                                 ranks_in_words(seen.waiting.begin()->second)),
                     seen.location});
  } else if (kinds.size() > 1) {
    found.push_back({"the ranks disagree on which collective it is, or on its size", seen.location});
  } else {
    found.push_back(
        {fmt::format("none of {} is behind by its calls: a rank that is not in this log, or the network or "
                     "a GPU of one that is",
                     ranks_in_words(waiting)),
         seen.location});
  }
}

}  // namespace

DoctorVerdict look_at_watchdog(const Evidence& evidence) {
  std::map<std::string, Timeouts> groups;
  std::map<int, std::string> group_by_rank;  // the line of a timeout does not name its group before 2.4
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (const auto rank = rank_of(line.text); rank && !group_of(line.text).empty())
      group_by_rank.try_emplace(*rank, group_of(line.text));
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const auto rank = rank_of(line.text);
    if (!rank) continue;
    std::string group = group_of(line.text);
    if (group.empty() && group_by_rank.contains(*rank)) group = group_by_rank.at(*rank);
    // Where only some ranks name theirs, those of one log are of one.
    if (group.empty() && !group_by_rank.empty()) group = group_by_rank.begin()->second;
    const auto sequence = number_behind(line.text, "WorkNCCL(SeqNum=");
    if (sequence && has_text(line.text, "timeout")) {
      Timeouts& seen = groups[group];
      if (seen.location.empty()) seen.location = line.location;
      const std::string elements = text_behind(line.text, "NumelIn=", ",)");
      seen.waiting[{*sequence, text_behind(line.text, "OpType=", ",)"), elements}].insert(*rank);
    }
    if (const auto progress = progress_of(line.text))
      groups[group].progress.insert_or_assign(*rank, *progress);
  }
  std::vector<DoctorObservation> found;
  for (const auto& [group, seen] : groups) {
    if (seen.waiting.empty()) continue;
    for (const auto& [each, ranks] : seen.waiting) {
      const auto known = seen.progress.find(*ranks.begin());
      found.push_back(
          {fmt::format(
               "{} wait in {} {}{}{}", ranks_in_words(ranks), excerpt(each.operation, 40), each.sequence,
               each.elements.empty() ? "" : fmt::format(" ({} elements)", excerpt(each.elements, 20)),
               known == seen.progress.end() ? ""
                                            : fmt::format(": last enqueued {}, last completed {}",
                                                          known->second.enqueued, known->second.completed)),
           seen.location});
    }
    conclude(seen, found);
  }
  return found.empty() && !evidence.whole.contains("nccl-log") ? std::nullopt : DoctorVerdict(found);
}

}  // namespace collbench::topology
