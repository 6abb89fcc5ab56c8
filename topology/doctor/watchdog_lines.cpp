#include "topology/doctor/watchdog_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <tuple>

#include "base/text_search.hpp"
#include "base/units.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

std::optional<std::int64_t> count_behind(std::string_view line, std::string_view before) {
  return parse_integer(text_behind(line, before, " ,.)").value_or(""), -1,
                       std::numeric_limits<std::int64_t>::max());
}

/// The rank of all processes where PyTorch writes it (2.3 and newer), else that of the group.
std::optional<int> rank_of(std::string_view line) {
  for (const std::string_view before : {"[rank", "[Rank ", " Rank "})
    if (const auto rank = parse_integer(text_behind(line, before, "]").value_or(""), 0, 10'000'000))
      return static_cast<int>(*rank);
  return std::nullopt;
}

/// "[Rank 1]" of a line that fails, which is the rank's number in its group.
int number_in_group(std::string_view line) {
  const auto number = parse_integer(text_behind(line, "[Rank ", "]").value_or(""), 0, 10'000'000);
  return number ? static_cast<int>(*number) : -1;
}

/// "[PG ID 2 PG GUID 3(tp) Rank 1]" of 2.5 and newer, "[PG 3 (tp) Rank 1]" of 2.4, "[PG 3 Rank 1]" of 2.3.
std::string group_of(std::string_view line) {
  const std::string_view name = text_behind(line, "PG GUID ", " (").value_or("");
  return std::string(name.empty() ? text_behind(line, "[PG ", " (").value_or("") : name);
}

/// Seconds since the year began, months counted as 31 days, of "[E1127 04:46:50.616 …"; none in 2.1 and
/// older.
std::optional<double> time_of(std::string_view line) {
  for (std::size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
    const std::string_view stamp = line.substr(at + 1);
    const std::size_t space = stamp.find(' ');
    if (stamp.empty() || std::string_view("EWIF").find(stamp.front()) == std::string_view::npos) continue;
    if (space > 5 || stamp.size() < space + 9) continue;
    const auto date = parse_integer(stamp.substr(1, space - 1), 0, 1231);
    const auto hours = parse_integer(stamp.substr(space + 1, 2), 0, 23);
    const auto minutes = parse_integer(stamp.substr(space + 4, 2), 0, 59);
    const auto seconds = parse_integer(stamp.substr(space + 7, 2), 0, 60);
    if (!date || !hours || !minutes || !seconds) continue;
    const std::int64_t days = *date / 100 * 31 + *date % 100;
    return static_cast<double>(((days * 24 + *hours) * 60 + *minutes) * 60 + *seconds);
  }
  return std::nullopt;
}

/// What a line says of a rank; others are left out.
struct WatchdogLine {
  EvidenceLine line;
  int rank = 0;
  std::string group;  ///< empty: not named
  double time = 0;    ///< seconds; the number of the line where no line has a time
  bool timed_out = false;
  bool failed = false;    ///< or timed out
  std::int64_t call = 0;  ///< the number of the one that it speaks of; 0: of none
  std::optional<std::int64_t> enqueued;
  std::int64_t completed = 0;
  std::string error;         ///< that is not for want of the others; empty: none
  bool has_symptom = false;  ///< an error that is
};

/// Also of a rank that had no timeout, and was told of another's: "Last enqueued NCCL work: -1" is none.
void note_progress(WatchdogLine& said) {
  for (const std::string_view noun : {"NCCL work: ", "work: "}) {
    const auto enqueued = count_behind(said.line.text, fmt::format("ast enqueued {}", noun));
    if (!enqueued) continue;
    const auto completed = count_behind(said.line.text, fmt::format("last completed {}", noun));
    said.enqueued = std::max<std::int64_t>(0, *enqueued);
    // In 2.3 a rank without a completed collective wrote memory that was never set.
    said.completed = completed && *completed <= *said.enqueued ? std::max<std::int64_t>(0, *completed) : 0;
    return;
  }
}

/// Whether an error is what other ranks see of the one that failed.
bool is_symptom(std::string_view error) {
  constexpr std::array<std::string_view, 10> kSymptoms{"collective operation timeout",
                                                       "remote process",
                                                       "communicator was aborted",
                                                       "Connection reset",
                                                       "Connection closed",
                                                       "Broken pipe",
                                                       "got 0 bytes",
                                                       "waiting for clients",
                                                       "wait timeout after",
                                                       "socket has timed out"};
  return has_one_of(error, kSymptoms);
}

