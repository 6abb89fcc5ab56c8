#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/probe.hpp"

namespace collbench::analysis {

/// The rates of something that can be compared: a core, a NUMA node, the processors of a host, a GPU.
struct ProbeRate {
  std::string host;
  std::string name;                   ///< "core 3", "NUMA node 1", "all cores", "GPU 0"
  std::string model;                  ///< siblings have the same, and the same kind
  std::string kind;                   ///< "core", "NUMA node", "host", "GPU"
  double rate = 0;                    ///< flop/s or B/s: the median of the windows
  double drift = 0;                   ///< of the last windows over the first, less 1
  std::optional<double> cpu_share{};  ///< ProbePart's; of several cores the lowest

  bool operator==(const ProbeRate&) const = default;
};

/// Cores sum up to NUMA nodes, where there are several, and to the host, window by window; GPUs do not.
[[nodiscard]] std::vector<ProbeRate> probe_rates(const ProbeRecord& record,
                                                 const ProbeMeasurement& measurement);

/// The rate of all cores together; 0 where no core took part.
[[nodiscard]] double rate_of_all_cores(const ProbeMeasurement& measurement);

/// Lines for parts of a kind that should be alike: "a few % slower than its siblings" is what practitioners
/// evict a GPU for. Both are further away where healthy siblings scatter by more: see judge_probes.
inline constexpr double kSuspectShare = 0.98;
inline constexpr double kBadShare = 0.95;

/// Other work on the cores, from which on they are not judged: on all of them, or on one.
inline constexpr double kTakenShare = 0.02;

/// Whether others took more than `share` of the cores' time while they were measured, or that is not known.
[[nodiscard]] bool was_disturbed(const ProbeRecord& record, double share = kTakenShare);

/// Something that is slow.
struct SlowPart {
  ProbeRate part;
  std::string measurement;  ///< its name
  double share = 1;         ///< of the siblings' median, or of what is published
  std::string evidence;     ///< "GPU 3 of n7: GEMM BF16 0.941 of the median of 8 GPUs"
  bool bad = false;         ///< below the line of bad ones; else suspect

  bool operator==(const SlowPart&) const = default;
};

struct ProbeVerdict {
  std::vector<SlowPart> slow;           ///< the slowest first
  std::vector<std::string> not_judged;  ///< what has too few siblings, or was disturbed; and what that is
  std::vector<std::string> healthy;     ///< "8 GPUs in HBM copy, within 0.4 %"
};

/// Whoever is below kSuspectShare of the median of three siblings or more, of all records together, and below
/// it by more than six robust standard deviations of them (population_line). Of two nobody knows which is the
/// slow one. GPUs also against what is published of their model (training_gpu.hpp). Not judged are cores of a
/// host on which others worked; a core whose thread did not have it to itself, and what it is part of; and a
/// core's share of a memory that all of them contend for, which is no property of the core. Where no one
/// names a processor its host is compared with no other.
[[nodiscard]] ProbeVerdict judge_probes(const std::vector<ProbeRecord>& records);

}  // namespace collbench::analysis
