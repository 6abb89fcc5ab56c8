#include "tools/inspector/job_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/healthy_ranges.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

// A wait counts from here on: Inspector counts whole microseconds, and ranks start a kernel some apart.
constexpr double kMinWait = 20e-6;
constexpr double kMinWaitShare = 0.1;  // of the call's own time
constexpr std::size_t kMinCalls = 20;  // to name anybody
constexpr double kDeviations = 5;      // of a binomial with every rank last alike, about 1 in 3 million
constexpr double kMinShareOfLast = 0.3;
constexpr std::size_t kBlocks = 8;  // in which a slowdown is looked for
constexpr double kSlower = 1.2;

/// A call over the ranks that were seen in it.
struct Call {
  std::size_t ranks = 0;
  double quickest = 0;
  double slowest = 0;
  int last = 0;  ///< the rank that waited least
};

/// In their order.
std::vector<Call> calls_of(const std::vector<InspectedCall>& seen) {
  std::map<std::uint64_t, Call> by_sequence;
  for (const InspectedCall& each : seen) {
    Call& call = by_sequence[each.sequence];
    if (call.ranks == 0 || each.seconds < call.quickest) {
      call.quickest = each.seconds;
      call.last = each.rank;
    }
    call.slowest = std::max(call.slowest, each.seconds);
    ++call.ranks;
  }
  std::vector<Call> calls;
  for (const auto& [sequence, call] : by_sequence) calls.push_back(call);
  return calls;
}

template <class Of>
double median_of(const std::vector<Call>& calls, Of of) {
  std::vector<double> values;
  for (const Call& call : calls) values.push_back(of(call));
  return median(values);
}

double own_time(const Call& call) { return call.quickest; }

std::optional<Slowdown> slowdown_of(const std::vector<Call>& calls) {
  const std::size_t size = calls.size() / kBlocks;
  if (size < kMinCalls / 2) return std::nullopt;
  const auto block = [&](std::size_t i) {
    const auto begin = calls.begin() + static_cast<std::ptrdiff_t>(i * size);
    return median_of({begin, begin + static_cast<std::ptrdiff_t>(size)}, own_time);
  };
  const double first = block(0);
  const double last = block(kBlocks - 1);
  if (last < kSlower * first) return std::nullopt;
  const double between = std::sqrt(first * last);
  std::size_t from = kBlocks - 1;
  while (from > 0 && block(from - 1) > between) --from;
  const auto slow = std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(from * size), calls.end(),
                                 [between](const Call& call) { return call.quickest > between; });
  return Slowdown{.times = last / first, .call = static_cast<std::size_t>(slow - calls.begin()) + 1};
}

/// Waits of one communicator, over all its kinds.
struct Waits {
  std::map<int, std::vector<double>> by_last;  ///< the longest wait of a call, by who came last
  std::size_t calls = 0;
};

void add_waits(const std::vector<Call>& calls, std::size_t ranks, Waits& waits) {
  for (const Call& call : calls) {
    const double wait = call.slowest - call.quickest;
    // Of a call that not all were seen in, somebody else may have been the last.
    if (call.ranks < ranks || wait < std::max(kMinWait, kMinWaitShare * call.quickest)) continue;
    waits.by_last[call.last].push_back(wait);
    ++waits.calls;
  }
}

std::vector<LateRank> late_ranks(const InspectedJob& job, std::size_t communicator, const Waits& waits) {
  const InspectedCommunicator& group = job.communicators[communicator];
  std::vector<LateRank> late;
  if (waits.calls < kMinCalls || group.ranks < 2) return late;
  const double chance = 1.0 / group.ranks;
  const auto all = static_cast<double>(waits.calls);
  for (const auto& [rank, of_rank] : waits.by_last) {
    const auto last_in = static_cast<double>(of_rank.size());
    const double deviation = std::sqrt(all * chance * (1 - chance));
    if (last_in < all * chance + kDeviations * deviation || last_in < kMinShareOfLast * all) continue;
    late.push_back({.communicator = communicator,
                    .rank = rank,
                    .host = group.hosts.at(rank),
                    .calls = waits.calls,
                    .last_in = of_rank.size(),
                    .wait_seconds = median(of_rank)});
  }
  return late;
}

