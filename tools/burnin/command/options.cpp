#include "tools/burnin/command/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/secrets/secrets.hpp"
#include "launch/launcher.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::program {

using analysis::BurninPhase;

std::vector<BurninPhase> usual_phases() {
  std::vector<BurninPhase> phases = analysis::burnin_phases();
  std::erase(phases, BurninPhase::halving);
  return phases;
}

void require_sensible(const BurninOptions& options) {
  if (launch::launched_rank()) {
    throw usage_error("burnin", "it was started as a rank",
                      "run it without a launcher; it starts one for each pair");
  }
  if (!options.from_path.empty()) {
    const std::array<std::pair<const char*, bool>, 4> measuring{{{"--hosts", !options.hosts.empty()},
                                                                 {"-J", !options.record_path.empty()},
                                                                 {"--resume", options.resume},
                                                                 {"--dry-run", options.dry_run}}};
    const auto* const given = std::ranges::find_if(measuring, [](const auto& each) { return each.second; });
    if (given != measuring.end())
      throw usage_error(given->first, "--from says what a file says, and measures nothing",
                        "leave one of the two out");
    return;
  }
  if (!options.choice.column.empty() || !options.choice.where.empty()) {
    throw usage_error(options.choice.column.empty() ? "--where" : "--column",
                      "it chooses from a table of pairs, and there is none", "give --from FILE");
  }
  if (options.hosts.empty())
    throw usage_error(
        "burnin", "no hosts are named",
        "give --hosts LIST or @FILE, or --from FILE for what a record or a table of pairs says");
  if (options.hosts.size() <= analysis::slot_of(analysis::kMinPartners)) {
    throw usage_error(
        "--hosts",
        fmt::format("{} cannot be told apart: each needs {} others to be judged",
                    counted(options.hosts.size(), "host"), analysis::kMinPartners),
        fmt::format("name at least {}, joined by commas, as node[01-30] or as @FILE with one a line",
                    analysis::kMinPartners + 1));
  }
  for (const std::string_view slot : {"{a}", "{b}"}) {
    if (options.launcher.find(slot) != std::string::npos) continue;
    throw usage_error("--launcher", fmt::format("'{}' lacks {}", options.launcher, slot),
                      "write {a} and {b} where the two hosts' names go");
  }
  if (!options.group_launcher.empty() && options.group_launcher.find("{slots}") == std::string::npos &&
      options.group_launcher.find("{hosts}") == std::string::npos) {
    throw usage_error("--group-launcher", fmt::format("'{}' names no hosts", options.group_launcher),
                      fmt::format("write {{hosts}} (a,b) or {{slots}} (a:2,b:2) where they go, {{nodes}} and "
                                  "{{ranks}} for how many; under Slurm \"{}\"",
                                  kSrunGroups));
  }
  if (options.phases_given && !launches_groups(options) &&
      (options.phases.size() > 1 || options.phases.front() != BurninPhase::pairs)) {
    throw usage_error("--phases", "--launcher starts pairs only",
                      fmt::format("give --group-launcher as well, such as \"{}\"", kSrunGroups));
  }
  if (options.rails > 1 && options.rail_setting.find("{rail}") == std::string::npos) {
    throw usage_error("--rail-setting", "nothing tells the launches of one rail from those of another",
                      "such as --rail-setting NCCL_IB_HCA=mlx5_{rail}");
  }
  if (options.nvlink_nodes > 0 && !has_phase(options, BurninPhase::halving))
    throw usage_error("--nvlink-nodes", "only --diagnose measures with NVLink between hosts and without it",
                      "add --diagnose, or leave it out");
  if (options.expected > 0 && has_phase(options, BurninPhase::halving))
    throw usage_error("--expected", "it is a rate of pairs, and --diagnose measures groups",
                      "leave it out; on GPUs groups are held against a sound machine");
  if (options.resume && options.record_path.empty())
    throw usage_error("--resume", "the record to go on with is unknown", "give it with -J");
  if (options.format != "text" && options.dry_run)
    throw usage_error("--format", "a plan is text", "leave --format or --dry-run out");
}

