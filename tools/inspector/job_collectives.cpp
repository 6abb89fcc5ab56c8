#include "tools/inspector/job_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
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
constexpr double kMinWait = 50e-6;
constexpr double kMinWaitShare = 0.1;  // of the call's own time
constexpr double kDeviations = 5;      // of a binomial with every rank last alike, about 1 in 3 million
constexpr double kMinShareOfLast = 0.3;
constexpr std::size_t kBlocks = 8;  // in which a slowdown is looked for
constexpr std::size_t kMinOfBlock = 5;
constexpr double kSlower = 1.5;
constexpr std::size_t kMinAlike = 3;

/// A call over the ranks that logged it.
struct Call {
  std::uint64_t sequence = 0;
  std::int64_t second_of_dump = 0;
  std::vector<std::pair<double, int>> ranks;  ///< seconds and rank, the quickest first
  std::size_t own = 0;                        ///< which of them waited least

  [[nodiscard]] double own_seconds() const { return ranks[own].first; }
};

double own_seconds(const Call& call) { return call.own_seconds(); }

/// In their order. A rank that logged a call twice counts once.
std::vector<Call> calls_of(std::vector<InspectedCall> seen, const InspectedCommunicator& group) {
  std::ranges::sort(seen, [](const InspectedCall& a, const InspectedCall& b) {
    return std::tuple(a.sequence, a.rank, a.seconds) < std::tuple(b.sequence, b.rank, b.seconds);
  });
  std::vector<Call> calls;
  int last_rank = -1;
  for (const InspectedCall& each : seen) {
    const bool begins = calls.empty() || calls.back().sequence != each.sequence;
    if (!begins && each.rank == last_rank) continue;
    if (begins) calls.push_back({each.sequence, each.second_of_dump, {}});
    calls.back().ranks.emplace_back(each.seconds, each.rank);
    last_rank = each.rank;
  }
  for (Call& call : calls) {
    std::ranges::sort(call.ranks);
    const auto slowest = std::min(call.ranks.size(), static_cast<std::size_t>(group.ranks));
    if (group.is_of_several()) call.own = call.ranks.size() - slowest;
  }
  return calls;
}

template <class Of>
double median_of(const std::vector<Call>& calls, Of of) {
  std::vector<double> values;
  for (const Call& call : calls) values.push_back(of(call));
  return median(values);
}

std::optional<Slowdown> slowdown_of(const std::vector<Call>& calls) {
  const std::size_t size = calls.size() / kBlocks;
  if (size < kMinOfBlock) return std::nullopt;
  const auto block = [&](std::size_t i) {
    const auto begin = calls.begin() + static_cast<std::ptrdiff_t>(i * size);
    return median_of({begin, begin + static_cast<std::ptrdiff_t>(size)}, own_seconds);
  };
  const double first = std::max(block(0), block(1));
  const double last = std::min(block(kBlocks - 2), block(kBlocks - 1));
  if (last < kSlower * first) return std::nullopt;
  const double between = std::sqrt(first * last);
  std::size_t from = kBlocks - 2;
  while (from > 1 && block(from - 1) > between) --from;
  // It may begin within the block before; one slow call alone is a hiccup.
  const auto is_slow = [between](const Call& a, const Call& b) {
    return own_seconds(a) > between && own_seconds(b) > between;
  };
  const auto begin = calls.begin() + static_cast<std::ptrdiff_t>((from == 0 ? 0 : from - 1) * size);
  const auto slow = std::adjacent_find(begin, calls.end(), is_slow);
  if (slow == calls.end()) return std::nullopt;
  return Slowdown{.times = last / first,
                  .seconds = last,
                  .busbw = 0,
                  .sequence = slow->sequence,
                  .second_of_dump = slow->second_of_dump};
}

/// Waits of one communicator, over all its kinds.
struct Waits {
  std::map<int, std::vector<double>> by_last;  ///< the shortest wait of a call, by who came last
  std::size_t calls = 0;
};

bool depends_on_all(OperationId id) {
  return id == OperationId::all_reduce || id == OperationId::all_gather || id == OperationId::reduce_scatter;
}