/// The last line of a Python traceback as torchrun prints it, "[rank6]: torch.OutOfMemoryError: CUDA out of
/// …".
std::string python_error(std::string_view line) {
  const std::string_view said = trim(text_behind(text_behind(line, "[rank").value_or(""), "]:").value_or(""));
  return is_exception(said) ? std::string(said) : "";
}

std::optional<WatchdogLine> watchdog_line(const EvidenceLine& line) {
  const auto rank = rank_of(line.text);
  if (!rank) return std::nullopt;
  WatchdogLine said;
  said.line = line;
  said.rank = *rank;
  said.group = group_of(line.text);
  note_progress(said);
  if (const auto call = count_behind(line.text, "WorkNCCL(SeqNum=")) {
    const std::string_view exception = text_behind(line.text, "following async exception: ").value_or("");
    said.timed_out = has_text(line.text, "timeout:");
    said.failed = said.timed_out || !exception.empty();
    said.call = *call;
    said.error = exception;
  } else {
    for (const std::string_view before : {"at work: ", "work sequence id: ", "at NCCL work: "})
      said.call = std::max(said.call, count_behind(line.text, before).value_or(0));
    said.error = text_behind(line.text, "thread terminated with exception: ").value_or("");
    if (said.error.empty()) said.error = python_error(line.text);
  }
  said.has_symptom = is_symptom(said.error);
  if (said.has_symptom) said.error.clear();
  // What that says of progress is of the default group, whichever writes it.
  if (has_text(line.text, "Received a dump signal")) said.group = "0";
  const bool speaks =
      said.failed || said.enqueued || said.call > 0 || !said.error.empty() || said.has_symptom;
  return speaks ? std::optional(said) : std::nullopt;
}

/// The line of a timeout does not name its group; the next one of the same rank and call that no timeout has
/// taken does.
void name_groups(std::vector<WatchdogLine>& lines) {
  using RankAndCall = std::pair<int, std::int64_t>;
  std::map<int, std::string> by_rank;
  std::map<RankAndCall, std::deque<std::size_t>> naming;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].group.empty()) continue;
    by_rank.try_emplace(lines[i].rank, lines[i].group);
    if (!lines[i].failed) naming[{lines[i].rank, lines[i].call}].push_back(i);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    WatchdogLine& own = lines[i];
    if (!own.group.empty()) continue;
    if (const auto named = naming.find({own.rank, own.call}); own.failed && named != naming.end()) {
      std::deque<std::size_t>& next = named->second;
      while (!next.empty() && next.front() < i) next.pop_front();
      if (!next.empty()) {
        own.group = lines[next.front()].group;
        next.pop_front();
      }
    }
    if (own.group.empty() && by_rank.contains(own.rank)) own.group = by_rank.at(own.rank);
    // Where only some ranks name theirs, those of one log are of one.
    if (own.group.empty() && !by_rank.empty()) own.group = by_rank.begin()->second;
  }
}

std::vector<WatchdogLine> watchdog_lines(const std::vector<EvidenceLine>& lines) {
  std::vector<WatchdogLine> all;
  bool names_error = false;  // behind "Last error:", which stands below an exception of NCCL's
  for (const EvidenceLine& line : lines) {
    if (names_error && !all.empty() && !all.back().error.empty())
      all.back().error += fmt::format(": {}", line.text);
    names_error = line.text == "Last error:";
    std::optional<WatchdogLine> said = watchdog_line(line);
    if (!said) continue;
    said->time = time_of(line.text).value_or(all.empty() ? 0 : all.back().time);
    all.push_back(std::move(*said));
  }
  name_groups(all);
  return all;
}

