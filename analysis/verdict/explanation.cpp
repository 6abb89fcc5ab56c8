#include "analysis/verdict/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

// Under a tenth of the NICs: what TCP gives where RDMA should run (published pairs of logs: 1.6 % on IPoIB).
constexpr double kSocketsBelow = 0.1;
constexpr double kLinksMissing = 0.9;  // of what all NVLinks give, as NCCL saw them

/// NCCL runs two channels for each NVLink that it found (20 GB/s a channel on Ampere and before).
bool too_few_channels(const GpuCluster& cluster) {
  return cluster.generation < GpuGeneration::hopper && cluster.nvlinks > 1 && cluster.run.channels &&
         *cluster.run.channels < cluster.nvlinks;
}

std::string cause_within_domain(const GpuCluster& cluster) {
  const double one_link = topology::traits(cluster.generation).nvlink.gigabytes_per_second;
  const double all_links = cluster.nvlinks * one_link;
  const std::string nvlinks = counted(cluster.nvlinks, "NVLink");
  const auto& seen = cluster.run.min_nvlinks;
  if (seen && *seen < kLinksMissing * all_links) {
    return fmt::format(
        "the log shows {:g} GB/s over NVLink between two GPUs, where {} {} {:g}: {:.0f} of {} (links down, "
        "or a wrong topology file)",
        *seen, nvlinks, cluster.nvlinks == 1 ? "gives" : "give", all_links, *seen / one_link, nvlinks);
  }
  if (too_few_channels(cluster)) {
    return fmt::format(
        "NCCL opened {} where {} {} {}: it found {} of {} (a link down, or a wrong topology file)",
        counted(*cluster.run.channels, "channel"), nvlinks, cluster.nvlinks == 1 ? "supports" : "support",
        2 * cluster.nvlinks, std::max(1, *cluster.run.channels / 2), nvlinks);
  }
  return cluster.nvlinks > 0 ? "NVLinks that are down or peer access turned off (no network is involved)"
                             : "the path through the host: CPU model, NUMA settings, ACS or peer access";
}

/// How many NICs of each node give the measured time by this algorithm, within kHalfWayToOneNic: one, a
/// quarter, half, or all but one, which have causes; of many NICs some number fits any rate. 0: none of them.
int nics_that_give(const Row& row, GpuCluster cluster, const std::string& algorithm) {
  constexpr double kHalfWayToOneNic = 0.06;  // of the time: half of the way from 7 NICs to 8
  constexpr int kMaxSingled = 8;             // of which one that is missing shows in the rate
  const RowKey& key = row.measurement.key;
  cluster.run.algorithm = algorithm;
  int found = 0;
  double least = kHalfWayToOneNic;
  const int all = used_nic_count(cluster);
  for (const int nics : {1, all / 4, all / 2, all - 1}) {
    if (nics < 1 || nics >= all) continue;
    if (nics == all - 1 && all > kMaxSingled) continue;
    GpuCluster other = cluster;
    use_nics(other, nics);
    const auto seconds = expect_on_gpus(key.operation, key.size_bytes, other).expected_seconds;
    const double off = seconds ? std::fabs(*seconds / row.measurement.seconds - 1) : 1;
    if (off >= least) continue;
    least = off;
    found = nics;
  }
  return found;
}

/// "each node using about 2 of its 8 NICs by nvls_tree or 4 by ring (NCCL_IB_HCA, …)": where that explains
/// the rate; empty where it does not.
std::string fewer_nics_in_words(const Row& row, const GpuCluster& cluster) {
  const std::string& expected_by = row.expectation.expected_by;
  const int by_expected = nics_that_give(row, cluster, expected_by);
  const bool may_be_ring = row.expectation.ring_seconds && expected_by != "ring" && !cluster.run.algorithm;
  const int by_ring = may_be_ring ? nics_that_give(row, cluster, "ring") : 0;
  if (by_expected == 0 && by_ring == 0) return {};
  const std::string name = by_expected > 0 ? expected_by : "ring";
  const std::string also = by_expected > 0 && by_ring > 0 ? fmt::format(" or {} by ring", by_ring) : "";
  return fmt::format(
      "each node using about {} of its {} NICs{}{} ({}a port that is down, or a container that sees fewer)",
      by_expected > 0 ? by_expected : by_ring, used_nic_count(cluster), may_be_ring ? " by " + name : "",
      also, traits(cluster.transport).nccl_sees_nics ? "NCCL_IB_HCA, " : "");
}

