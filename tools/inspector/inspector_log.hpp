#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/record/operation.hpp"

// What NCCL Inspector, a profiler plugin of NCCL 2.28 and newer, writes of a job in production
// (ext-profiler/inspector, from 2.29.7 on plugins/profiler/inspector): for each process a file of JSON lines,
// or for each GPU one of Prometheus' text format.

namespace collbench::analysis {

struct InspectedCommunicator {
  std::string id{};    ///< NCCL's hash of it: "0x51c0ffee12ab90"; empty: not written
  std::string name{};  ///< the job's name for it, from NCCL 2.30 on; empty: none
  int ranks = 0;
  int nodes = 0;
  /// Of a Prometheus dump that has means and no calls: all communicators of one name, job and size, on one
  /// node where they span no more. Its ranks are numbers of GPUs, as they came.
  bool is_of_means = false;
  std::map<int, std::string> hosts{};  ///< of the ranks whose files were read
  std::map<std::string, int> gpus{};   ///< of means: "n17 GPU3", and its number

  /// GPUs of several communicators.
  [[nodiscard]] bool is_of_several() const { return is_of_means && std::cmp_greater(gpus.size(), ranks); }
};

/// One call as one rank saw it; of means, a minute's of one GPU.
struct InspectedCall {
  std::uint64_t sequence = 0;  ///< of its communicator and operation, the same on all ranks; or the minute
  int rank = 0;
  double seconds = 0;  ///< of its kernel, the wait for the last rank included; whole microseconds
  std::int64_t second_of_dump = 0;  ///< when it was written, since 1970; 0: not known
};

/// Calls that move the same between the same ranks.
struct InspectedKind {
  std::size_t communicator = 0;  ///< which of the job's
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;  ///< as nccl-tests counts: of AllGather and ReduceScatter over all ranks
  std::string algorithm{};       ///< "nvls_tree"; empty: not written (JSON before format 4.2)
  std::uint64_t size_end = 0;    ///< sizes from the former up to under this one; 0: that size alone

  auto operator<=>(const InspectedKind&) const = default;
};

struct InspectedJob {
  std::vector<InspectedCommunicator> communicators;
  std::map<InspectedKind, std::vector<InspectedCall>> calls;
  std::map<std::string, std::size_t> left_out;  ///< lines, by the reason
  std::map<std::string, std::uint64_t> lost;    ///< calls that Inspector dropped, by rank or GPU
  std::size_t files = 0;
  std::map<std::pair<std::string, int>, std::size_t> known;  ///< communicators by hash and ranks
};

/// Which communicator of the job this is; a new one is added.
[[nodiscard]] std::size_t communicator_of(InspectedCommunicator communicator, const std::string& identity,
                                          InspectedJob& job);

/// Inspector counts what one rank gives to an AllGather and gets of a ReduceScatter (inspector.cc,
/// inspectorComputeOpBw).
[[nodiscard]] std::uint64_t size_over_all(OperationId id, std::uint64_t bytes, int ranks);

/// What stands for a name that is not known in all of Inspector's texts is none.
[[nodiscard]] std::string unless_unknown(std::string text);

/// More bytes than any call moves, so that its size over all ranks is a number.
inline constexpr std::uint64_t kMaxCallBytes = 1ULL << 50;

/// Later is no time of a dump: the year 2100.
inline constexpr std::int64_t kMaxSecond = 4'102'444'800;

/// Adds the lines of one file. A last line that was cut is left out, and so is one that is damaged behind
/// others that are not. A file that begins otherwise, a line of more than a MiB, and a value of JSON that
/// cannot be throw Error (usage) with the location in `file`.
void read_inspector_log(std::istream& input, const std::string& file, InspectedJob& job);

/// A line of Prometheus' text format.
struct MetricSample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  std::int64_t second = 0;  ///< when, since 1970; 0: the line does not say

  /// Empty where it is missing or "unknown". A scrape renames a label that its target has as well.
  [[nodiscard]] std::string label(std::string_view key) const;
};

/// NAME{LABEL="VALUE",...} VALUE [TIME] (prometheus.io/docs/instrumenting/exposition_formats), and as
/// `promtool tsdb dump` has it: {__name__="NAME", ...}. TIME: milliseconds, or OpenMetrics' seconds. None for
/// another line.
[[nodiscard]] std::optional<MetricSample> metric_sample(std::string_view line);

/// Adds what it says of the job's collectives. Empty: it was taken; else why it is left out.
[[nodiscard]] std::string take_sample(const MetricSample& sample, InspectedJob& job);

}  // namespace collbench::analysis