/// Of calls that all ranks logged: else somebody else may have been the last. Who is merely early makes no
/// other one late: all others must have waited.
void add_waits(const std::vector<Call>& whole, Waits& waits) {
  for (const Call& call : whole) {
    if (call.ranks.size() < 2) continue;
    const double wait = call.ranks[1].first - call.own_seconds();
    if (wait < std::max(kMinWait, kMinWaitShare * call.own_seconds())) continue;
    waits.by_last[call.ranks.front().second].push_back(wait);
    ++waits.calls;
  }
}

std::vector<LateRank> late_ranks(const InspectedJob& job, std::size_t communicator, const Waits& waits) {
  const InspectedCommunicator& group = job.communicators[communicator];
  std::vector<LateRank> late;
  // Of two ranks one waits for the other by the order of a pipeline as often as by a fault.
  if (waits.calls < kMinCalls || group.ranks < 3) return late;
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

/// The same rank that comes last in half and more of the communicators of one shape, on several hosts, is
/// more likely held up elsewhere than slow itself. Taken out of `late`, a sentence for each. On one host it
/// may be that host.
std::vector<std::string> late_alike(const InspectedJob& job, std::vector<LateRank>& late) {
  const auto shape_of = [&job](std::size_t communicator) {
    return std::pair(job.communicators[communicator].ranks, job.communicators[communicator].nodes);
  };
  std::map<std::pair<int, int>, std::size_t> of_shape;
  for (std::size_t i = 0; i < job.communicators.size(); ++i) ++of_shape[shape_of(i)];
  std::map<std::pair<std::pair<int, int>, int>, std::vector<std::string>> hosts_of_rank;
  for (const LateRank& each : late)
    hosts_of_rank[{shape_of(each.communicator), each.rank}].push_back(each.host);
  std::vector<std::string> sentences;
  for (const auto& [key, hosts] : hosts_of_rank) {
    const std::pair<int, int> shape = key.first;
    const int rank = key.second;
    const bool on_one_host = std::set(hosts.begin(), hosts.end()).size() == 1;
    if (on_one_host || hosts.size() < kMinAlike || 2 * hosts.size() < of_shape.at(shape)) continue;
    std::erase_if(late, [&](const LateRank& each) {
      return each.rank == rank && shape_of(each.communicator) == shape;
    });
    sentences.push_back(
        fmt::format("rank {} comes last in {} of {} of {} ranks, on several hosts: it is more likely held up "
                    "elsewhere, as by another communicator, than slow itself",
                    rank, hosts.size(), counted(of_shape.at(shape), "communicator"), shape.first));
  }
  return sentences;
}

/// Why nothing is expected of a communicator, or its ranks on the machine.
struct Expected {
  std::optional<GpuCluster> cluster;
  std::string why_not;
};

Expected cluster_of(const InspectedCommunicator& group, const topology::ResolvedMachine& machine) {
  if (group.ranks < 2) return {.cluster = {}, .why_not = "one rank"};
  if (group.nodes < 1) return {.cluster = {}, .why_not = "the number of its nodes is not known"};
  if (group.ranks % group.nodes != 0)
    return {.cluster = {}, .why_not = "its nodes have different numbers of ranks"};
  try {
    return {.cluster = gpu_cluster(machine, group.nodes, group.ranks / group.nodes), .why_not = {}};
  } catch (const Error& error) {
    return {.cluster = {}, .why_not = error.what()};
  }
}

struct ExpectedRate {
  std::optional<double> busbw;
  std::optional<HealthyRange> range;  ///< from 64 MiB on
};

ExpectedRate rate_of(const InspectedKind& kind, GpuCluster cluster) {
  if (kind.algorithm.empty())
    cluster = with_table_choice(cluster, kind.operation, kind.size_bytes);
  else
    cluster.run.algorithm = kind.algorithm;
  const auto seconds = expect_on_gpus(kind.operation, kind.size_bytes, cluster).expected_seconds;
  if (!seconds) return {};
  const double busbw =
      bus_bandwidth(operation(kind.operation), kind.size_bytes, cluster.ranks(), *seconds) / kGigabyte;
  if (!(busbw > 0)) return {};
  ExpectedRate result{.busbw = busbw, .range = {}};
  // Of a part of each node others may use the same NICs at that time, and nobody tells which.
  const bool shares_nics =
      cluster.domains() > 1 && cluster.ranks_per_node < cluster.gpus && cluster.nics < cluster.gpus;
  if (kind.size_bytes >= kLargeSize && !shares_nics)
    result.range = healthy_range(kind.operation, kind.size_bytes, busbw, cluster);
  return result;
}

/// What the machine gives. A job has many communicators of few shapes, and its search takes long.
class Expectations {
 public:
  explicit Expectations(const topology::ResolvedMachine* machine) : machine_(machine) {}

  [[nodiscard]] const Expected& ranks_of(const InspectedCommunicator& group) {
    const auto [known, is_new] = clusters_.try_emplace({group.ranks, group.nodes});
    if (is_new && machine_ != nullptr) known->second = cluster_of(group, *machine_);
    return known->second;
  }

  [[nodiscard]] const ExpectedRate& rate(const InspectedCommunicator& group, const InspectedKind& kind) {
    const auto [known, is_new] =
        rates_.try_emplace({group.ranks, group.nodes, kind.operation, kind.size_bytes, kind.algorithm});
    const Expected& ranks = ranks_of(group);
    if (is_new && ranks.cluster) known->second = rate_of(kind, *ranks.cluster);
    return known->second;
  }

 private:
  const topology::ResolvedMachine* machine_;
  std::map<std::pair<int, int>, Expected> clusters_;
  std::map<std::tuple<int, int, OperationId, std::uint64_t, std::string>, ExpectedRate> rates_;
};

}  // namespace

