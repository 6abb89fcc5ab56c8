#include "src/run/telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "analysis/counters/counter_rises.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"
#include "topology/graph/pci.hpp"
#include "topology/telemetry/nvidia_smi_telemetry.hpp"
#include "topology/telemetry/nvml_telemetry.hpp"

namespace collbench::program {
namespace {

bool is_same(const GpuTelemetry& gpu, const collectives::VisibleGpu& used) {
  // A MIG device has a UUID of its own, and its GPU's address.
  return gpu.uuid == used.uuid || gpu.address == topology::canonical_pci_address(used.address);
}

/// Whether a rank of this node uses the GPU.
bool is_used(const GpuTelemetry& gpu, const Identities& machines, int node,
             const std::vector<collectives::VisibleGpu>& gpus) {
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    if (machines.at(rank).node == node && is_same(gpu, gpus[rank])) return true;
  }
  return false;
}

/// The GPUs that ranks of this node use and that nothing was read of, which is not to say that they were
/// well.
std::vector<std::string> without_reading(const topology::TelemetryLog& log, const Identities& machines,
                                         int node, const std::vector<collectives::VisibleGpu>& gpus) {
  std::map<std::string, std::vector<int>> ranks;  // by GPU
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    if (machines.at(rank).node != node) continue;
    const bool is_read =
        std::ranges::any_of(log.gpus(), [&](const GpuTelemetry& gpu) { return is_same(gpu, gpus[rank]); });
    if (!is_read) ranks[gpus[rank].address].push_back(static_cast<int>(rank));
  }
  std::vector<std::string> words;
  for (const auto& [address, users] : ranks)
    words.push_back(fmt::format("{}, which rank{} {} use{}", address, users.size() == 1 ? "" : "s",
                                number_ranges(users), users.size() == 1 ? "s" : ""));
  return words;
}

std::string message_of(const topology::TelemetryLog& log, const Identity& mine, const Identities& machines,
                       const std::vector<collectives::VisibleGpu>& gpus) {
  Telemetry telemetry{.readings = log.readings(), .gpus = {}, .notes = {}};
  std::set<std::string> used;
  for (GpuTelemetry gpu : log.gpus()) {
    if (!is_used(gpu, machines, mine.node, gpus)) continue;
    gpu.host = mine.host;
    used.insert(gpu.uuid.empty() ? gpu.address : gpu.uuid);
    telemetry.gpus.push_back(std::move(gpu));
  }
  for (const std::string& note : log.notes())
    telemetry.notes.push_back(fmt::format("{}: {}", mine.host, note));
  if (!log.gpus().empty()) {
    for (const std::string& gpu : without_reading(log, machines, mine.node, gpus))
      telemetry.notes.push_back(fmt::format("{}: unknown: {} has no reading of GPU {}", mine.host,
                                            name(log.gpus().front().source), gpu));
  }
  Json marks = Json::array();
  for (const auto& [row, of_row] : log.marks()) {
    for (RowMark mark : of_row) {
      if (!used.contains(mark.gpu)) continue;
      mark.host = mine.host;
      marks.push_back({{"row", row}, {"mark", record_to_json(mark)}});
    }
  }
  const Json message{{"telemetry", record_to_json(telemetry)}, {"marks", std::move(marks)}};
  return json_line(message);
}

void add(GatheredTelemetry& all, const JsonReader& message) {
  auto theirs = record_from_json<Telemetry>(message.at("telemetry"));
  Telemetry& telemetry = all.telemetry;
  telemetry.readings = telemetry.gpus.empty() && telemetry.notes.empty()
                           ? theirs.readings
                           : std::min(telemetry.readings, theirs.readings);
  std::move(theirs.gpus.begin(), theirs.gpus.end(), std::back_inserter(telemetry.gpus));
  std::move(theirs.notes.begin(), theirs.notes.end(), std::back_inserter(telemetry.notes));
  for (const JsonReader& each : message.at("marks").items()) {
    all.marks[each.at("row").integer<std::size_t>()].push_back(record_from_json<RowMark>(each.at("mark")));
  }
}

}  // namespace

