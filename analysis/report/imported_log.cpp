#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// "NCCL 2.27.7 (line 9)"; what was given on the command line has no line.
std::string with_line(const std::string& text, int line) {
  return line > 0 ? fmt::format("{} (line {})", text, line) : fmt::format("{} (given)", text);
}

class Sentence {
 public:
  explicit Sentence(std::string start) : start_(std::move(start)) {}

  template <class Value>
  Sentence& add(const MaybeLogFact<Value>& fact, std::string_view form) {
    if (fact) parts_.push_back(with_line(fmt::format(fmt::runtime(form), fact->value), fact->line));
    return *this;
  }
  Sentence& add_text(std::string text) {
    parts_.push_back(std::move(text));
    return *this;
  }
  void to(ReportLines& facts) const {
    if (!parts_.empty()) collbench::add(facts, "{}: {}", start_, fmt::join(parts_, "; "));
  }

 private:
  std::string start_;
  std::vector<std::string> parts_;
};

void add_job(const LogFacts& log, ReportLines& facts) {
  Sentence job("the log says");
  job.add(log.command ? log.command : log.program, "{}").add(log.version, "version {}");
  job.add(log.operation, log.program ? "operation {}" : "operation {}, from the shape of the table");
  job.add(log.nccl, "NCCL {}").add(log.gpu, "GPU {}").add(log.gpus_per_process, "GPUs per process {}");
  job.add(log.ranks, "ranks {}").add(log.nodes, "nodes {}").add(log.ranks_per_node, "ranks per node {}");
  job.add(log.topology, "machine {}");
  job.to(facts);
}

std::string format_connections(const LogConnections& each) {
  const bool network = each.via.starts_with("NET/");
  return with_line(fmt::format("{} via {}{}", counted(each.count, "connection"), each.via,
                               each.gpu_direct ? " with GPUDirect RDMA"
                               : network       ? " without GPUDirect RDMA"
                                               : ""),
                   each.line);
}

void add_network(const LogFacts& log, ReportLines& facts) {
  Sentence network("network");
  network.add(log.network, "{}").add(log.link_layer, "link layer {}");
  if (log.nics) {
    network.add_text(with_line(fmt::format("{} per node, {}", counted(log.nics->value.size(), "NIC"),
                                           fmt::join(log.nics->value, " ")),
                               log.nics->line));
  }
  if (log.nic_bytes_per_second) {
    network.add_text(
        with_line("each " + format_rate(log.nic_bytes_per_second->value), log.nic_bytes_per_second->line));
  }
  for (const LogConnections& each : log.connections) network.add_text(format_connections(each));
  network.to(facts);
}

void add_algorithms(const LogFacts& log, ReportLines& facts) {
  Sentence nccl("NCCL set up");
  nccl.add(log.channels, "{} channels").add(log.nvls_channels, "{} NVLS channels");
  const auto add_rate = [&](const MaybeLogFact<double>& rate, std::string_view what) {
    if (rate) nccl.add_text(with_line(fmt::format("{} {}", what, format_rate(rate->value)), rate->line));
  };
  add_rate(log.ring_bytes_per_second, "rings of");
  add_rate(log.nvlink_most_bytes_per_second, "NVLink up to");
  if (log.nvlink_least_bytes_per_second && log.nvlink_most_bytes_per_second &&
      log.nvlink_least_bytes_per_second->value < log.nvlink_most_bytes_per_second->value) {
    add_rate(log.nvlink_least_bytes_per_second, "slowest NVLink path");
  }
  for (std::size_t i = 0; i < log.tunings.size(); ++i) {
    const LogTuning& first = log.tunings[i];
    std::size_t last = i;
    while (last + 1 < log.tunings.size() && log.tunings[last + 1].algorithm == first.algorithm &&
           log.tunings[last + 1].protocol == first.protocol) {
      ++last;
    }
    const std::string sizes = last == i ? format_bytes(first.size_bytes)
                                        : fmt::format("{} to {}", format_bytes(first.size_bytes),
                                                      format_bytes(log.tunings[last].size_bytes));
    nccl.add_text(with_line(fmt::format("{} by {} {}", sizes, first.algorithm, first.protocol), first.line));
    i = last;
  }
  nccl.to(facts);
}

/// What decides the expectation and is not there.
void add_missing(const LogFacts& log, bool on_gpus, ReportLines& facts) {
  if (!on_gpus) return;  // no model of host memory needs them
  std::vector<std::string_view> missing;
  if (!log.gpu && !log.topology) missing.emplace_back("the GPU (--topology)");
  if (!log.nodes) missing.emplace_back("the number of nodes (--nodes)");
  const bool many_nodes = !log.nodes || log.nodes->value > 1;
  if (many_nodes && !log.nics && !log.topology) missing.emplace_back("the NICs (--topology or --nics)");
  if (many_nodes && !log.network && log.connections.empty()) {
    missing.emplace_back("the transport (run with NCCL_DEBUG=INFO)");
  }
  if (!missing.empty()) add(facts, "missing from the log: {}", fmt::join(missing, ", "));
}

/// Two GPUs that NVLink connects far worse than others of the node: links of that pair may be down. Pairs
/// with one link and with two stand in one healthy machine (DGX-1), so a factor of two says nothing.
void add_slow_nvlink_path(const LogFacts& log, ReportLines& facts) {
  constexpr double kMaxHealthyFactor = 2;
  const auto& slowest = log.nvlink_least_bytes_per_second;
  const auto& fastest = log.nvlink_most_bytes_per_second;
  if (!slowest || !fastest || kMaxHealthyFactor * slowest->value >= fastest->value) return;
  warn(facts,
       "between some GPUs NVLink has {} (line {}), between others {}: links may be down; check nvidia-smi "
       "nvlink -s",
       format_rate(slowest->value), slowest->line, format_rate(fastest->value));
}

}  // namespace

ReportLines imported_log_lines(const LogFacts& log, bool on_gpus) {
  ReportLines facts;
  add_job(log, facts);
  add_network(log, facts);
  add_algorithms(log, facts);
  add_slow_nvlink_path(log, facts);
  add_missing(log, on_gpus, facts);
  for (const LogSkipped& each : log.left_out) {
    add(facts, "skipped: {}: {}, the first on line {}", each.what, each.count, each.line);
  }
  for (const std::string& loss : log.losses) warn(facts, "{}", loss);
  for (const std::string& note : log.notes) warn(facts, "{}", note);
  return facts;
}

}  // namespace collbench::analysis