std::string cause_across_domains(const Row& row, const GpuCluster& cluster) {
  // What the log shows, also where the run is judged as another transport (--transport).
  if (cluster.run.logged == Transport::sockets) {
    return fmt::format("the log says sockets ({}): the data went over TCP instead of the NICs' RDMA",
                       cluster.run.network);
  }
  if (cluster.run.logged == Transport::staged && !cluster.run.is_partly_direct) {
    return "the log shows no GPUDirect RDMA: all data passed through host memory";
  }
  if (traits(cluster.transport).slower_than_nics && !cluster.run.is_partly_direct) {
    return fmt::format("{}, as given: slower than the NICs' RDMA, and no source says by how much",
                       traits(cluster.transport).name);
  }
  const std::string fewer = fewer_nics_in_words(row, cluster);
  const bool of_one_gpu = cluster.ranks_per_node == 1 && cluster.one_gpu_per_nic;
  const std::string nics = !fewer.empty() ? fewer
                           : of_one_gpu   ? "a NIC that is not at the GPU's PCIe switch"
                                          : "unused NICs";
  if (!cluster.run.network.empty()) {
    return fmt::format("{}, NICs below their rate, or older software (the log says network {})", nics,
                       cluster.run.network);
  }
  const double floor = row.expectation.ring_seconds.value_or(*row.expectation.expected_seconds);
  if (floor / row.measurement.seconds < kSocketsBelow) {
    return "less than a tenth of the NICs' rate is typical of sockets (TCP, IP over InfiniBand) in place of "
           "RDMA; check \"Using network\" in the output of NCCL_DEBUG=INFO";
  }
  return nics + ", GPUDirect off, or older software; NCCL_DEBUG=INFO shows the first two";
}

double busbw(const Row& row, const GpuCluster& cluster) {
  return rates(row, cluster.ranks()).bus_bandwidth.value_or(0) / kGigabyte;
}

/// The largest row: what a sweep's explanation quotes.
const Row& largest(const SizeSeries& series) { return *series.back(); }

/// The slowest algorithm that the band counts: the ring, else the operation's own.
GpuAlgorithm floor_algorithm(const Row& row) {
  return row.expectation.ring_seconds ? GpuAlgorithm::ring : expected_algorithm(row);
}

double algbw(const Row& row, const GpuCluster& cluster) {
  return rates(row, cluster.ranks()).algorithm_bandwidth.value_or(0) / kGigabyte;
}

/// "equivalent to 0.1 of one of its 8 NICs", "equivalent to 3.2 of its 8 NICs".
std::string share_of_links(double used, int count, std::string_view link) {
  if (count == 1) return fmt::format("equivalent to {:.1f} of its {}", used, link);
  return fmt::format("equivalent to {:.1f} of {}its {} {}s", used, used < 0.95 ? "one of " : "", count, link);
}

