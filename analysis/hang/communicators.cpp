#include "analysis/hang/communicators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include "base/document/text_layout.hpp"
#include "base/units.hpp"
#include "topology/doctor/watchdog_lines.hpp"

namespace collbench::analysis {
namespace {

using Members = std::vector<CommunicatorMember>;
using CallCountsByName = std::map<std::string, std::uint64_t>;

constexpr std::size_t kMaxGroups = 4;  // of ranks that differ, in one sentence
constexpr std::string_view kLeftNothing = "left nothing of this group here";

template <class Predicate>
Members members_that(const Communicator& communicator, const Predicate& is_one) {
  Members found;
  std::ranges::copy_if(communicator.members, std::back_inserter(found), is_one);
  return found;
}

std::vector<int> ranks_of(const Members& members) {
  std::vector<int> ranks;
  for (const CommunicatorMember& each : members) ranks.push_back(each.rank);
  return ranks;
}

void sort_by_size(std::vector<Members>& groups) {
  std::ranges::sort(groups, {},
                    [](const Members& group) { return std::pair(group.size(), group.front().rank); });
}

/// "rank 2", "ranks 0-1, 3".
std::string ranks_text(const Members& members) {
  return fmt::format("{} {}", members.size() == 1 ? "rank" : "ranks", number_ranges(ranks_of(members)));
}

/// Of one: " (node1, process 12)", as far as it is known.
std::string where(const Members& members) {
  if (members.size() != 1) return "";
  const CommunicatorMember& only = members.front();
  const std::string process = only.pid > 0 ? fmt::format("process {}", only.pid) : "";
  if (only.host.empty() && process.empty()) return "";
  return fmt::format(" ({}{}{})", only.host, only.host.empty() || process.empty() ? "" : ", ", process);
}

/// Whether both can be in one and the same call. A log does not name the call of a rank that had no timeout.
bool is_same_call(const CommunicatorMember& a, const CommunicatorMember& b) {
  if (a.call != b.call) return false;
  if (a.operation.empty() || b.operation.empty()) return true;
  return a.operation == b.operation && (a.sizes == b.sizes || topology::may_differ_in_sizes(a.operation));
}

/// "all_reduce (1048576 Float)", of ranks in the same call; their sizes where they are the same.
std::string operation_text(const Members& members) {
  const auto named = std::ranges::find_if(members, [](const auto& each) { return !each.operation.empty(); });
  const CommunicatorMember& first = named == members.end() ? members.front() : *named;
  const bool alike = std::ranges::all_of(
      members, [&](const auto& each) { return each.sizes == first.sizes || each.operation.empty(); });
  return !alike || first.sizes.empty() ? first.operation
                                       : fmt::format("{} ({})", first.operation, first.sizes);
}

/// "call 412, all_reduce (1048576 Float)".
std::string call_text(const Members& members) {
  const std::string operation = operation_text(members);
  return fmt::format("call {}{}{}", members.front().call, operation.empty() ? "" : ", ", operation);
}

/// "67 AllReduce", "1 collective call".
std::string calls_text(std::uint64_t count, std::string_view operation) {
  return fmt::format("{} {}", count, count == 1 && operation == kAnyCalls ? "collective call" : operation);
}

/// "86 Broadcast, 67 AllReduce", without what was never called.
std::string begun_text(const CallCountsByName& begun) {
  std::vector<std::string> counts;
  for (const auto& [operation, count] : begun)
    if (count > 0) counts.push_back(calls_text(count, operation));
  return counts.empty() ? "no collective call" : fmt::format("{}", fmt::join(counts, ", "));
}

std::string state_text(const CommunicatorMember& member) {
  std::string text;
  switch (member.presence) {
    case MemberPresence::silent:
      return "no answer";
    case MemberPresence::outside:
      return "without this communicator";
    case MemberPresence::dead:
      return "considered dead";
    case MemberPresence::no_dump:
      return std::string(kLeftNothing);
    case MemberPresence::seen:
      break;
  }
  text = member.call > 0 ? fmt::format("in {}{}{}", call_text({member}), member.progress.empty() ? "" : ", ",
                                       member.progress)
         : member.begun.empty() ? "calls not known"
                                : begun_text(member.begun) + " begun";
  return member.error.empty() ? text : fmt::format("{}; it reports: {}", text, member.error);
}

/// Ranks for which `is_alike` holds together, each group from its lowest rank on.
template <class IsAlike>
std::vector<Members> groups_of(const Members& members, const IsAlike& is_alike) {
  std::vector<Members> groups;
  for (const CommunicatorMember& member : members) {
    const auto own =
        std::ranges::find_if(groups, [&](const Members& group) { return is_alike(group.front(), member); });
    (own == groups.end() ? groups.emplace_back() : *own).push_back(member);
  }
  return groups;
}

/// "; ranks 0-1, 3 wait in call 412, all_reduce", of the seen ones that are in a call and not to blame.
std::string waiting_text(const Communicator& communicator, const std::vector<int>& blamed) {
  const Members waiting = members_that(communicator, [&](const CommunicatorMember& each) {
    return each.presence == MemberPresence::seen && each.call > 0 &&
           std::ranges::find(blamed, each.rank) == blamed.end();
  });
  constexpr std::size_t kShown = 3;
  const std::vector<Members> groups = groups_of(waiting, is_same_call);
  if (groups.size() > kShown)
    return fmt::format("; {} wait in {} different calls", ranks_text(waiting), groups.size());
  std::string text;
  for (const Members& group : groups)
    text += fmt::format("{} {} {} in {}", text.empty() ? ";" : ",", ranks_text(group),
                        group.size() == 1 ? "waits" : "wait", call_text(group));
  return text;
}

HangFinding blamed(const Communicator& communicator, HangCause cause, const Members& members,
                   const std::string& what) {
  const std::vector<int> ranks = ranks_of(members);
  return {
      cause, ranks,
      fmt::format("{}{} {}{}", ranks_text(members), where(members), what, waiting_text(communicator, ranks))};
}

const char* singular(const Members& members, const char* one, const char* many) {
  return members.size() == 1 ? one : many;
}

/// Of ranks that report errors. When a rank fails, NCCL has the others report "remote process error": theirs
/// is the symptom, and who reports another error is to blame.
HangFinding failed_ranks(const Communicator& communicator, const Members& failed) {
  const auto is_symptom = [](const CommunicatorMember& each) {
    constexpr std::string_view kSymptom = "emote process error";  // NCCL's text begins in upper case
    return each.error.size() == kSymptom.size() + 1 && each.error.ends_with(kSymptom);
  };
  Members causes;
  Members symptoms;
  std::partition_copy(failed.begin(), failed.end(), std::back_inserter(symptoms), std::back_inserter(causes),
                      is_symptom);
  Members sorted = causes;
  sorted.insert(sorted.end(), symptoms.begin(), symptoms.end());
  std::vector<std::string> reports;
  for (const Members& group :
       groups_of(sorted, [](const auto& a, const auto& b) { return a.error == b.error; }))
    reports.push_back(fmt::format("{}{} {}: {}", ranks_text(group), where(group),
                                  singular(group, "reports", "report"), group.front().error));
  return {HangCause::rank_failed, ranks_of(causes.empty() ? failed : causes),
          fmt::format("{}{}", fmt::join(reports, "; "), waiting_text(communicator, ranks_of(failed)))};
}

std::uint64_t sum_of(const CallCountsByName& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.second; });
}