/// Why nothing is expected of a communicator, or its ranks on the machine.
struct Expected {
  std::optional<GpuCluster> cluster;
  std::string why_not;
};

Expected cluster_of(const InspectedCommunicator& group, const topology::ResolvedMachine& machine) {
  if (group.ranks < 2) return {.cluster = {}, .why_not = "one rank"};
  if (group.nodes < 1 || group.ranks % group.nodes != 0)
    return {.cluster = {}, .why_not = "its nodes have different numbers of ranks"};
  try {
    return {.cluster = gpu_cluster(machine, group.nodes, group.ranks / group.nodes), .why_not = {}};
  } catch (const Error& error) {
    return {.cluster = {}, .why_not = error.what()};
  }
}

void expect(const GpuCluster& ranks, KindResult& result) {
  const InspectedKind& kind = result.kind;
  GpuCluster cluster = ranks;
  cluster.run.algorithm = kind.algorithm;
  if (kind.algorithm.empty()) cluster = with_table_choice(cluster, kind.operation, kind.size_bytes);
  const auto seconds = expect_on_gpus(kind.operation, kind.size_bytes, cluster).expected_seconds;
  if (!seconds) return;
  const double expected =
      bus_bandwidth(operation(kind.operation), kind.size_bytes, cluster.ranks(), *seconds) / kGigabyte;
  if (!(expected > 0)) return;
  result.expected_busbw = expected;
  if (kind.size_bytes >= kLargeSize)
    result.range = healthy_range(kind.operation, kind.size_bytes, expected, cluster);
}

}  // namespace

JobResult judge_job(const InspectedJob& job, const topology::ResolvedMachine* machine) {
  JobResult result;
  std::vector<Waits> waits(job.communicators.size());
  std::vector<Expected> expected(job.communicators.size());
  if (machine != nullptr)
    for (std::size_t i = 0; i < job.communicators.size(); ++i)
      expected[i] = cluster_of(job.communicators[i], *machine);
  std::set<std::string> notes;
  for (const auto& [kind, seen] : job.calls) {
    const InspectedCommunicator& group = job.communicators[kind.communicator];
    const std::vector<Call> calls = calls_of(seen);
    KindResult of_kind{
        .kind = kind,
        .calls = calls.size(),
        .ranks_seen = group.hosts.size(),
        .seconds = median_of(calls, own_time),
        .busbw = 0,
        .expected_busbw = {},
        .range = {},
        .wait_seconds = median_of(calls, [](const Call& each) { return each.slowest - each.quickest; }),
        .slowdown = slowdown_of(calls)};
    of_kind.busbw =
        bus_bandwidth(operation(kind.operation), kind.size_bytes, group.ranks, of_kind.seconds) / kGigabyte;
    add_waits(calls, static_cast<std::size_t>(group.ranks), waits[kind.communicator]);
    const Expected& machine_of = expected[kind.communicator];
    if (machine_of.cluster) expect(*machine_of.cluster, of_kind);
    if (!machine_of.why_not.empty())
      notes.insert(fmt::format("nothing is expected of {} ranks on {}: {}", group.ranks,
                               counted(static_cast<std::size_t>(group.nodes), "node"), machine_of.why_not));
    result.kinds.push_back(std::move(of_kind));
  }
  for (std::size_t i = 0; i < waits.size(); ++i)
    for (LateRank& late : late_ranks(job, i, waits[i])) result.late.push_back(std::move(late));
  std::stable_sort(result.late.begin(), result.late.end(), [](const LateRank& a, const LateRank& b) {
    return a.wait_seconds * static_cast<double>(a.last_in) > b.wait_seconds * static_cast<double>(b.last_in);
  });
  result.notes.assign(notes.begin(), notes.end());
  return result;
}

}  // namespace collbench::analysis