/// Of each line, how many incidents its rank had written of before: the calls of a process are numbered
/// upward, and it ends some minutes after its first timeout, so what contradicts that is of a process that
/// was started later.
std::vector<std::size_t> incidents_by_rank(const std::vector<WatchdogLine>& lines) {
  constexpr double kMaxSeconds = 900;  // from a timeout to the end of its process
  struct Known {
    std::size_t incident = 0;
    std::map<std::string, WatchdogLine> failed;
    std::map<std::string, std::int64_t> enqueued;
    std::map<std::string, std::int64_t> completed;
  };
  std::map<int, Known> by_rank;
  std::vector<std::size_t> incidents;
  for (const WatchdogLine& each : lines) {
    Known& known = by_rank[each.rank];
    const auto before = known.failed.find(each.group);
    const auto progress = known.enqueued.find(each.group);
    const bool fails_again =
        each.failed && before != known.failed.end() &&
        (each.time - before->second.time > kMaxSeconds || each.call < before->second.call);
    const bool goes_back =
        (each.enqueued && progress != known.enqueued.end() && *each.enqueued < progress->second) ||
        (each.failed && known.completed.contains(each.group) && each.call <= known.completed[each.group]);
    if (fails_again || goes_back)
      known = {.incident = known.incident + 1, .failed = {}, .enqueued = {}, .completed = {}};
    if (each.failed) known.failed.insert_or_assign(each.group, each);
    if (each.enqueued) {
      known.enqueued[each.group] = *each.enqueued;
      known.completed[each.group] = each.completed;
    }
    incidents.push_back(known.incident);
  }
  return incidents;
}

/// Of each line, the number of the job's incident. A rank that wrote of fewer of them than others wrote of
/// those that its times are next to.
std::vector<std::size_t> incidents_of(const std::vector<WatchdogLine>& lines) {
  std::vector<std::size_t> own = incidents_by_rank(lines);
  const std::size_t last = own.empty() ? 0 : *std::ranges::max_element(own);
  if (last == 0) return own;
  std::set<int> have_all;
  std::map<std::pair<int, std::size_t>, double> begins;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    begins.try_emplace({lines[i].rank, own[i]}, lines[i].time);
    if (own[i] == last) have_all.insert(lines[i].rank);
  }
  std::vector<double> starts(last + 1, std::numeric_limits<double>::max());
  for (const auto& [of, begin] : begins)
    if (have_all.contains(of.first)) starts[of.second] = std::min(starts[of.second], begin);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (have_all.contains(lines[i].rank)) continue;
    const double begin = begins.at({lines[i].rank, own[i]});
    const auto nearest = std::ranges::min_element(
        starts, [&](double a, double b) { return std::abs(a - begin) < std::abs(b - begin); });
    own[i] = static_cast<std::size_t>(nearest - starts.begin());
  }
  return own;
}

std::string ranks_in_words(const std::set<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", number_ranges({ranks.begin(), ranks.end()}));
}

/// "1 element"; empty where it is not known.
std::string elements_in_words(const std::string& elements) {
  return elements.empty() ? ""
                          : fmt::format(" ({} element{})", excerpt(elements, 20), elements == "1" ? "" : "s");
}

/// Ranks by the collective in which they wait: its number, its name, its elements.
using Waiting = std::map<std::tuple<std::int64_t, std::string, std::string>, std::set<int>>;

std::string conclusion(const std::string& name, const WatchdogGroup& group, const Waiting& waiting) {
  const std::int64_t earliest = std::get<0>(waiting.begin()->first);
  std::set<int> behind;
  std::set<int> all;
  for (const auto& [rank, seen] : group.ranks)
    if (seen.call > 0) {
      all.insert(rank);
    } else if (seen.enqueued >= 0 && seen.enqueued < earliest) {
      behind.insert(rank);
    }
  if (std::ranges::any_of(waiting,
                          [](const auto& each) { return is_point_to_point(std::get<1>(each.first)); }))
    return "sends and receives are of two ranks each, and these lines do not name the other one";
  if (group.ranks.size() == 1)
    return fmt::format("nothing is here of other ranks: their logs say whether one is behind rank {}",
                       group.ranks.begin()->first);
  if (!behind.empty()) return ranks_in_words(behind) + " never issued it: behind the others";
  if (earliest < std::get<0>(waiting.rbegin()->first))
    return fmt::format("the ranks wait in different calls: {} in the earliest is behind",
                       ranks_in_words(waiting.begin()->second));
  const auto differs = [first = waiting.begin()->first](const auto& each) {
    const auto& [call, operation, elements] = each.first;
    return operation != std::get<1>(first) ||
           (!may_differ_in_sizes(operation) && elements != std::get<2>(first));
  };
  if (std::ranges::any_of(waiting, differs))
    return "the ranks disagree on which collective it is, or on its size: the program took different ways on "
           "them (uneven data, a branch, work of one rank alone), not the network";
  const std::set<int> silent = missing_ranks(name, group);
  if (earliest == 1 && silent.empty())
    return ranks_in_words(all) +
           " wait in the first collective of this group: what joins them may not work (in a node P2P, ACS or "
           "the "
           "IOMMU: NCCL_P2P_DISABLE=1 to confirm; between nodes the interface, a firewall, RDMA), or a rank "
           "left "
           "nothing of this group here";
  return fmt::format(
      "{} {} not behind the others by {} calls: {} left nothing of this group here, or a link or a GPU",
      ranks_in_words(all), all.size() == 1 ? "is" : "are", all.size() == 1 ? "its" : "their",
      silent.empty() ? "a rank that" : ranks_in_words(silent) + ", which");
}

