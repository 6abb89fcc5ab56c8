#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/probe.hpp"

namespace collbench::analysis {

/// The rates of something that can be compared: a core, a NUMA node, the processors of a host; a GPU, a pair
/// of GPUs, a GPU as the sender or the receiver of all its pairs.
struct ProbeRate {
  std::string host;
  std::string name;                   ///< "core 3", "NUMA node 1", "all cores", "GPU 0"
  std::string model;                  ///< siblings have the same, and the same kind
  std::string kind;                   ///< "core", "NUMA node", "host", "GPU", "GPU pair", "GPU sender"
  double rate = 0;                    ///< flop/s or B/s: the median of the windows
  double drift = 0;                   ///< of the last windows over the first, less 1
  std::optional<double> cpu_share{};  ///< ProbePart's; of several cores the lowest
  /// What makes GPUs alike beside their model: how many the host has, power limit, driver. Of a pair also how
  /// it copies.
  std::string setup{};
  std::optional<double> sm_clock_hertz{};  ///< median of a GPU's windows
  std::string beside{};  ///< "SM clock 1305 MHz, 512 W, 86 °C; HW slowdown in 2 of 5 windows"

  bool operator==(const ProbeRate&) const = default;
};

/// Cores sum up to NUMA nodes, where there are several, and to the host, window by window; GPUs do not.
[[nodiscard]] std::vector<ProbeRate> probe_rates(const ProbeRecord& record,
                                                 const ProbeMeasurement& measurement);

/// The last two windows over the first two, less 1; of fewer than four, the last over the first.
[[nodiscard]] double window_drift(const std::vector<double>& windows);

/// Its name; of products on GPUs, which are measured in several sizes, also the size.
[[nodiscard]] std::string measurement_name(const ProbeMeasurement& measurement);

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

struct SlowPart {
  ProbeRate part;
  std::string measurement;  ///< its name
  double share = 1;         ///< of the siblings' median, or of what is published
  std::string evidence;     ///< "GPU 3 of n7: GEMM BF16 0.941 of the median of 8 GPUs"
  bool bad = false;         ///< below the line of bad ones; else suspect

  bool operator==(const SlowPart&) const = default;
};

struct ProbeVerdict {
  std::vector<SlowPart> slow;           ///< the slowest first; GPUs that failed or throttled, too
  std::vector<std::string> not_judged;  ///< what has too few siblings, or was disturbed; and what that is
  std::vector<std::string> healthy;     ///< "8 GPUs in HBM copy, within 0.4 %"
};

/// Whoever is below kSuspectShare of the median of three siblings or more, of all records together, and below
/// it by more than six robust standard deviations of them (population_line). Of two nobody knows which is the
/// slow one. GPUs also against what is published of their model, and by what failed and throttled
/// (gpu_findings.hpp). A pair of GPUs is compared with the same pair of other hosts only: how far apart GPUs
/// are is a matter of the board. As senders and receivers of all their pairs, and in copies to and
/// from the host, GPUs are compared with those of the same index of other hosts where there are three hosts,
/// else with each other where all pairs copy with peer access, else not. Not judged are cores of a host on
/// which others worked; a core whose thread did not have it to itself, and what it is part of; and a core's
/// share of a memory that all of them contend for, which is no property of the core. Where no one names a
/// processor its host is compared with no other.
[[nodiscard]] ProbeVerdict judge_probes(const std::vector<ProbeRecord>& records);

[[nodiscard]] std::string probe_json(const ProbeRecord& record);

/// Throws Error (usage) that names the place in `file`.
[[nodiscard]] ProbeRecord probe_from_json(std::string_view text, const std::string& file);
[[nodiscard]] ProbeRecord probe_from_json(const JsonReader& root);

}  // namespace collbench::analysis
