#include "analysis/hang/hang.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/document/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMomentAgoSeconds = 2;  // a run that gets on hangs nowhere

using Ranks = std::vector<RankActivity>;

template <class Predicate>
Ranks those(const Ranks& ranks, const Predicate& is_one) {
  Ranks found;
  std::ranges::copy_if(ranks, std::back_inserter(found), is_one);
  return found;
}

std::vector<int> numbers(const Ranks& ranks) {
  std::vector<int> found;
  for (const RankActivity& rank : ranks) found.push_back(rank.rank);
  return found;
}

/// "inside AllReduce 1 MiB, call 412, pass 7"; "in calibration, waiting for other ranks".
std::string activity_phrase(const RankActivity& rank) {
  const std::string pass = rank.pass > 0 ? fmt::format(", pass {}", rank.pass) : "";
  if (rank.calls.inside()) return fmt::format("inside {}, call {}{}", rank.step, rank.call_of_step(), pass);
  const std::string calls =
      rank.call_of_step() > 0 ? fmt::format(", after {}", counted(rank.call_of_step(), "call")) : "";
  return fmt::format("in {}{}{}, {}", rank.step, calls, pass,
                     rank.exchanges.inside() ? "waiting for other ranks" : "not waiting for any rank");
}

std::string for_how_long(const RankActivity& rank) {
  return rank.idle_seconds ? fmt::format(", for {}", format_seconds(*rank.idle_seconds)) : "";
}

const char* is_or_are(const Ranks& ranks) { return ranks.size() == 1 ? "is" : "are"; }

/// "; ranks 0, 1 wait inside AllReduce 1 MiB, call 412", of all that wait; empty when none does.
std::string who_waits(const Ranks& ranks, const std::vector<int>& blamed) {
  const Ranks waiting = those(ranks, [&](const RankActivity& rank) {
    return rank.waits() && rank.process != ProcessState::gone &&
           std::ranges::find(blamed, rank.rank) == blamed.end();
  });
  if (waiting.empty()) return "";
  const std::string phrase = activity_phrase(waiting.front());
  const bool all_alike =
      std::ranges::all_of(waiting, [&](const RankActivity& rank) { return activity_phrase(rank) == phrase; });
  return fmt::format("; {} {}{}", rank_names(waiting), waiting.size() == 1 ? "waits" : "wait",
                     all_alike ? (waiting.front().calls.inside() ? " " : ": ") + phrase : "");
}

/// One rank with its GPU and NIC, where they are known: they are what a technician looks at.
std::string named_in_full(const Ranks& ranks) {
  if (ranks.size() != 1 || ranks.front().device.empty()) return rank_names(ranks);
  const RankActivity& rank = ranks.front();
  return fmt::format("rank {} ({}, {})", rank.rank, rank.host, rank.device);
}

/// "rank 2 (node1) is …", "ranks 2, 3 (node1) are …".
HangFinding blame(HangCause cause, const Ranks& all, const Ranks& blamed, const std::string& what) {
  const std::vector<int> ranks = numbers(blamed);
  return {cause, ranks,
          fmt::format("{} {} {}{}", named_in_full(blamed), is_or_are(blamed), what, who_waits(all, ranks))};
}

/// "0, 1" are there and the launcher started 4 in all on this only host: who is missing.
HangFinding missing_ranks(const Ranks& ranks, int local_ranks) {
  std::vector<int> missing;
  for (int rank = 0; rank < ranks.front().ranks; ++rank) {
    const auto has_it = [&](const RankActivity& each) { return each.rank == rank; };
    if (std::ranges::none_of(ranks, has_it)) missing.push_back(rank);
  }
  const std::string& host = ranks.front().host;
  const std::string waiting = who_waits(ranks, {});
  const bool began = std::ranges::any_of(ranks, [](const auto& rank) { return rank.steps > 1; });
  if (began) {  // all were there then
    return {HangCause::not_known,
            {},
            fmt::format("{} of the {} ranks of {} ended{}",
                        static_cast<std::size_t>(local_ranks) - ranks.size(), local_ranks, host, waiting)};
  }
  if (local_ranks != ranks.front().ranks) {  // which of all ranks this host should have is not known
    return {HangCause::rank_missing,
            {},
            fmt::format("{} of the {} ranks of {} started{}", ranks.size(), local_ranks, host, waiting)};
  }
  return {HangCause::rank_missing, missing,
          fmt::format("{} {} ({}) never started{}", missing.size() == 1 ? "rank" : "ranks",
                      number_ranges(missing), host, waiting)};
}