/// ": by ring 3.2 GB/s leaves each node, equivalent to 0.1 of one of its 8 NICs": what the measured
/// number is worth in links, had it been the ring.
std::string implied_links(const Row& row, const GpuCluster& cluster) {
  const GpuAlgorithm floor = floor_algorithm(row);
  const LinkLoads loads =
      link_loads(operation(row.measurement.key.operation), cluster, floor, algbw(row, cluster));
  std::vector<std::string> parts;
  if (loads.nic) {
    const int nics = floor == GpuAlgorithm::send_recv ? 1 : domain_nic_count(cluster);
    const double used = *loads.nic * nics / one_nic(cluster).gigabytes_per_second;
    // More than all of them: it was not the ring.
    if (used <= domain_nic_count(cluster))
      parts.push_back(fmt::format("{:.1f} GB/s leaves each {}, {}", *loads.nic * nics, domain_name(cluster),
                                  share_of_links(used, domain_nic_count(cluster), "NIC")));
  }
  const bool nvlink_limits =
      loads.nvlink && gpu_link(cluster).gigabytes_per_second < domain_nics(cluster).gigabytes_per_second;
  if (loads.nvlink && (!loads.nic || nvlink_limits)) {
    const double bytes = *loads.nvlink * cluster.nvlinks;
    const double one_link = topology::traits(cluster.generation).achieved_nvlink.gigabytes_per_second;
    if (bytes / one_link <= cluster.nvlinks)
      parts.push_back(fmt::format("{:.1f} GB/s leaves each GPU, {}", bytes,
                                  share_of_links(bytes / one_link, cluster.nvlinks, "NVLink")));
  }
  if (!loads.nic && !loads.nvlink)
    return fmt::format(": {:.1f} GB/s leaves each GPU through the host", busbw(row, cluster));
  const std::string by = floor == expected_algorithm(row) ? "" : fmt::format("by {} ", name(floor));
  return parts.empty() ? "" : fmt::format(": {}{}", by, fmt::join(parts, ", and "));
}

/// "each NIC carries 23.4 GB/s, each NVLink 15.6 GB/s": by the algorithm that explains the number.
std::string load_per_link(const Row& row, const GpuCluster& cluster) {
  const GpuAlgorithm explaining = explaining_algorithm(row, cluster).value_or(expected_algorithm(row));
  const LinkLoads loads =
      link_loads(operation(row.measurement.key.operation), cluster, explaining, algbw(row, cluster));
  std::string text;
  if (loads.nic) text += fmt::format("; each NIC carries {:.1f} GB/s", *loads.nic);
  if (loads.nvlink) {
    text +=
        fmt::format("{} {:.1f} GB/s", loads.nic ? ", each NVLink" : "; each NVLink carries", *loads.nvlink);
  }
  return text;
}

/// A machine type whose expectation the measurement fits within 5 %.
std::string fitting_machine(const Row& row, const GpuCluster& cluster) {
  std::string best;
  double least = 0.05;
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host host = topology::reference_host(machine);
    if (static_cast<int>(host.gpus.size()) < cluster.ranks_per_node) continue;
    if (cluster.nodes > 1 && machine.nic_transport.empty()) continue;
    const GpuCluster other = gpu_cluster(machine, cluster.nodes, cluster.ranks_per_node);
    const Expectation expected =
        expect_on_gpus(row.measurement.key.operation, row.measurement.key.size_bytes, other);
    if (!expected.expected_seconds) continue;
    const double off = std::fabs(*expected.expected_seconds / row.measurement.seconds - 1);
    if (off >= least) continue;
    least = off;
    best = machine.name;
  }
  return best.empty() ? "no reference machine is within 5 % of it"
                      : fmt::format("{} would fit within {:.0f} %", best, std::ceil(100 * least));
}

/// What the log tells of what carried the bytes: "the log says network IB, algorithm ring, 24 channels".
/// Nothing where only the algorithm is known, which the expectation names.
std::string transport_in_log(const GpuCluster& cluster) {
  if (cluster.run.network.empty() && !cluster.run.channels) return {};
  std::vector<std::string> words;
  if (!cluster.run.network.empty()) words.push_back("network " + cluster.run.network);
  if (cluster.run.algorithm) words.push_back("algorithm " + *cluster.run.algorithm);
  if (cluster.run.channels) words.push_back(counted(*cluster.run.channels, "channel"));
  return fmt::format("the log says {}", fmt::join(words, ", "));
}