/// What is found in a group, if any of its ranks had a timeout; behind `prefix`.
void observe(const std::string& name, const WatchdogGroup& group, const std::map<int, EvidenceLine>& errors,
             const std::string& prefix, std::vector<DoctorObservation>& found) {
  Waiting waiting;
  for (const auto& [rank, seen] : group.ranks)
    if (seen.call > 0 && !errors.contains(rank))
      waiting[{seen.call, seen.operation, seen.elements}].insert(rank);
  for (const auto& [each, ranks] : waiting) {
    const auto& [call, operation, elements] = each;
    const WatchdogRank& first = group.ranks.at(*ranks.begin());
    found.push_back({fmt::format("{}{} {} in {} {}{}{}", prefix, ranks_in_words(ranks),
                                 ranks.size() == 1 ? "waits" : "wait", excerpt(operation, 40), call,
                                 elements_in_words(elements),
                                 first.enqueued >= 0 ? fmt::format(": last enqueued {}, last completed {}",
                                                                   first.enqueued, first.completed)
                                                     : ""),
                     group.location});
  }
  for (const auto& [rank, line] : errors)
    found.push_back(
        {fmt::format("{}rank {} failed: {}", prefix, rank, excerpt(line.text, 160)), line.location});
  if (!errors.empty() || waiting.empty()) return;
  found.push_back({prefix + conclusion(name, group, waiting), group.location});
  const auto& [call, operation, elements] = waiting.begin()->first;
  constexpr std::int64_t kMaxFirstCalls = 10;
  const bool may_be_barrier = operation == "ALLREDUCE" || operation == "BARRIER";
  if (waiting.size() == 1 && may_be_barrier && call <= kMaxFirstCalls && elements == "1")
    found.push_back({prefix + "one element, among the first calls: this may be a barrier, for which a rank "
                              "is late that still loads, tokenizes, compiles or downloads; do that before "
                              "the job, or raise timeout= of init_process_group",
                     group.location});
}

/// What TORCH_NCCL_DESYNC_DEBUG=1 adds (PyTorch, TraceUtils.h, retrieveDesyncReport): "[1] finished
/// collective #3, but didn't join collective #4 (count from 1)" and "ranks [2, 3] are the lagging ranks that
/// caused this timeout. They never joined any collectives". Empty for other lines.
std::string ranks_that_did_not_join(std::string_view line) {
  const std::string_view ranks = text_behind(line, "[", "]").value_or("");
  if (ranks.empty() || ranks.find_first_not_of("0123456789, ") != std::string_view::npos) return {};
  const std::string_view rest = *text_behind(line, "[");
  if (rest.substr(ranks.size()).starts_with("] are the lagging ranks that caused this timeout"))
    return fmt::format("by PyTorch's desync report ranks [{}] never joined a collective", ranks);
  const auto finished = number_behind(rest, "] finished collective #");
  const auto missed = number_behind(rest, ", but didn't join collective #");
  if (!finished || !missed) return {};
  return fmt::format(
      "by PyTorch's desync report ranks [{}] finished collective {} and did not join collective {}", ranks,
      *finished, *missed);
}

}  // namespace

bool is_point_to_point(std::string_view operation) {
  const std::string name = folded_operation(operation);
  return name.starts_with("send") || name.starts_with("recv");
}

bool may_differ_in_sizes(std::string_view operation) {
  const std::string name = folded_operation(operation);
  return name.starts_with("alltoall") || name.starts_with("scatter") || name.starts_with("coalesced") ||
         name.ends_with("v");
}

std::string folded_operation(std::string_view operation) {
  std::string name = lower(operation);
  std::erase(name, '_');
  return name;
}

std::map<int, EvidenceLine> WatchdogIncident::errors_in(const std::string& group) const {
  const auto own = groups.find(group);
  std::map<int, EvidenceLine> found;
  for (const auto& [rank, line] : errors)  // the default group has all ranks
    if (groups.size() == 1 || group == "0" || (own != groups.end() && own->second.ranks.contains(rank)))
      found.emplace(rank, line);
  return found;
}

