#include "src/run/next_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/sections.hpp"
#include "analysis/report/text_layout.hpp"

namespace collbench::program {
namespace {

/// The first host whose rank received wrong elements; empty for none.
std::string host_with_wrong_data(const Run& run) {
  for (const Row& row : run.rows)
    if (!row.measurement.wrong.empty()) return row.measurement.wrong.front().host;
  return {};
}

/// The host of the first rank that the probe found late, or of the first of a slow pair; empty for none.
std::string host_of_straggler(const Run& run) {
  if (!run.rank_probe || run.rank_probe->findings.empty()) return {};
  const ProbeFinding& first = run.rank_probe->findings.front();
  if (first.ranks.empty()) return {};
  const auto rank = static_cast<std::size_t>(first.ranks.front());
  return rank < run.ranks.size() ? run.ranks[rank].host : std::string();
}

bool ran_out_of_time(const Run& run) {
  return std::ranges::any_of(run.rows, [](const Row& row) {
    return row.measurement.stopped && row.measurement.stopped->reason == StopReason::out_of_time;
  });
}

std::string on_host(const std::string& host) { return host.empty() ? "" : " on " + host; }

}  // namespace

std::string next_step(const Run& run, const std::string& record) {
  if (!run.complete || run.simulated || run.gpus_simulated) return {};
  if (const std::string host = host_with_wrong_data(run); !host.empty())
    return fmt::format("collbench doctor on {}, whose ranks received wrong data", host);
  if (is_bad(machine_word(run))) return analysis::next_step_by_verdict(run, nullptr);
  if (run.ranks.size() == 1) return "collbench launch: the command that starts more than one rank";
  // Where packets are lost, the notes say what to look at before any host.
  if (run.rank_probe && !run.rank_probe->findings.empty() && run.network_notes.empty())
    return fmt::format("collbench probe{}: whether its cores or its memory are slow by themselves",
                       on_host(host_of_straggler(run)));
  if (!run.load_notes.empty())
    return "collbench repeat -- THIS COMMAND: the median over launches, since other work disturbed this one";
  if (ran_out_of_time(run)) return "the same command with four times --time: more passes, narrower intervals";
  if (record.empty())
    return "the same command with -J run.json: collbench report, compare and judge read that record";
  return fmt::format("collbench report {} -o page.html: charts of this run; collbench compare {} OTHER.json",
                     record, record);
}

std::string next_step_text(const std::string& step, int columns) {
  if (step.empty()) return {};
  return analysis::wrap("next: " + step, std::max(columns, 80), "# ", "#   ");
}

}  // namespace collbench::program