/// All have begun as many calls, and `through` are out of the last one. Nobody is to blame for that: a rank
/// may leave a rooted or an eager operation before the others have what they need, and what the others wait
/// for may be anybody's.
HangFinding some_are_through(const Ranks& ranks, const Ranks& through) {
  const Ranks inside = those(ranks, [](const auto& rank) { return rank.calls.inside(); });
  const bool one = inside.size() == 1;
  return {HangCause::rank_ahead,
          {},
          fmt::format("{} {} through with a call, {} {} still {}: a message to {} was lost or never sent, {} "
                      "hangs there, or a rank skipped a call",
                      rank_names(through), is_or_are(through), rank_names(inside), is_or_are(inside),
                      activity_phrase(inside.front()), one ? "it" : "them", one ? "it" : "one of them")};
}

/// Of ranks that all run and wait, of which those of other hosts are known by what these report to the host
/// `here`: whether two others hear each other is not known. Empty where there is one host.
std::string between_hosts(const Ranks& ranks, const std::string& here) {
  std::set<std::string> hosts;
  for (const RankActivity& rank : ranks) hosts.insert(rank.host);
  if (here.empty() || hosts.size() < 2) return "";
  constexpr std::size_t kMaxNames = 4;
  return fmt::format(
      " between {}, {} on the launcher's network",
      hosts.size() > kMaxNames ? fmt::format("{} hosts", hosts.size())
                               : fmt::format("hosts {}", fmt::join(hosts, ", ")),
      hosts.size() > 2 ? fmt::format("of which {} hears the others", here) : "which hear each other");
}

/// `hosts`: between which of them, or empty.
HangFinding some_are_behind(const Ranks& ranks, std::uint64_t least, std::uint64_t most,
                            const std::string& hosts) {
  const Ranks behind = those(ranks, [&](const auto& rank) { return rank.calls.entered == least; });
  HangFinding found =
      blame(HangCause::rank_behind, ranks, behind,
            fmt::format("{} behind: {}", counted(most - least, "call"), activity_phrase(behind.front())));
  if (behind.front().calls.inside() && !hosts.empty()) found.text += "; a link or a library hangs" + hosts;
  return found;
}

/// A kernel acknowledges also what a stopped or busy process does not read: no rank is to blame.
/// TCP waits some 0.2 s for the first acknowledgment, and each time twice as long.
constexpr std::uint32_t kMinResentTimes = 3;

HangFinding link_drops(const Ranks& ranks, const Ranks& senders) {
  std::vector<std::string> paths;
  for (const RankActivity& each : senders)
    paths.push_back(fmt::format("rank {} ({}) to {}, {} times in a row", each.rank, each.host,
                                each.resent_to.empty() ? "another host" : each.resent_to, each.resent_times));
  constexpr std::size_t kMaxPaths = 8;
  const std::size_t more = paths.size() - std::min(paths.size(), kMaxPaths);
  paths.resize(paths.size() - more);
  const std::string& to = senders.front().resent_to;
  return {HangCause::link_drops,
          {},
          fmt::format(
              "data is retransmitted and never acknowledged: {}{}: packets are dropped on the way, all, "
              "many, or those above the MTU of the path (try ping -M do -s 1472 {}; 8972 with jumbo frames)",
              fmt::join(paths, ", "), more == 0 ? "" : fmt::format(", and {} more", more),
              to.empty() ? "HOST" : to) +
              who_waits(ranks, {})};
}

