#include "src/run/gpus_alone.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <utility>

#include "analysis/probe/siblings.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "launch/interruption.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {
namespace {

constexpr double kProbeOfEightGpus = 8.57;  // of --time
constexpr double kUnplannedSeconds = 120;   // the start of CUDA, and memory that a slow GPU fills slowly

ProbeRecord not_probed(const std::string& host, const std::string& why) {
  ProbeRecord record;
  record.host = host;
  record.notes = {"not measured: " + why};
  return record;
}

ProbeRecord probe_here(const std::string& host, double seconds) try {
  const ChildLimits limits{.seconds = kUnplannedSeconds + 2 * seconds, .interrupted = launch::interrupted};
  const ChildResult result = run_child(gpu_probe_command(seconds / kProbeOfEightGpus, 0), limits);
  // A probe that found a slow GPU ends with 1.
  if (result.end == ChildEnd::exited &&
      (result.code == 0 || result.code == static_cast<int>(ExitStatus::low))) {
    ProbeRecord record = analysis::probe_from_json(result.out, "collbench probe");
    record.host = host;
    return record;
  }
  const std::string said = one_line(result.err.substr(0, result.err.find('\n')));
  return not_probed(host, said.empty() ? "collbench probe: " + describe_end(result, limits) : said);
} catch (const Error& error) {
  return not_probed(host, fmt::format("{}: {}", error.where(), error.what()));
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
                                    double seconds) {
  launch::Ranks& ranks = waiter.ranks();
  const Identity& mine = machines.at(static_cast<std::size_t>(ranks.rank()));
  std::future<ProbeRecord> probe;
  std::size_t asked = 0;
  waiter.wait(
      "the probe of each GPU alone",
      [&] {
        if (mine.local_rank == 0) probe = std::async(std::launch::async, probe_here, waiter.host(), seconds);
      },
      [&] { return !probe.valid() || probe.wait_for(std::chrono::seconds(0)) == std::future_status::ready; },
      [&] { return ++asked; });  // the probe has a limit of its own
  const std::string text = probe.valid() ? analysis::probe_json(probe.get()) : "";
  std::vector<ProbeRecord> records;
  for (const std::string& each : ranks.gather(text))
    if (!each.empty()) records.push_back(analysis::probe_from_json(each, "collbench probe"));
  return records;
}

}  // namespace collbench::program
