#include "tools/burnin/attribution/gpu_phase.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/probe/gpu_findings.hpp"
#include "analysis/probe/siblings.hpp"
#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"

namespace collbench::analysis {
namespace {

/// "GPU 3 to the others" is GPU 3's; "GPU 0 to GPU 3" is neither's.
std::string gpu_in(const std::string& part) {
  const std::size_t at = part.find("GPU ");
  if (at == std::string::npos || part.find("GPU ", at + 1) != std::string::npos) return part;
  const std::size_t end = part.find_first_not_of("0123456789", at + 4);
  return part.substr(at, end == std::string::npos ? end : end - at);
}

/// All that speaks against one GPU, the worst first.
using PartsOfGpu = std::map<std::pair<int, std::string>, std::vector<SlowPart>>;

PartsOfGpu parts_of_gpus(const BurninRecord& record) {
  PartsOfGpu parts;
  for (const SlowPart& slow : judge_probes(record.probes).slow) {
    if (const auto node = node_named(record, slow.part.host))
      parts[{*node, gpu_in(slow.part.name)}].push_back(slow);
  }
  for (auto& [gpu, of] : parts) {
    std::ranges::sort(of, [](const SlowPart& a, const SlowPart& b) {
      return std::tuple(!a.bad, a.share, a.part.name, a.measurement) <
             std::tuple(!b.bad, b.share, b.part.name, b.measurement);
    });
  }
  return parts;
}

/// Hosts by what their GPUs are, in the words of a title.
std::map<std::string, std::vector<std::string>> hosts_by_title(const BurninRecord& record) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const ProbeRecord& probe : record.probes) hosts[gpu_title(probe)].push_back(probe.host);
  return hosts;
}

}  // namespace

GpuOutcome gpu_outcome(std::string_view printed, const std::string& host) {
  GpuOutcome outcome;
  const std::size_t begin = printed.find("{\n");
  const std::size_t end = printed.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    outcome.why = "what it printed is no record of a probe";
    return outcome;
  }
  try {
    ProbeRecord probe = probe_from_json(printed.substr(begin, end + 1 - begin), "the record of a probe");
    if (!is_same_host(host, probe.host)) {
      outcome.misplaced = fmt::format("the probe ran on {}", probe.host);
      return outcome;
    }
    probe.host = host;
    outcome.probe = std::move(probe);
  } catch (const Error& error) {
    outcome.why = fmt::format("what it printed is no record: {}", error.what());
  }
  return outcome;
}

void add_probe(BurninRecord& record, ProbeRecord probe) {
  std::erase_if(record.probes, [&](const ProbeRecord& earlier) { return earlier.host == probe.host; });
  record.probes.push_back(std::move(probe));
  std::ranges::sort(record.probes, [&](const ProbeRecord& a, const ProbeRecord& b) {
    return node_named(record, a.host) < node_named(record, b.host);
  });
}

void judge_gpus(const BurninRecord& record, Attribution& found) {
  for (const auto& [gpu, parts] : parts_of_gpus(record)) {
    const auto& [node, name_of_gpu] = gpu;
    const SlowPart& worst = parts.front();
    const std::string host = record.table.nodes[slot_of(node)];
    std::string evidence = worst.evidence;
    if (parts.size() > 1)
      evidence += fmt::format(" (and {} more of it)", counted(parts.size() - 1, "finding"));
    Blame blame{.kind = BlameKind::gpu,
                .nodes = {node},
                .measure = fmt::format("{} {}", name_of_gpu, worst.bad ? "is bad" : "is suspect"),
                .evidence = evidence};
    if (worst.share > 0) blame.times_slower = 1 / worst.share;
    blame.next = technician_step(BlameKind::gpu, host, std::nullopt);
    found.blames.push_back(std::move(blame));
    NodeVerdict& verdict = found.nodes[slot_of(node)];
    if (verdict.bucket == Bucket::good || verdict.bucket == Bucket::not_tested ||
        (worst.bad && verdict.bucket == Bucket::suspect))
      verdict = {node, worst.bad ? Bucket::bad : Bucket::suspect, evidence};
  }
}

std::vector<int> nodes_with_compared_gpus(const BurninRecord& record) {
  constexpr std::size_t kMinSiblings = 3;  // as judge_probes
  std::vector<int> nodes;
  for (const auto& [title, hosts] : hosts_by_title(record)) {
    for (const std::string& host : hosts) {
      const auto probe = std::ranges::find(record.probes, host, &ProbeRecord::host);
      const auto node = node_named(record, host);
      if (node && !probe->measurements.empty() && hosts.size() * probe->gpus.size() >= kMinSiblings)
        nodes.push_back(*node);
    }
  }
  return nodes;
}

ReportSection gpu_section(const BurninRecord& record) {
  if (record.probes.empty()) return {};
  ReportLines lines;
  const auto titles = hosts_by_title(record);
  for (const auto& [title, hosts] : titles) {
    add(lines, "{}: {}", counted(hosts.size(), "host"), title);
    if (hosts.size() == 1 && record.probes.size() > 1)
      add(lines, "{}: no other host is like it, so its GPUs were compared with each other only",
          hosts.front());
    if (hosts.size() == 2 && titles.size() > 1)
      add(lines, "{}: no third host is like them", fmt::join(hosts, " and "));
  }
  const ProbeVerdict verdict = judge_probes(record.probes);
  for (const std::string& line : verdict.healthy) add(lines, "alike: {}", line);
  for (const std::string& line : verdict.not_judged) add(lines, "not judged: {}", line);
  std::map<std::string, std::vector<std::string>> notes;
  for (const ProbeRecord& probe : record.probes) {
    for (const std::string& note : probe.notes) notes[note].push_back(probe.host);
  }
  for (const auto& [note, hosts] : notes) {
    add(lines, "{}: {}",
        hosts.size() == record.probes.size() ? "all" : fmt::format("{}", fmt::join(hosts, ", ")), note);
  }
  return {fmt::format("phase gpus: each GPU of {} alone", counted(record.probes.size(), "host")),
          {std::move(lines)}};
}

}  // namespace collbench::analysis