constexpr double kMatters = 1.1;  // below this a model's error is as large as the difference

/// "99 % of the nvls_tree model".
std::string share_of_model(double share, std::string_view algorithm) {
  return fmt::format("{:.{}f} % of the {} model", 100 * share, share < 0.0995 ? 1 : 0, algorithm);
}

/// "; nvls should reach 487.3 GB/s": where what ran is as quick as it gets, and the row is slower
/// than another choice by more than a model's error. Without it the narrower expectation would hide a poor
/// choice.
std::string better_choice(const Row& row, GpuCluster cluster) {
  if (!cluster.run.algorithm) return {};
  cluster.run.algorithm.reset();
  const RowKey& key = row.measurement.key;
  const Expectation open = expect_on_gpus(key.operation, key.size_bytes, cluster);
  if (!open.expected_seconds || row.measurement.seconds < kMatters * *open.expected_seconds) return {};
  if (open.expected_by == row.expectation.expected_by) return {};
  const double bus = bus_factor(operation(key.operation), cluster.ranks());
  return fmt::format("; {} should reach {:.1f} GB/s", open.expected_by,
                     static_cast<double>(key.size_bytes) / *open.expected_seconds * bus / kGigabyte);
}

/// "SOUND from 0.93 of it, BELOW under 0.82 (RDMA between nodes, 10 machines)"
std::string range_in_words(const HealthyRange& range) {
  if (range.below == 0) return fmt::format("no SOUND threshold is known ({})", range.source);
  if (!std::isfinite(range.sound))
    return fmt::format("BELOW under {:.2f} of it, and no SOUND threshold is known ({})", range.below,
                       range.source);
  if (range.below == range.sound)
    return fmt::format("SOUND from {:.2f} of it ({})", range.sound, range.source);
  return fmt::format("SOUND from {:.2f} of it, BELOW under {:.2f} ({})", range.sound, range.below,
                     range.source);
}

/// The second sentence of a healthy sweep: what the log tells, and what no topology can. Empty for neither.
std::string healthy_remarks(const Row& row, const GpuCluster& cluster, const SeriesJudgement& judgement) {
  std::vector<std::string> parts;
  if (std::string logged = transport_in_log(cluster); !logged.empty()) parts.push_back(std::move(logged));
  if (judgement.word == VerdictWord::sound) {
    std::vector<std::string> losses;
    for (const HiddenLoss& loss : judgement.hidden)
      if (loss.share > 0 && loss.resource != kNicPcie) losses.push_back(loss.text);
    if (std::string other = hidden_algorithm(row, cluster); !other.empty())
      losses.push_back(std::move(other));
    if (!losses.empty())
      parts.push_back(fmt::format("this rate does not rule out {}", fmt::join(losses, " or ")));
  }
  if (parts.empty()) return {};
  std::string sentence = fmt::format(" {}.", fmt::join(parts, "; "));
  sentence[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[1])));
  return sentence;
}

double to_expected(const Row& row) { return *row.expectation.expected_seconds / row.measurement.seconds; }

/// "70 % of the nvls_tree model and 92 % of the ring model"
std::string shares_of_both(const Row& row, const std::string& other) {
  const Expectation& expected = row.expectation;
  const auto algorithm = find_gpu_algorithm(other);
  const auto& seconds = algorithm == GpuAlgorithm::ring   ? expected.ring_seconds
                        : algorithm == GpuAlgorithm::tree ? expected.tree_seconds
                                                          : expected.nvls_seconds;
  return fmt::format("{} and {}", share_of_model(to_expected(row), expected.expected_by),
                     share_of_model(seconds.value_or(0) / row.measurement.seconds, other));
}