JobResult judge_job(const InspectedJob& job, const topology::ResolvedMachine* machine) {
  JobResult result;
  std::vector<Waits> waits(job.communicators.size());
  Expectations expected(machine);
  std::set<std::string> notes;
  for (const auto& [kind, seen] : job.calls) {
    const InspectedCommunicator& group = job.communicators[kind.communicator];
    const std::vector<Call> calls = calls_of(seen, group);
    KindResult of_kind;
    of_kind.kind = kind;
    of_kind.is_of_means = group.is_of_means;
    of_kind.has_time = calls.front().second_of_dump > 0;
    of_kind.calls = calls.size();
    std::vector<Call> whole;
    if (!group.is_of_means)
      std::ranges::copy_if(calls, std::back_inserter(whole), [&group](const Call& call) {
        return std::cmp_equal(call.ranks.size(), group.ranks);
      });
    of_kind.whole = whole.size();
    of_kind.seconds = median_of(whole.empty() ? calls : whole, own_seconds);
    const auto busbw = [&](double seconds) {
      return bus_bandwidth(operation(kind.operation), kind.size_bytes, group.ranks, seconds) / kGigabyte;
    };
    of_kind.busbw = busbw(of_kind.seconds);
    if (!whole.empty())
      of_kind.wait_seconds =
          median_of(whole, [](const Call& each) { return each.ranks.back().first - each.own_seconds(); });
    of_kind.slowdown = slowdown_of(group.is_of_means ? calls : whole);
    if (of_kind.slowdown) of_kind.slowdown->busbw = busbw(of_kind.slowdown->seconds);
    if (depends_on_all(kind.operation)) add_waits(whole, waits[kind.communicator]);
    const ExpectedRate& rate = expected.rate(group, kind);
    of_kind.expected_busbw = rate.busbw;
    if (group.is_of_means || whole.size() >= kMinCalls) of_kind.range = rate.range;
    const Expected& machine_of = expected.ranks_of(group);
    if (!machine_of.why_not.empty())
      notes.insert(fmt::format("nothing is expected of {} on {}: {}", counted(group.ranks, "rank"),
                               counted(group.nodes, "node"), machine_of.why_not));
    result.kinds.push_back(std::move(of_kind));
  }
  for (std::size_t i = 0; i < waits.size(); ++i)
    for (LateRank& late : late_ranks(job, i, waits[i])) result.late.push_back(std::move(late));
  const auto waited = [](const LateRank& late) {
    return late.wait_seconds * static_cast<double>(late.last_in);
  };
  std::ranges::sort(result.late, [&waited](const LateRank& a, const LateRank& b) {
    return std::tuple(-waited(a), a.communicator, a.rank) < std::tuple(-waited(b), b.communicator, b.rank);
  });
  for (std::string& each : late_alike(job, result.late)) notes.insert(std::move(each));
  result.notes.assign(notes.begin(), notes.end());
  return result;
}

}  // namespace collbench::analysis