/// The operation of which fewer calls were begun than elsewhere: "66 AllReduce, others 67".
std::string counts_apart(const CallCountsByName& behind, const CallCountsByName& ahead) {
  for (const auto& [operation, count] : ahead) {
    const auto own = behind.find(operation);
    const std::uint64_t fewer = own == behind.end() ? 0 : own->second;
    if (fewer < count) return fmt::format("{}, others {}", calls_text(fewer, operation), count);
  }
  return fmt::format("{} calls, others {}", sum_of(behind), sum_of(ahead));
}

/// Whether one of two ranks may have come as far as the other in every operation that both counts have:
/// always, if they make the same calls in the same order.
bool are_comparable(const CallCountsByName& a, const CallCountsByName& b) {
  bool a_leads = false;
  bool b_leads = false;
  for (const auto& [operation, count] : a) {
    const auto other = b.find(operation);
    if (other == b.end()) continue;
    a_leads = a_leads || count > other->second;
    b_leads = b_leads || count < other->second;
  }
  return !a_leads || !b_leads;
}

/// Of groups by their size: the ranks of those that are smaller than the largest, ascending.
std::vector<int> ranks_of_few(const std::vector<Members>& groups) {
  std::vector<int> few;
  for (const Members& group : groups)
    if (group.size() < groups.back().size())
      for (const CommunicatorMember& each : group) few.push_back(each.rank);
  std::ranges::sort(few);
  return few;
}