/// What the run shows comes before what else may be.
std::string causes_in_words(const std::vector<std::string>& seen, const std::string& cause) {
  if (seen.empty()) return cause;
  return fmt::format("this run shows {}; if that is not all: {}", fmt::join(seen, ", and "), cause);
}

/// Why the rate is that of an algorithm without NVLS; `or_else` where the run does not say that it had none.
std::string no_nvls_cause(const GpuCluster& cluster, const std::string& or_else) {
  const std::string_view not_run = cluster.run.nccl_version != 0
                                       ? "NVLS did not run, which this NCCL takes here"
                                       : "NVLS did not run, which NCCL takes here from 2.18 on";
  const std::string& lost = cluster.run.lost_nvls;
  if (lost.empty())
    return fmt::format("{} (NCCL_NVLS_ENABLE=0, no fabric manager, a virtual machine without it); or {}",
                       not_run, or_else);
  if (lost.starts_with("NCCL_NVLS_ENABLE")) return fmt::format("{}: {}", not_run, lost);
  return fmt::format("{}: {}; NCCL's version, the fabric manager, or a virtual machine without it", not_run,
                     lost);
}

/// Where nobody says what ran and the rate is the ring's in place of NVLS': that explains it before any part
/// does.
bool is_as_ring(const Row& row, const GpuCluster& cluster) {
  constexpr double kSame = 0.07;
  const auto& ring = row.expectation.ring_seconds;
  return !cluster.run.algorithm && is_nvls(find_gpu_algorithm(row.expectation.expected_by)) && ring &&
         std::fabs(*ring / row.measurement.seconds - 1) < kSame;
}

std::string share_in_words(const Row& row, const GpuCluster& cluster, const std::string& other_algorithm) {
  if (!other_algorithm.empty()) return shares_of_both(row, other_algorithm);
  return is_as_ring(row, cluster) ? shares_of_both(row, "ring")
                                  : share_of_model(to_expected(row), row.expectation.expected_by);
}

/// The likely cause of a rate below the expected one.
std::string likely_cause(const Row& row, const GpuCluster& cluster, VerdictReason reason) {
  const std::string cause = loss_cause(row, cluster);
  return reason == VerdictReason::no_nvls || is_as_ring(row, cluster) ? no_nvls_cause(cluster, cause) : cause;
}

/// ", and the median of the largest sizes 0.88 of it", where the largest alone lies on another side of an
/// edge than the median, by which the verdict goes.
std::string median_in_words(const Row& row, const SeriesJudgement& judgement) {
  if (judgement.decided_by != nullptr || !judgement.ratio || !judgement.range) return {};
  const auto differs_at = [&](double edge) { return (to_expected(row) < edge) != (*judgement.ratio < edge); };
  const HealthyRange& range = *judgement.range;
  if (!differs_at(range.below) && !differs_at(range.sound) && !differs_at(range.high)) return {};
  return fmt::format(", and the median of the largest sizes {:.2f} of it", *judgement.ratio);
}

