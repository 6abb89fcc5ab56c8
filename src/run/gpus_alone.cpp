#include "src/run/gpus_alone.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <set>
#include <thread>

#include "analysis/probe/siblings.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_sinks.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {
namespace {

constexpr double kProbeOfEightGpus = 8.57;  // of --time
constexpr double kMinWorkSeconds = 0.05;    // that collbench probe takes
constexpr double kUnplannedSeconds = 120;   // the start of CUDA, and memory that a slow GPU fills slowly

ProbeRecord not_probed(const std::string& host, const std::string& why) {
  ProbeRecord record;
  record.host = host;
  record.notes = {"not measured: " + why};
  return record;
}

/// As CUDA_VISIBLE_DEVICES has it; empty where a GPU has none.
std::string uuids_of(const std::vector<collectives::VisibleGpu>& gpus, const Identities& machines, int node) {
  std::set<std::string> uuids;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    if (machines.at(rank).node == node) uuids.insert(gpus[rank].uuid);
  return uuids.contains("") ? "" : fmt::format("{}", fmt::join(uuids, ","));
}

/// On a thread of its own.
ProbeRecord probe_here(const std::string& host, const std::string& uuids, double seconds) try {
  launch::leave_binding();  // a core would be that of rank 0 alone, and the other ranks sleep
  const ScratchFolder folder;
  const std::string so_far = folder.file("probe.json");
  const ChildLimits limits{.seconds = kUnplannedSeconds + 2 * seconds, .interrupted = launch::interrupted};
  std::vector<std::string> words =
      gpu_probe_command(std::max(seconds / kProbeOfEightGpus, kMinWorkSeconds), 0);
  words.insert(words.end(), {"--gpu-timeout", "30", "-J", so_far});  // several may hang, one after another
  if (!uuids.empty()) words.insert(words.begin(), "CUDA_VISIBLE_DEVICES=" + uuids);
  const ChildResult result = run_child(launch::as_no_rank(words), limits);
  // A probe that found a slow GPU ends with 1.
  if (result.end == ChildEnd::exited &&
      (result.code == 0 || result.code == static_cast<int>(ExitStatus::low))) {
    ProbeRecord record = analysis::probe_from_json(result.out, "collbench probe");
    record.host = host;
    return record;
  }
  const std::string said = one_line(result.err.substr(0, result.err.find('\n')));
  const std::string why = said.empty() ? "collbench probe: " + describe_end(result, limits) : said;
  if (!std::filesystem::exists(so_far)) return not_probed(host, why);
  ProbeRecord record = analysis::probe_from_json(read_file(so_far), "collbench probe");
  record.host = host;
  std::erase(record.notes, kUnfinishedProbe);
  record.notes.insert(record.notes.begin(), "cut short: " + why);
  return record;
} catch (const std::exception& error) {
  return not_probed(host, fmt::format("collbench probe: {}", error.what()));
}

}  // namespace

std::vector<std::string> gpu_probe_command(double work_seconds, double soak_seconds) {
  std::vector<std::string> words{
      beside_this_program("collbench"),  "probe",      "--only", "gpu",      "--time",
      fmt::format("{:g}", work_seconds), "--progress", "never",  "--format", "json"};
  if (soak_seconds > 0) words.insert(words.end(), {"--soak", fmt::format("{:g}", soak_seconds)});
  return words;
}

double gpu_probe_command_seconds(double work_seconds, double soak_seconds) {
  return kProbeOfEightGpus * work_seconds + soak_seconds;
}

std::vector<ProbeRecord> probe_gpus(const launch::CollectiveWait& waiter, const Identities& machines,
                                    const std::vector<collectives::VisibleGpu>& gpus, double seconds) {
  constexpr auto kNap = std::chrono::milliseconds(50);  // cores are the probe's
  launch::Ranks& ranks = waiter.ranks();
  const Identity& mine = machines.at(static_cast<std::size_t>(ranks.rank()));
  std::future<ProbeRecord> probe;
  std::size_t asked = 0;
  waiter.wait(
      "the probe of each GPU alone",
      [&] {
        if (mine.local_rank == 0)
          probe = std::async(std::launch::async, probe_here, mine.host, uuids_of(gpus, machines, mine.node),
                             seconds);
      },
      [&] {
        if (probe.valid()) return probe.wait_for(kNap) == std::future_status::ready;
        std::this_thread::sleep_for(kNap);
        return true;
      },
      [&] { return ++asked; });  // the probe has a limit of its own
  const std::string text = probe.valid() ? analysis::probe_json(probe.get()) : "";
  std::vector<ProbeRecord> records;
  for (const std::string& each : ranks.gather(text))
    if (!each.empty()) records.push_back(analysis::probe_from_json(each, "collbench probe"));
  return records;
}

}  // namespace collbench::program