/// Ranks that have begun different operations: "rank 5 has begun 4 AllGather, 40 AllReduce; ranks 0-4 3
/// AllGather, 41 AllReduce". None where their counts leave it open.
std::optional<HangFinding> operations_that_differ(const Communicator& communicator, const Members& seen) {
  std::map<CallCountsByName, Members> by_counts;
  for (const CommunicatorMember& each : seen) by_counts[each.begun].push_back(each);
  std::vector<Members> groups;
  for (auto& [counts, members] : by_counts) groups.push_back(std::move(members));
  // Of ranks that make the same calls, who has made more has made no fewer of any operation.
  std::ranges::sort(groups,
                    [](const Members& a, const Members& b) { return a.front().calls() < b.front().calls(); });
  const CallCountsByName& others = communicator.begun_by_others;
  bool differ = false;
  for (std::size_t i = 0; i < groups.size(); ++i)
    differ = differ || !are_comparable(groups[i].front().begun, others) ||
             (i > 0 && !are_comparable(groups[i - 1].front().begun, groups[i].front().begun));
  if (!differ) return std::nullopt;
  sort_by_size(groups);
  std::vector<std::string> texts;
  for (const Members& group : groups | std::views::take(kMaxGroups))
    texts.push_back(fmt::format("{}{} {} begun {}", ranks_text(group), where(group),
                                singular(group, "has", "have"), begun_text(group.front().begun)));
  if (!others.empty()) texts.push_back("others " + begun_text(others));
  return HangFinding{HangCause::calls_differ, others.empty() ? ranks_of_few(groups) : ranks_of(seen),
                     fmt::format("ranks called different operations: {}", fmt::join(texts, "; "))};
}

/// Ranks in calls of one number that are not the same. Who made the mistake is not known: those who are fewer
/// than others are the likelier ones.
HangFinding calls_that_differ(const Members& inside) {
  std::vector<Members> groups = groups_of(inside, is_same_call);
  sort_by_size(groups);
  std::vector<std::string> texts;
  for (const Members& group : groups | std::views::take(kMaxGroups))
    texts.push_back(fmt::format("{} {}in {}", ranks_text(group),
                                texts.empty() ? singular(group, "is ", "are ") : "", call_text(group)));
  const std::string more = groups.size() > kMaxGroups
                               ? fmt::format(", and others in {} more calls", groups.size() - kMaxGroups)
                               : "";
  return {HangCause::calls_differ, ranks_of_few(groups), fmt::format("{}{}", fmt::join(texts, ", "), more)};
}

/// Where the ranks that are listed do not differ: `seen` says so, unless the tool says that something is
/// wrong.
HangFinding nothing_found(const Communicator& communicator, const std::string& seen) {
  std::string text = seen;
  if (!communicator.verdict.empty()) {
    text = fmt::format(
        "NCCL says {}, and which ranks that is of cannot be told from what is listed here; give all of its "
        "answer to: ncclras -v",
        communicator.verdict);
  } else if (!communicator.status.empty() && communicator.status != "RUNNING") {
    text = fmt::format("{}; NCCL has them in {}", seen, communicator.status);
  }
  return {HangCause::not_known, {}, std::move(text)};
}