/// Why a series is UNCLEAR, and what would decide it.
std::string explain_unclear(const SizeSeries& series, const SeriesJudgement& judgement,
                            const GpuCluster& cluster, const std::vector<std::string>& seen) {
  const Row& row = largest(series);
  const std::string measured =
      fmt::format("{:.1f} GB/s at {}", busbw(row, cluster), format_bytes(row.measurement.key.size_bytes));
  const std::string share = share_of_model(to_expected(row), row.expectation.expected_by);
  switch (judgement.reason) {
    case VerdictReason::no_large_row:
      return fmt::format(
          "No row of 64 MiB or more; the largest row, {}, is {}. Measure sizes of 1 GiB or more.",
          format_bytes(row.measurement.key.size_bytes),
          explain_row(row, peak_busbw(series, cluster), cluster));
    case VerdictReason::other_algorithm:
      return fmt::format(
          "{} is {}; {}. {}.{}", measured, shares_of_both(row, judgement.other_algorithm),
          cluster.run.lost_nvls.empty()
              ? "which of them ran is not known: NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING shows it"
              : cluster.run.lost_nvls + ", and whether this NCCL would take NVLS on these GPUs is not known",
          range_in_words(*judgement.range), healthy_remarks(row, cluster, judgement));
    case VerdictReason::uneven: {
      const Row& slow = *judgement.decided_by;
      return fmt::format(
          "{:.1f} GB/s at {} is {}, while the median of the largest sizes is {:.2f} of it: {}. Measure "
          "again: a transient disappears, a fault at this size persists.",
          busbw(slow, cluster), format_bytes(slow.measurement.key.size_bytes),
          share_of_model(to_expected(slow), slow.expectation.expected_by), *judgement.ratio,
          range_in_words(*judgement.range));
    }
    case VerdictReason::copy:
      return fmt::format(
          "{} is {} out of place, and in place {:.2f} of it, with the same bytes over the same links: the "
          "links are healthy, and the slowdown is the copy of a rank's own part, or a transient. {}. Measure "
          "again.",
          measured, share, *judgement.ratio, range_in_words(*judgement.range));
    case VerdictReason::above:
      return fmt::format(
          "{} is {}, the {} on {} × {} {}: the given machine or rank count is wrong, or the model is too low "
          "here; {}.",
          measured, share,
          cluster.run.algorithm == row.expectation.expected_by ? "algorithm that ran" : "best algorithm",
          cluster.nodes, cluster.ranks_per_node, cluster.gpu, fitting_machine(row, cluster));
    case VerdictReason::none:
    case VerdictReason::between:
    case VerdictReason::no_nvls:
    case VerdictReason::slow:
    case VerdictReason::collapsed:
      break;
  }
  return fmt::format("{} is {}{}: {}. If something is wrong: {}.{}", measured,
                     share_in_words(row, cluster, ""), median_in_words(row, judgement),
                     range_in_words(*judgement.range),
                     causes_in_words(seen, likely_cause(row, cluster, judgement.reason)),
                     healthy_remarks(row, cluster, judgement));
}

/// What is wrong with a series that is BELOW or a FAULT, and why it may be.
std::string explain_bad(const SizeSeries& series, const SeriesJudgement& judgement, const GpuCluster& cluster,
                        const std::vector<std::string>& seen) {
  const Row& row = judgement.decided_by != nullptr ? *judgement.decided_by : largest(series);
  const std::string measured =
      fmt::format("{:.1f} GB/s at {}", busbw(row, cluster), format_bytes(row.measurement.key.size_bytes));
  const std::string share = share_of_model(to_expected(row), row.expectation.expected_by);
  if (judgement.reason == VerdictReason::collapsed) {
    return fmt::format(
        "{} is {}, out of line with the other sizes. Likely cause: a protocol, a buffer size or a congestion "
        "control that fails at this size.",
        measured, share);
  }
  return fmt::format("{} is {}{}{}. {}. Likely cause: {}.", measured,
                     share_in_words(row, cluster, judgement.other_algorithm), median_in_words(row, judgement),
                     implied_links(row, cluster), range_in_words(*judgement.range),
                     causes_in_words(seen, likely_cause(row, cluster, judgement.reason)));
}

/// ": NCCL 2.28.9 chooses tree/ll128 here (table: as on hgx-h100 × 2)" where that made the expectation.
std::string table_choice_in_words(const Row& row, const GpuCluster& cluster) {
  const std::string& ran = row.measurement.algorithm_ran;
  if (cluster.run.algorithm || (!ran.empty() && ran != kLibraryChoice)) return {};
  const RowKey& key = row.measurement.key;
  const auto choice = nccl_table_choice(key.operation, key.size_bytes, cluster);
  return choice && choice->algorithm == row.expectation.expected_by ? ": " + words(*choice) : "";
}

}  // namespace