topology::ErrorCounters view_error_counters(const Identity& mine, const Clock& clock) {
  if (mine.local_rank != 0 || launch::time_is_simulated()) return {};
  try {
    topology::ErrorCounters counters = topology::read_error_counters("/sys");
    counters.host = mine.host;
    counters.unix_seconds = clock.seconds();
    return counters;
  } catch (const Error&) {
    return {};  // a file that cannot be read is no reason to end a run
  }
}

CounterNotes gather_counter_rises(launch::Ranks& ranks, const topology::ErrorCounters& before,
                                  const topology::ErrorCounters& now) {
  CounterNotes own;
  for (const analysis::CounterRise& rise : analysis::counter_rises(before, now, "")) {
    const bool is_carrier = rise.counter.ends_with(" carrier_changes");
    if (analysis::grade_of(rise) == analysis::RiseGrade::noted && !is_carrier) continue;
    // "mlx5_0/1 symbol_error"; the others are "PCI …" and "memory …".
    const bool is_port = rise.counter.find('/') < rise.counter.find(' ');
    (is_carrier || is_port ? own.network : own.machine)
        .push_back(analysis::rise_words(rise) + ": times measured meanwhile may be longer for it");
  }
  const auto of_all = [&ranks](const std::vector<std::string>& notes) {
    std::vector<std::string> all;
    for (const std::string& of_rank : ranks.gather(launch::packed(notes)))
      for (std::string& words : launch::unpacked(of_rank)) all.push_back(std::move(words));
    return all;
  };
  CounterNotes all;
  all.network = of_all(own.network);
  all.machine = of_all(own.machine);
  std::vector<std::string> counts;
  for (const auto& [counter, count] : now.counts) {
    const auto then = before.counts.find(counter);
    const std::uint64_t first = then == before.counts.end() ? 0 : then->second;
    // A carrier changes as an interface comes up.
    if (count == 0 || (count == first && counter.ends_with(" carrier_changes"))) continue;
    counts.insert(counts.end(), {now.host, counter, std::to_string(first), std::to_string(count)});
  }
  counts = of_all(counts);
  for (std::size_t i = 0; i + 3 < counts.size(); i += 4)
    all.counts.push_back({counts[i], counts[i + 1], std::stoull(counts[i + 2]), std::stoull(counts[i + 3])});
  return all;
}

topology::GpuReaders gpu_readers() {
  const std::string named = variable_value("COLLBENCH_NVML");
  topology::GpuReaders readers;
  readers.push_back(topology::make_nvml_reader(named.empty() ? topology::kNvmlLibrary : named));
  readers.push_back(topology::make_nvidia_smi_reader());
  return readers;
}

GatheredTelemetry gather_telemetry(launch::Ranks& ranks, const Identities& machines,
                                   const std::vector<collectives::VisibleGpu>& gpus,
                                   const topology::TelemetryLog* log) {
  const Identity& mine = machines.at(static_cast<std::size_t>(ranks.rank()));
  const std::vector<std::string> messages =
      ranks.gather(log == nullptr ? "" : message_of(*log, mine, machines, gpus));
  GatheredTelemetry all;
  for (const std::string& message : messages) {
    if (message.empty()) continue;
    const nlohmann::json document = parse_json(message, "telemetry");
    add(all, JsonReader(document, "telemetry"));
  }
  return all;
}

void RunTelemetry::begin(const launch::Ranks& ranks) {
  if (!wanted_) return;
  if (context_.machines[static_cast<std::size_t>(ranks.rank())].local_rank == 0)
    watch_.emplace(gpu_readers());
}

void RunTelemetry::running(std::optional<std::size_t> row) {
  if (watch_) watch_->running(row);
}

void RunTelemetry::end(launch::Ranks& ranks, Run& run) {
  if (!wanted_) return;
  const topology::TelemetryLog* const log = watch_ ? &watch_->finish() : nullptr;
  GatheredTelemetry all = gather_telemetry(ranks, context_.machines, gpus_.by_rank, log);
  if (!ranks.is_root()) return;
  run.telemetry = std::move(all.telemetry);
  marks_ = std::move(all.marks);
  mark_rows(run);
}

void RunTelemetry::mark_rows(Run& run) const {
  for (const auto& [row, marks] : marks_) {
    if (row < run.rows.size()) run.rows[row].measurement.marks = marks;
    if (row == run.rows.size() && run.sustained) run.sustained->measurement.marks = marks;
  }
}

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
