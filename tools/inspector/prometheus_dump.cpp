#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "base/text_input.hpp"
#include "base/units.hpp"

// Source of the formats: inspector_prom.cc of NCCL. NCCL_INSPECTOR_PROM_DUMP=1 writes, instead of JSON,
// nccl_inspector_metrics_GPUUUID.prom for each GPU, over again at each dump (30 s or more apart; in place, so
// that a reader may see a part), and deletes it when the job ends.
// - 2.30.3 and newer (version="v5.1"; RCCL's too, with HELP, TYPE and a label cluster): for each communicator
//   name, number of ranks and nodes, operation, range of sizes and algo_proto a GPU's geometric mean of bus
//   bandwidth and mean time since the dump before. No number of calls, no sequence numbers, no rank, no hash
//   of the communicator. comm_name and the Slurm job are "unknown" where there is none.
// - 2.29.3 and 2.29.7 (no version): the last call of each communicator, with comm_id, rank, coll_sn, a
//   timestamp and its size in two decimals ("2.00GB"). How it was timed is not said.
// - dropped calls (nccl_collectives_dropped_total, by NCCL_INSPECTOR_PROM_DUMP_STATS=1): in NCCL's README
//   of 2026; 2.30.7 has none.
// KB, MB and GB are powers of 1024 in both. GB/s are 10^9 bytes.

namespace collbench::analysis {
namespace {

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";

/// Off the front of `rest`; empty where it begins otherwise.
std::string take_name(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_not_of(kNameLetters), rest.size());
  std::string name(rest.substr(0, end));
  rest.remove_prefix(end);
  return name;
}

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

/// Behind blanks.
bool take(std::string_view& rest, char letter) {
  skip_blanks(rest);
  if (!rest.starts_with(letter)) return false;
  rest.remove_prefix(1);
  return true;
}

/// Between quotes, with \\, \" and \n.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (!take(rest, '"')) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    const bool is_escaped = rest[i] == '\\' && i + 1 < rest.size();
    if (is_escaped) ++i;
    text += is_escaped && rest[i] == 'n' ? '\n' : rest[i];
  }
  return std::nullopt;
}

bool take_labels(std::string_view& rest, MetricSample& sample) {
  while (!take(rest, '}')) {
    std::string key = take_name(rest);
    if (key.empty() || !take(rest, '=')) return false;
    std::optional<std::string> value = take_quoted(rest);
    if (!value) return false;
    sample.labels.insert_or_assign(std::move(key), std::move(*value));
    const bool has_more = take(rest, ',');
    skip_blanks(rest);
    if (!has_more && !rest.starts_with('}')) return false;
  }
  return true;
}

std::optional<double> number_of_all(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return whole_number<double>(text);
}

struct SizeRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  ///< 0: the first alone
};

/// "64-65MB", "2.00GB".
std::optional<SizeRange> size_range(std::string_view text) {
  const std::size_t letters = text.find_first_of("BKMGT");
  if (letters == std::string_view::npos) return std::nullopt;
  const std::string_view unit = text.substr(letters);
  constexpr std::array<std::string_view, 5> kUnits{"B", "KB", "MB", "GB", "TB"};
  const auto* const known = std::ranges::find(kUnits, unit);
  if (known == kUnits.end()) return std::nullopt;
  const double factor = std::pow(1024.0, known - kUnits.begin());
  text = text.substr(0, letters);
  const std::size_t dash = text.find('-');
  const auto first = number_of_all(text.substr(0, dash));
  const auto end = dash == std::string_view::npos ? std::optional(0.0) : number_of_all(text.substr(dash + 1));
  const auto is_size = [factor](std::optional<double> value) {
    return value && *value >= 0 && *value * factor <= static_cast<double>(kMaxCallBytes);
  };
  if (!is_size(first) || !is_size(end)) return std::nullopt;
  return SizeRange{static_cast<std::uint64_t>(std::llround(*first * factor)),
                   static_cast<std::uint64_t>(std::llround(*end * factor))};
}

/// Of "Ring_ll" and "NVLS_TREE_SIMPLE" without the protocol; empty: not known.
std::string algorithm_of(const MetricSample& sample) {
  const std::string both = lower(sample.label("algo_proto"));
  return unless_unknown(both.substr(0, both.rfind('_')));
}