/// Of a run that is over: who ended without having been asked to.
HangFinding after_the_end(const Ranks& ranks) {
  const Ranks first = those(ranks, [](const RankActivity& rank) { return !rank.is_over; });
  if (first.empty() || first.size() == ranks.size()) {
    return {HangCause::not_known, {}, "the run is over: these are the ranks' last states"};
  }
  return {HangCause::rank_gone, numbers(first),
          fmt::format("the run is over: {} ended without being asked to, {}", rank_names(first),
                      activity_phrase(first.front()))};
}

}  // namespace

std::string rank_names(const std::vector<RankActivity>& ranks) {
  if (ranks.empty()) return "no rank";
  const bool one_host =
      std::ranges::all_of(ranks, [&](const RankActivity& each) { return each.host == ranks.front().host; });
  const char* const word = ranks.size() == 1 ? "rank" : "ranks";
  if (one_host) return fmt::format("{} {} ({})", word, number_ranges(numbers(ranks)), ranks.front().host);
  std::vector<std::string> names;
  for (const RankActivity& each : ranks) names.push_back(fmt::format("{} ({})", each.rank, each.host));
  return fmt::format("{} {}", word, fmt::join(names, ", "));
}

HangFinding find_hang(const std::vector<RankActivity>& ranks, int local_ranks, const std::string& here) {
  if (ranks.empty()) return {HangCause::not_known, {}, "what the ranks were doing is not known"};
  if (std::ranges::all_of(ranks, [](const auto& rank) { return rank.process == ProcessState::gone; })) {
    return after_the_end(ranks);
  }
  const Ranks gone =
      those(ranks, [](const auto& rank) { return rank.process == ProcessState::gone && !rank.is_over; });
  if (!gone.empty()) {
    return blame(HangCause::rank_gone, ranks, gone, "gone, last seen " + activity_phrase(gone.front()));
  }
  const Ranks stopped = those(ranks, [](const auto& rank) { return rank.process == ProcessState::stopped; });
  if (!stopped.empty()) {
    return blame(HangCause::rank_stopped, ranks, stopped,
                 "stopped (SIGSTOP or a debugger) " + activity_phrase(stopped.front()) +
                     for_how_long(stopped.front()));
  }
  if (local_ranks > static_cast<int>(ranks.size())) return missing_ranks(ranks, local_ranks);

  const Ranks waiting = those(ranks, [](const auto& rank) { return rank.waits(); });
  const Ranks busy = those(ranks, [](const auto& rank) { return !rank.waits(); });
  if (!waiting.empty() && !busy.empty()) {
    return blame(HangCause::rank_busy, ranks, busy,
                 activity_phrase(busy.front()) + for_how_long(busy.front()));
  }
  if (waiting.empty()) return {HangCause::not_known, {}, "no rank waits for another one"};
  const Ranks senders = those(ranks, [](const auto& rank) { return rank.resent_times >= kMinResentTimes; });
  if (!senders.empty()) return link_drops(ranks, senders);

  const auto fewer = [](const RankActivity& a, const RankActivity& b) {
    return a.calls.entered < b.calls.entered;
  };
  const std::uint64_t least = std::ranges::min_element(ranks, fewer)->calls.entered;
  const std::uint64_t most = std::ranges::max_element(ranks, fewer)->calls.entered;
  if (least < most) return some_are_behind(ranks, least, most, between_hosts(ranks, here));
  const Ranks through = those(ranks, [](const auto& rank) { return !rank.calls.inside(); });
  if (!through.empty() && through.size() < ranks.size()) return some_are_through(ranks, through);
  const bool all_here = ranks.front().ranks == static_cast<int>(ranks.size());
  return {
      HangCause::not_seen_here,
      {},
      fmt::format("{} {} ({}): {}", rank_names(ranks),
                  ranks.size() == 1 ? "waits" : "all wait at the same point", activity_phrase(ranks.front()),
                  all_here ? "a link or a library hangs" : "a link or another host hangs") +
          (all_here ? between_hosts(ranks, here) : "")};
}

