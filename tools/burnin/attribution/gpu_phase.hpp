#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/record/probe.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

// The phase of a burn-in in which each host's GPUs are probed without a network.

namespace collbench::analysis {

/// What a probe on a host came to.
struct GpuOutcome {
  std::optional<ProbeRecord> probe{};
  std::string why{};        ///< of none
  std::string misplaced{};  ///< where it ran instead
  bool no_gpu = false;      ///< it has no GPU that can be probed, by `why`
};

/// Reads the record that a probe on `host` printed, behind what its launcher said. The record is then of the
/// host as the burn-in names it. None, but why, where it is another host's or no record.
[[nodiscard]] GpuOutcome gpu_outcome(std::string_view printed, const std::string& host);

/// Adds what was probed of `host`, in the order of the nodes, in place of an earlier probe of it.
void add_probe(BurninRecord& record, ProbeRecord probe);

/// A finding for each GPU that is slow, failed or throttled, and its host suspect or bad.
void judge_gpus(const BurninRecord& record, Attribution& found);

/// Which nodes' GPUs were compared with siblings, their own or other hosts'.
[[nodiscard]] std::vector<int> nodes_with_compared_gpus(const BurninRecord& record);

/// What was probed, what is alike, and which hosts had nobody like them. Empty where nothing was probed.
[[nodiscard]] ReportSection gpu_section(const BurninRecord& record);

}  // namespace collbench::analysis
