#include "src/run/machine_look.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/standard_streams.hpp"
#include "src/run/telemetry.hpp"

namespace collbench::program {

MachineLook look_at_machine(const launch::Session& session, const RunContext& context) {
  const Clock& clock = session.clock();
  const auto rank = static_cast<std::size_t>(session.ranks().rank());
  MachineLook look{.seconds = clock.seconds(),
                   .counters = view_error_counters(context.machines.at(rank), clock)};
  if (!context.process.is_first(session.ranks().rank())) look.cpu.own_seconds = 0;
  return look;
}

void note_changes(const launch::Session& session, const RunContext& context, bool says_rank_use,
                  const MachineLook& before, Run& run) {
  launch::Ranks& ranks = session.ranks();
  const Identities& machines = context.machines;
  const MachineLook now = look_at_machine(session, context);
  run.load_notes =
      launch::external_cpu_load(ranks, machines, before.cpu, now.cpu, now.seconds - before.seconds);
  std::vector<RankUse> uses = launch::gather_rank_use(ranks, before.use);
  for (std::size_t rank = 0; rank < uses.size(); ++rank)
    if (!context.process.is_first(static_cast<int>(rank))) uses[rank] = {};
  run.network_notes = launch::lost_packets(uses, machines);
  CounterNotes rises = gather_counter_rises(ranks, before.counters, now.counters);
  std::ranges::move(rises.network, std::back_inserter(run.network_notes));
  std::ranges::move(rises.machine, std::back_inserter(run.environment_notes));
  run.error_counts = std::move(rises.counts);
  if (!ranks.is_root()) return;
  if (says_rank_use) print_message(rank_use_line(uses));
  if (run.simulated) return;
  const std::string note = clock_note(context.host, std::difftime(now.time_of_day, before.time_of_day),
                                      now.seconds - before.seconds, now.suspended - before.suspended);
  if (note.empty()) return;
  print_message("collbench: " + note);
  run.environment_notes.push_back(note);
}

}  // namespace collbench::program