HangFinding look_at(const Ranks& ranks, const std::optional<Incident>& reported) {
  if (reported) {
    HangFinding found{
        reported->kind == IncidentKind::rank_lost ? HangCause::rank_gone : HangCause::reported_by_run,
        {},
        fmt::format("the run said at {}: {}", reported->time, reported->sentence)};
    for (const IncidentRank& rank : reported->ranks) found.ranks.push_back(rank.rank);
    return found;
  }
  const Ranks dead_or_stopped = those(ranks, [](const RankActivity& rank) {
    return rank.process == ProcessState::stopped || (rank.process == ProcessState::gone && !rank.is_over);
  });
  const auto latest = std::ranges::min_element(ranks, [](const auto& a, const auto& b) {
    return a.idle_seconds.value_or(kMomentAgoSeconds) < b.idle_seconds.value_or(kMomentAgoSeconds);
  });
  if (!dead_or_stopped.empty() || latest == ranks.end() || latest->process == ProcessState::gone ||
      latest->idle_seconds.value_or(kMomentAgoSeconds) >= kMomentAgoSeconds) {
    return find_hang(ranks, 0);
  }
  return {HangCause::goes_on,
          {},
          fmt::format("the run goes on: {} made progress {} ago", rank_names({*latest}),
                      format_seconds(*latest->idle_seconds))};
}

HangFinding find_hang_with_silence(const Ranks& ranks, const std::string& here,
                                   const std::vector<SilentRanks>& silent, int closed_strangers) {
  HangFinding heard = find_hang(ranks, 0);
  if (heard.cause == HangCause::rank_gone || heard.cause == HangCause::rank_stopped) return heard;
  HangFinding found{HangCause::host_silent, {}, ""};
  std::vector<std::string> names;
  std::vector<std::string> hosts;
  for (const SilentRanks& each : silent) {
    found.ranks.insert(found.ranks.end(), each.ranks.begin(), each.ranks.end());
    names.push_back(fmt::format("{} {} ({})", each.ranks.size() == 1 ? "rank" : "ranks",
                                number_ranges(each.ranks), each.host));
    hosts.push_back(each.host);
  }
  const std::string silent_hosts = fmt::format("{}", fmt::join(hosts, ", "));
  const std::string why =
      closed_strangers > 0
          ? fmt::format(", why is not known: the port of {} was crowded by {} that did not greet", here,
                        counted(closed_strangers, "connection"))
          : fmt::format(
                ": hosts {} and {} do not reach each other, {} {} down, or all ranks there are stopped", here,
                silent_hosts, silent_hosts, silent.size() == 1 ? "is" : "are");
  found.text = fmt::format("nothing is heard of {}{}{}", fmt::join(names, ", "), why, who_waits(ranks, {}));
  return found;
}

std::string flight_text(const std::vector<RankActivity>& ranks, const HangFinding& finding, int columns) {
  std::string text;
  for (const RankActivity& rank : ranks) {
    const std::string idle =
        rank.idle_seconds ? fmt::format(", no progress for {}", format_seconds(*rank.idle_seconds)) : "";
    text += wrap(fmt::format("rank {} ({}, process {}, {}): {}{}", rank.rank, rank.host, rank.pid,
                             name(rank.process), activity_phrase(rank), idle),
                 columns, "", "  ");
  }
  return text + wrap(finding.text, columns, "\n", "  ");
}

std::string flight_json(const std::vector<RankActivity>& ranks, const HangFinding& finding) {
  Json json{{"ranks", Json::array()},
            {"cause", name(finding.cause)},
            {"blamed_ranks", finding.ranks},
            {"finding", finding.text}};
  for (const RankActivity& rank : ranks) json["ranks"].push_back(rank_activity_to_json(rank));
  return json_document(json, 1);
}

}  // namespace collbench::analysis