Json member_json(const CommunicatorMember& member) {
  constexpr std::array<std::string_view, 5> kPresence{"seen", "silent", "outside", "dead", "no dump"};
  return {{"rank", member.rank},
          {"host", member.host},
          {"pid", member.pid},
          {"presence", kPresence.at(static_cast<std::size_t>(member.presence))},
          {"begun", member.begun},
          {"call", member.call},
          {"operation", operation_text({member})},
          {"progress", member.progress},
          {"error", member.error}};
}

/// The first rank of a communicator that cannot have it: NCCL's RAS of 2.27.3 lists groups that are not
/// there, with 0 ranks and numbers out of memory that was never set (nccl#1762).
const CommunicatorMember* impossible_rank(const Communicator& communicator) {
  const auto& members = communicator.members;
  const bool empty = communicator.size == 0 && communicator.status == "NOCOMM";
  const auto found = std::ranges::find_if(members, [&](const CommunicatorMember& each) {
    // Only RAS has a status; of PyTorch's dumps the size may be that of what is there.
    return empty || each.rank < 0 ||
           (!communicator.status.empty() && communicator.size > 0 && each.rank >= communicator.size);
  });
  return found == members.end() ? nullptr : &*found;
}

/// Those that have begun as few calls as `least`; `without` a dump, one of which they may wait for.
HangFinding ranks_behind(const Communicator& communicator, const CommunicatorMember& least,
                         const CallCountsByName& ahead, const Members& without) {
  const Members behind = members_that(
      communicator, [&](const auto& each) { return !each.begun.empty() && each.calls() == least.calls(); });
  const bool waits = std::ranges::any_of(behind, [](const auto& each) { return each.call > 0; });
  if (waits && !without.empty())
    return blamed(communicator, HangCause::rank_missing, without, std::string(kLeftNothing));
  HangFinding finding =
      blamed(communicator, HangCause::rank_behind, behind,
             fmt::format("{} begun {}", singular(behind, "has", "have"), counts_apart(least.begun, ahead)));
  if (!without.empty()) finding.text += fmt::format("; {} {}", ranks_text(without), kLeftNothing);
  return finding;
}