/// "2025-10-17T03:31:47Z"; 0 for another text.
std::int64_t second_of(const std::string& utc) {
  std::tm parts{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return 0;
  const std::int64_t second = timegm(&parts);
  return second >= 0 && second <= kMaxSecond ? second : 0;
}

std::string where_it_ran(const MetricSample& sample) {
  return fmt::format("{} {}", sample.label("node"), sample.label("gpu"));
}

struct SampledKind {
  InspectedKind kind;  ///< whose communicator is the following
  InspectedCommunicator communicator;
};

/// None: `why` says what is wrong.
std::optional<SampledKind> kind_of(const MetricSample& sample, std::string& why) {
  why = "damaged";
  const auto ranks = parse_integer(sample.label("nranks"), 1, std::numeric_limits<int>::max());
  const auto nodes = parse_integer(sample.label("n_nodes"), 0, std::numeric_limits<int>::max());
  const auto size = size_range(sample.label("message_size"));
  if (!ranks || !nodes || !size) return std::nullopt;
  const auto most = static_cast<std::uint64_t>(kMaxCallBytes) / static_cast<std::uint64_t>(*ranks);
  if (size->first > most || size->end > most) return std::nullopt;
  const Operation* const known = find_operation(sample.label("collective"));
  why = "of a collective without a model";
  if (known == nullptr || !known->has_bandwidth) return std::nullopt;
  SampledKind result;
  const int all = static_cast<int>(*ranks);
  result.communicator.id = sample.label("comm_id");
  result.communicator.name = sample.label("comm_name");
  result.communicator.ranks = all;
  result.communicator.nodes = static_cast<int>(*nodes);
  result.kind.operation = known->id;
  result.kind.size_bytes = size_over_all(known->id, size->first, all);
  result.kind.size_end = size_over_all(known->id, size->end, all);
  result.kind.algorithm = algorithm_of(sample);
  return result;
}

std::string take_mean(const MetricSample& sample, InspectedJob& job) {
  std::string why;
  std::optional<SampledKind> of = kind_of(sample, why);
  if (!of) return why;
  InspectedCommunicator& group = of->communicator;
  const double bytes =
      bus_factor(operation(of->kind.operation), group.ranks) * static_cast<double>(of->kind.size_bytes);
  const bool has_rate = sample.value > 0 && std::isfinite(sample.value) && bytes > 0;
  if (!has_rate) return "without a rate";
  const std::string node = sample.label("node");
  group.is_of_means = true;
  if (group.nodes == 1 && group.id.empty())
    group.name = fmt::format("{}{}{}", group.name, group.name.empty() ? "on " : " on ", node);
  of->kind.communicator = communicator_of(
      group, fmt::format("{}\n{}\n{}\n{}", sample.label("slurm_job_id"), group.id, group.name, group.nodes),
      job);
  InspectedCommunicator& known = job.communicators[of->kind.communicator];
  const int gpu =
      known.gpus.try_emplace(where_it_ran(sample), static_cast<int>(known.gpus.size())).first->second;
  known.hosts.try_emplace(gpu, node);
  // As long as the smallest size of the range takes at that rate, so that the rate is that of the sample.
  job.calls[of->kind].push_back({.sequence = static_cast<std::uint64_t>(sample.second / 60),
                                 .rank = gpu,
                                 .seconds = bytes / (sample.value * kGigabyte),
                                 .second_of_dump = sample.second});
  return {};
}

std::string take_last_call(const MetricSample& sample, InspectedJob& job) {
  std::string why;
  std::optional<SampledKind> of = kind_of(sample, why);
  if (!of) return why;
  const auto rank = parse_integer(sample.label("rank"), 0, of->communicator.ranks - 1);
  const auto sequence = parse_integer(sample.label("coll_sn"), 0, std::numeric_limits<std::int64_t>::max());
  if (!rank || !sequence || of->communicator.id.empty()) return "damaged";
  const bool has_time = sample.value >= 0.5 && std::isfinite(sample.value);
  if (!has_time) return "without a time of a microsecond or more";
  of->kind.communicator = communicator_of(of->communicator, of->communicator.id, job);
  job.communicators[of->kind.communicator].hosts.try_emplace(static_cast<int>(*rank),
                                                             sample.label("hostname"));
  job.calls[of->kind].push_back({.sequence = static_cast<std::uint64_t>(*sequence),
                                 .rank = static_cast<int>(*rank),
                                 .seconds = sample.value * 1e-6,
                                 .second_of_dump = second_of(sample.label("timestamp"))});
  return {};
}

}  // namespace

std::string MetricSample::label(std::string_view key) const {
  auto found = labels.find("exported_" + std::string(key));
  if (found == labels.end()) found = labels.find(key);
  return found == labels.end() ? "" : unless_unknown(found->second);
}

std::optional<MetricSample> metric_sample(std::string_view line) {
  MetricSample sample;
  sample.name = take_name(line);
  if (take(line, '{') && !take_labels(line, sample)) return std::nullopt;
  if (const auto name = sample.labels.find("__name__"); name != sample.labels.end())
    sample.name = name->second;
  const std::vector<std::string> figures = split_words(trim(line));
  if (sample.name.empty() || figures.empty()) return std::nullopt;
  const auto value = number_of_all(figures[0]);
  if (!value) return std::nullopt;
  sample.value = *value;
  if (figures.size() == 1) return sample;
  const auto time = number_of_all(figures[1]);
  if (!time || !(*time >= 0)) return std::nullopt;
  const double seconds = *time > 1e11 ? *time / 1000 : *time;
  if (!(seconds <= static_cast<double>(kMaxSecond))) return std::nullopt;
  sample.second = static_cast<std::int64_t>(seconds);
  return sample;
}

std::string take_sample(const MetricSample& sample, InspectedJob& job) {
  const std::string_view name = sample.name;
  const bool is_call = sample.labels.contains("coll_sn");
  if (name == "nccl_bus_bandwidth_gbs" && !is_call) return take_mean(sample, job);
  if (name == "nccl_collective_exec_time_microseconds" && is_call) return take_last_call(sample, job);
  if (name == "nccl_collectives_dropped_total") {
    const bool is_count = sample.value >= 0 && sample.value < 1e18;
    if (!is_count) return "damaged";
    std::uint64_t& lost = job.lost[where_it_ran(sample)];
    lost = std::max(lost, static_cast<std::uint64_t>(sample.value));
    return {};
  }
  if (name.starts_with("nccl_p2p_")) return "Send and Recv, which are not judged";
  // What is beside them says the same of the same calls.
  return name.starts_with("nccl_collective") || name.starts_with("nccl_algorithm_bandwidth") ||
                 name == "nccl_bus_bandwidth_gbs"
             ? ""
             : "of other metrics";
}

}  // namespace collbench::analysis
