#include "tools/lab01/report/lab01.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_input.hpp"
#include "base/units.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::analysis {
namespace {

std::string in_line(int line) { return fmt::format("(line {} of the log)", line); }

/// A reference machine says what a machine of its kind has, not how this one is.
bool is_reference(const topology::Host& host) {
  return !host.sources.empty() && host.sources.front().reader == topology::kReferenceMachine;
}

PrecedingCheck network_up(const Run& run, const std::optional<topology::Host>& host) {
  PrecedingCheck check{"Is the network up at its full rate?",
                       "unknown: neither the log nor a topology shows it", false};
  if (host && !host->nics.empty()) {
    std::vector<std::string> down;
    for (std::size_t nic = 0; nic < host->nics.size(); ++nic) {
      for (const topology::NicPort& port : host->nics[nic].ports) {
        if (!topology::may_carry_traffic(port)) {
          down.push_back(topology::device_label(*host, {topology::DeviceKind::nic, static_cast<int>(nic)}) +
                         " " + topology::port_state_text(port));
        }
      }
    }
    check.good = down.empty() && !is_reference(*host);
    check.answer = down.empty() && is_reference(*host)
                       ? fmt::format("not known: the log lists no NIC ({} has {})",
                                     host->sources.front().location, counted(host->nics.size(), "NIC"))
                   : down.empty() ? fmt::format("{} in the topology, none known to be down",
                                                counted(host->nics.size(), "NIC"))
                                  : fmt::format("down: {}", fmt::join(down, ", "));
  }
  if (run.log && run.log->nics) {
    check.answer = fmt::format("NCCL uses {} per node {}", counted(run.log->nics->value.size(), "NIC"),
                               in_line(run.log->nics->line));
    check.good = true;
    if (run.log->nic_bytes_per_second) {
      check.answer += fmt::format(", each {}", format_rate(run.log->nic_bytes_per_second->value));
    }
  }
  return check;
}

PrecedingCheck rdma(const Run& run) {
  PrecedingCheck check{"Is it RDMA or sockets?", "unknown: run with NCCL_DEBUG=INFO", false};
  if (!run.log || !run.log->network) return check;
  const auto& network = *run.log->network;
  check.good = !uses_sockets(*run.log);
  check.answer = fmt::format("NCCL uses {} {}{}", network.value, in_line(network.line),
                             check.good ? "" : ": no RDMA, all data goes through the kernel's TCP");
  return check;
}

PrecedingCheck gpu_direct(const Run& run) {
  PrecedingCheck check{"Does the NIC access GPU memory directly (GPUDirect RDMA)?",
                       "unknown: run with NCCL_DEBUG=INFO", false};
  if (!run.log || !run.log->gpu_direct) return check;
  check.good = run.log->gpu_direct->value;
  check.answer =
      fmt::format("{} {}", check.good ? "yes, on every connection" : "no, or not on every connection",
                  in_line(run.log->gpu_direct->line));
  return check;
}

std::optional<PrecedingCheck> nvlinks_even(const Run& run) {
  if (!run.log || !run.log->nvlink_least_bytes_per_second || !run.log->nvlink_most_bytes_per_second) {
    return std::nullopt;
  }
  const auto& least = *run.log->nvlink_least_bytes_per_second;
  const auto& most = *run.log->nvlink_most_bytes_per_second;
  const bool even = least.value == most.value;
  return PrecedingCheck{"Do all NVLinks run at the same rate?",
                        even ? fmt::format("yes, {} {}", format_rate(least.value), in_line(least.line))
                             : fmt::format("no: {} {}, and {} elsewhere {}", format_rate(least.value),
                                           in_line(least.line), format_rate(most.value), in_line(most.line)),
                        even};
}

PrecedingCheck data_checked(const Run& run) {
  std::size_t checked = 0;
  std::uint64_t wrong = 0;
  for (const Row& row : run.rows) {
    if (!row.measurement.wrong_elements) continue;
    ++checked;
    wrong += *row.measurement.wrong_elements;
  }
  PrecedingCheck check{"Is the data correct?", "not checked", false};
  if (checked > 0) {
    check.good = wrong == 0;
    check.answer = fmt::format("checked in {} of {}, {}", checked, counted(run.rows.size(), "row"),
                               wrong == 0 ? "none wrong" : counted(wrong, "element") + " wrong");
  }
  return check;
}

PrecedingCheck a_core_each(const Run& run) {
  PrecedingCheck check{"Does every rank have its own core?", "unknown", false};
  if (run.cores_per_node.empty()) return check;
  check.good = !ranks_take_turns(run.ranks, run.cores_per_node);
  if (!check.good) {
    check.answer = "no: ranks share cores, so the times mean little";
  } else if (!run.load_notes.empty()) {
    check.good = false;
    check.answer = fmt::format("yes, but not exclusively: {}", fmt::join(run.load_notes, "; "));
  } else {
    check.answer = "yes";
  }
  return check;
}

}  // namespace

std::vector<PrecedingCheck> lab01_checks(const Run& run, const std::optional<topology::Host>& host) {
  if (!measures_gpus(run.backend)) return {a_core_each(run), data_checked(run)};
  std::vector<PrecedingCheck> checks;
  const bool one_node = run.log ? run.log->nodes && run.log->nodes->value == 1 : node_count(run.ranks) == 1;
  if (!one_node) {
    checks = {network_up(run, host), rdma(run), gpu_direct(run)};
  }
  if (const auto even = nvlinks_even(run)) checks.push_back(*even);
  checks.push_back(data_checked(run));
  return checks;
}

}  // namespace collbench::analysis