/// find_hang() without the name of the communicator.
HangFinding cause_of(const Communicator& communicator) {
  if (const CommunicatorMember* impossible = impossible_rank(communicator))
    return {HangCause::not_known,
            {},
            fmt::format("rank {} of {} ranks is nonsense that NCCL's RAS writes{}", impossible->rank,
                        communicator.size, communicator.size == 0 ? " of a group that is not there" : "")};
  const auto is = [&](MemberPresence presence) {
    return members_that(communicator, [&](const auto& each) { return each.presence == presence; });
  };
  const Members seen = is(MemberPresence::seen);
  const Members dead = is(MemberPresence::dead);
  if (!dead.empty())
    return blamed(communicator, HangCause::rank_gone, dead, singular(dead, "is dead", "are dead"));
  const Members failed = members_that(communicator, [](const auto& each) { return !each.error.empty(); });
  const std::optional<HangFinding> apart =
      seen.empty() ? std::nullopt : operations_that_differ(communicator, seen);
  if (!failed.empty()) {
    const HangFinding finding = failed_ranks(communicator, failed);
    if (!apart) return finding;
    return {apart->cause, apart->ranks, fmt::format("{}; {}", apart->text, finding.text)};
  }
  if (apart) return *apart;
  const Members silent = is(MemberPresence::silent);
  if (!silent.empty()) {
    return blamed(
        communicator, HangCause::rank_missing, silent,
        fmt::format("{} heard of: stopped, gone, or cut off", singular(silent, "is not", "are not")));
  }
  if (const Members outside = is(MemberPresence::outside); !outside.empty()) {
    return blamed(communicator, HangCause::rank_missing, outside,
                  singular(outside, "answers, and does", "answer, and do") +
                      std::string(" not have this communicator"));
  }
  const Members without = is(MemberPresence::no_dump);
  if (seen.empty() && without.empty()) return nothing_found(communicator, "no rank differs from the others");
  if (seen.empty()) return blamed(communicator, HangCause::rank_missing, without, std::string(kLeftNothing));

  const Members inside = members_that(communicator, [](const auto& each) { return each.call > 0; });
  if (std::ranges::any_of(inside,
                          [](const auto& each) { return topology::is_point_to_point(each.operation); })) {
    return {HangCause::not_known,
            {},
            fmt::format("{} {} in sends and receives, which are of two ranks each; the lines do not name "
                        "the other one",
                        ranks_text(inside), singular(inside, "waits", "wait"))};
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.calls() < b.calls(); };
  const Members counted = members_that(communicator, [](const auto& each) {
    return each.presence == MemberPresence::seen && !each.begun.empty();
  });
  if (counted.empty()) return nothing_found(communicator, "what its ranks have called is not known");
  const auto [least, most] = std::ranges::minmax_element(counted, fewer);
  const CallCountsByName& others = communicator.begun_by_others;
  const CallCountsByName& ahead = sum_of(others) > most->calls() ? others : most->begun;
  if (least->calls() < sum_of(ahead)) return ranks_behind(communicator, *least, ahead, without);
  if (!without.empty())
    return blamed(communicator, HangCause::rank_missing, without, std::string(kLeftNothing));
  if (!others.empty() && sum_of(others) < least->calls()) {
    return {HangCause::rank_behind,
            {},
            fmt::format("ranks that are not listed have begun {}", counts_apart(others, least->begun))};
  }
  if (inside.empty())
    return nothing_found(communicator, "all ranks have begun the same calls, and none is known to wait");
  const CommunicatorMember& first = *std::ranges::min_element(inside, {}, &CommunicatorMember::call);
  const Members waiting =
      members_that(communicator, [&](const auto& each) { return each.call == first.call; });
  if (!std::ranges::all_of(waiting, [&](const auto& each) { return is_same_call(each, first); }))
    return calls_that_differ(waiting);
  if (waiting.size() < seen.size()) {
    return {HangCause::not_seen_here, ranks_of(waiting),
            fmt::format("{} {} not ended {}, which the other ranks have", ranks_text(waiting),
                        singular(waiting, "has", "have"), call_text(waiting))};
  }
  return {HangCause::not_seen_here,
          {},
          fmt::format("{} {} in {}: {}a link, a GPU or a library hangs", ranks_text(seen),
                      singular(seen, "waits", "all wait"), call_text(waiting),
                      communicator.lists_all ? "" : fmt::format("a rank that {}, ", kLeftNothing))};
}

}  // namespace

std::uint64_t CommunicatorMember::calls() const { return sum_of(begun); }

HangFinding find_hang(const Communicator& communicator) {
  HangFinding found = cause_of(communicator);
  found.text = fmt::format("{}: {}", communicator.name, found.text);
  return found;
}

std::string communicators_text(const std::vector<Communicator>& communicators, int columns) {
  std::string text;
  for (const Communicator& each : communicators) {
    text += one_line(fmt::format("{}, {}", each.name, counted(each.size, "rank"))) + "\n";
    std::vector<std::pair<std::string, Members>> alike;
    for (const CommunicatorMember& member : each.members) {
      const std::string state = state_text(member);
      const auto known = std::ranges::find_if(alike, [&](const auto& entry) { return entry.first == state; });
      (known == alike.end() ? alike.emplace_back(state, Members{}) : *known).second.push_back(member);
    }
    for (const auto& [state, members] : alike)
      text +=
          wrap(fmt::format("{}{}: {}", ranks_text(members), where(members), state), columns, "  ", "    ");
    text += "\n";
  }
  for (const Communicator& each : communicators) text += wrap(find_hang(each).text, columns, "", "  ");
  return text;
}

std::string communicators_json(const std::vector<Communicator>& communicators) {
  Json json{{"communicators", Json::array()}};
  for (const Communicator& each : communicators) {
    const HangFinding finding = find_hang(each);
    Json entry{{"name", each.name}, {"size", each.size}, {"ranks", Json::array()}};
    for (const CommunicatorMember& member : each.members) entry["ranks"].push_back(member_json(member));
    entry["cause"] = name(finding.cause);
    entry["blamed_ranks"] = finding.ranks;
    entry["finding"] = finding.text;
    json["communicators"].push_back(std::move(entry));
  }
  return json_document(json, 1);
}

}  // namespace collbench::analysis