std::map<std::string, std::string> measuring_settings(const BurninOptions& options) {
  std::map<std::string, std::string> settings{
      {"--launcher", options.launcher},
      {"--group-launcher", options.group_launcher},
      {"--rail-setting", options.rail_setting},
      {"--ranks-per-host", std::to_string(options.ranks_per_host)},
      // More passes have a quicker quickest one, and more launches at once disturb each other more.
      {"--pair-seconds", fmt::format("{:g}", options.pair_seconds)},
      {"--gpu-seconds", fmt::format("{:g}", options.gpu_seconds)},
      {"--soak", fmt::format("{:g}", options.soak_seconds)},
      {"--parallel", std::to_string(options.parallel)}};
  if (options.nvlink_nodes > 0) settings["--nvlink-nodes"] = std::to_string(options.nvlink_nodes);
  if (!options.group_algorithms.empty())
    settings["--group-algos"] = fmt::format("{}", fmt::join(options.group_algorithms, ","));
  constexpr std::array<std::string_view, 4> kOfLibraries{"NCCL_", "UCX_", "FI_", "OMPI_MCA_"};
  for (const auto& [name, value] : launch::recorded_environment()) {
    if (std::ranges::any_of(kOfLibraries, [&variable = name](std::string_view prefix) {
          return variable.starts_with(prefix);
        }))
      settings[name] = value;
  }
  // These words are a user's own, and may have anything in them.
  for (const char* option : {"--launcher", "--group-launcher", "--rail-setting"})
    settings[option] = recorded_words({settings[option]}).front();
  return settings;
}

std::vector<int> leaves_of(const BurninOptions& options) {
  std::vector<int> leaves;
  for (std::size_t host = 0; options.leaf_nodes > 0 && host < options.hosts.size(); ++host)
    leaves.push_back(static_cast<int>(host) / options.leaf_nodes);
  return leaves;
}

std::string whole_fleet_note(const BurninOptions& options) {
  std::string note;
  const auto add = [&](const char* option, int hosts, const char* what) {
    if (std::cmp_greater(hosts, options.hosts.size()))
      note += fmt::format("{}{} {}: all {} are taken to be {}", note.empty() ? "" : "; ", option, hosts,
                          counted(options.hosts.size(), "host"), what);
  };
  add("--leaf-nodes", options.leaf_nodes, "below one leaf");
  add("--nvlink-nodes", options.nvlink_nodes, "in one NVLink domain");
  return note;
}

bool launches_groups(const BurninOptions& options) {
  return options.launcher == kPairLauncher || !options.group_launcher.empty();
}

bool has_phase(const BurninOptions& options, BurninPhase phase) {
  if (phase == BurninPhase::rails && options.rails < 2) return false;
  if (phase == BurninPhase::groups && options.hosts.size() < 5) return false;
  if (phase != BurninPhase::pairs && !launches_groups(options)) return false;
  return std::ranges::find(options.phases, phase) != options.phases.end();
}

std::vector<analysis::LeftOutPhase> phases_left_out(const BurninOptions& options) {
  std::vector<analysis::LeftOutPhase> left_out;
  const bool diagnoses = has_phase(options, BurninPhase::halving);
  for (const BurninPhase phase : usual_phases()) {
    if (has_phase(options, phase)) continue;
    const bool asked = std::ranges::find(options.phases, phase) != options.phases.end();
    const std::string_view why = !asked && diagnoses           ? "--diagnose"
                                 : !asked                      ? "--phases"
                                 : !launches_groups(options)   ? "no --group-launcher"
                                 : phase == BurninPhase::rails ? "there is one rail"
                                                               : "fewer than 5 hosts";
    left_out.push_back(analysis::left_out(phase, why));
  }
  return left_out;
}

}  // namespace collbench::program