std::string loss_cause(const Row& row, const GpuCluster& cluster) {
  return cluster.domains() == 1 ? cause_within_domain(cluster) : cause_across_domains(row, cluster);
}

GpuAlgorithm expected_algorithm(const Row& row) {
  return find_gpu_algorithm(row.expectation.expected_by).value_or(GpuAlgorithm::ring);
}

std::optional<GpuAlgorithm> explaining_algorithm(const Row& row, const GpuCluster& cluster) {
  const RowKey& key = row.measurement.key;
  const auto rates = gpu_algorithms(key.operation, cluster);
  if (rates.size() < 2 || row.measurement.seconds <= 0) return std::nullopt;
  return std::ranges::min_element(rates, {},
                                  [&](const AlgorithmRate& rate) {
                                    const double microseconds =
                                        gpu_microseconds(operation(key.operation), cluster,
                                                         static_cast<double>(key.size_bytes), rate);
                                    return std::fabs(std::log(microseconds * 1e-6 / row.measurement.seconds));
                                  })
      ->algorithm;
}

double peak_busbw(const SizeSeries& series, const GpuCluster& cluster) {
  const RowKey& key = largest(series).measurement.key;
  if (key.size_bytes < kLargeSize) return plateau_busbw(key.operation, cluster);
  double peak = 0;
  for (const Row* row : series) peak = std::max(peak, busbw(*row, cluster));
  return peak;
}

std::string explain_row(const Row& row, double peak_busbw, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  if (row.measurement.seconds <= 0) return {};
  if (!expected.expected_seconds) {
    if (cluster.ranks() == 1) return "no expectation: one rank communicates nothing";
    return fmt::format("no expectation: there is no formula for {}",
                       operation(row.measurement.key.operation).name);
  }
  // n½: a row that moves less than half of the sweep's most waits more than it moves, where the model expects
  // that of its size, too. A large row that is merely slow is below its bandwidth limit.
  const RowKey& key = row.measurement.key;
  const double expected_busbw =
      bus_bandwidth(operation(key.operation), key.size_bytes, cluster.ranks(), *expected.expected_seconds) /
      kGigabyte;
  const bool latency =
      busbw(row, cluster) < peak_busbw / 2 && expected_busbw < plateau_busbw(key.operation, cluster) / 2;
  const bool in_band = row.measurement.seconds <= expected.slowest_seconds.value_or(0);
  const std::string bound = latency   ? "latency-bound"
                            : in_band ? fmt::format("bandwidth-bound ({})", expected.limited_by)
                                      : fmt::format("below its bandwidth limit ({})", expected.limited_by);
  return fmt::format(
      "{}; {}{}", bound,
      share_of_model(*expected.expected_seconds / row.measurement.seconds, expected.expected_by),
      table_choice_in_words(row, cluster));
}

std::string explain_series(const SizeSeries& series, const SeriesJudgement& judgement,
                           const GpuCluster& cluster, const std::vector<std::string>& seen) {
  if (series.empty() || !largest(series).expectation.expected_seconds) return {};
  const Row& row = largest(series);
  switch (judgement.word) {
    case VerdictWord::none:
      return {};
    case VerdictWord::unclear:
      return explain_unclear(series, judgement, cluster, seen);
    case VerdictWord::below:
    case VerdictWord::fault:
      return explain_bad(series, judgement, cluster, seen);
    case VerdictWord::sound:
      break;
  }
  return fmt::format("{:.1f} GB/s at {} is {}{}; {}; the limit is {}{}{}.{}", busbw(row, cluster),
                     format_bytes(row.measurement.key.size_bytes),
                     share_of_model(to_expected(row), row.expectation.expected_by),
                     median_in_words(row, judgement), range_in_words(*judgement.range),
                     row.expectation.limited_by, load_per_link(row, cluster), better_choice(row, cluster),
                     healthy_remarks(row, cluster, judgement));
}

}  // namespace collbench::analysis