std::vector<EvidenceLine> lines_of_watchdog(const std::vector<EvidenceLine>& lines) {
  std::vector<EvidenceLine> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool behind_error = i > 0 && lines[i - 1].text == "Last error:";
    if (behind_error || lines[i].text == "Last error:" || watchdog_line(lines[i])) found.push_back(lines[i]);
  }
  return found;
}

std::vector<WatchdogIncident> watchdog_incidents(const std::vector<EvidenceLine>& evidence) {
  const std::vector<WatchdogLine> lines = watchdog_lines(evidence);
  const std::vector<std::size_t> incidents = incidents_of(lines);
  std::vector<WatchdogIncident> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const WatchdogLine& said = lines[i];
    if (incidents[i] >= found.size()) found.resize(incidents[i] + 1);
    WatchdogIncident& incident = found[incidents[i]];
    if (!said.error.empty())
      incident.errors.try_emplace(said.rank,
                                  EvidenceLine{.text = said.error, .location = said.line.location});
    if (!said.failed && !said.enqueued && !said.has_symptom) continue;
    WatchdogGroup& group = incident.groups[said.group];
    if (group.description.empty())
      group.description = text_behind(said.line.text, "PG GUID " + said.group + "(", ")").value_or("");
    WatchdogRank& own = group.ranks[said.rank];
    if (said.enqueued) {
      own.enqueued = *said.enqueued;
      own.completed = said.completed;
    }
    if (!said.failed || own.call > 0) continue;
    if (said.timed_out && group.location.empty()) group.location = said.line.location;
    own.call = said.call;
    own.number = number_in_group(said.line.text);
    own.operation = text_behind(said.line.text, "OpType=", ",)").value_or("");
    own.elements = text_behind(said.line.text, "NumelIn=", ",)").value_or("");
    if (own.elements == "18446744073709551615") own.elements.clear();  // -1: of several calls together
  }
  return found;
}

std::set<int> missing_ranks(const std::string& name, const WatchdogGroup& group) {
  constexpr std::int64_t kMaxMissing = 64;  // more are of another job, or of no interest
  constexpr std::int64_t kMinForSteps = 3;  // through two numbers any steps lead
  const bool has_all_ranks = name == "0";
  std::map<std::int64_t, std::int64_t> by_number;
  for (const auto& [rank, seen] : group.ranks)
    if (const int number = has_all_ranks ? rank : seen.number; number >= 0) by_number.emplace(number, rank);
  const auto count = static_cast<std::int64_t>(by_number.size());
  if (count < (has_all_ranks ? 1 : kMinForSteps)) return {};
  const auto [first, first_rank] = *by_number.begin();
  const auto [last, last_rank] = *by_number.rbegin();
  if (last + 1 - count > kMaxMissing) return {};
  const std::int64_t step = has_all_ranks ? 1 : (last_rank - first_rank) / (last - first);
  std::set<int> missing;
  // Before the first number the steps are not known to go on.
  for (std::int64_t number = has_all_ranks ? 0 : first; number <= last; ++number) {
    const std::int64_t rank = first_rank + (number - first) * step;
    const auto known = by_number.find(number);
    if (rank < 0 || step < 1 || (known != by_number.end() && known->second != rank)) return {};
    if (known == by_number.end() && !group.ranks.contains(static_cast<int>(rank)))
      missing.insert(static_cast<int>(rank));
  }
  return missing;
}

DoctorVerdict look_at_watchdog(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const std::vector<WatchdogIncident> incidents = watchdog_incidents(evidence.of("nccl-log"));
  for (std::size_t i = 0; i < incidents.size(); ++i) {
    const std::string prefix =
        incidents.size() > 1 ? fmt::format("incident {} of {}: ", i + 1, incidents.size()) : "";
    for (const auto& [name, group] : incidents[i].groups)
      if (!group.location.empty()) observe(name, group, incidents[i].errors_in(name), prefix, found);
  }
  std::set<std::string> desynced;  // each rank's report says the same
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (std::string words = ranks_that_did_not_join(line.text); !words.empty())
      if (desynced.insert(words).second) found.push_back({std::move(words), line.location});
  if (found.empty())  // in a form that does not name its rank
    if (const EvidenceLine* line =
            first_line_with(evidence.of("nccl-log"), "Watchdog caught collective operation timeout"))
      found.push_back(quoted(*line));
  return found_in(evidence, "nccl-log", found);
}

}  // namespace collbench::topology
