#include "tools/burnin/command/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/options.hpp"
#include "tools/burnin/attribution/group_phases.hpp"
#include "tools/burnin/command/documents.hpp"

namespace collbench::program {

using analysis::BurninPhase;
using analysis::phase_names;

void add_burnin_options(CLI::App& command, const std::shared_ptr<BurninOptions>& options) {
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    return add_option(command, "Options", names, value, help, take);
  };
  add("--hosts", "LIST|@FILE", "the hosts, joined by commas, node[01-30] or a file with one a line",
      [options](const std::string& text) { options->hosts = parse_hosts(text, "--hosts"); });
  add("--from", "FILE",
      "instead: say what the record of an earlier burn-in says, or a table or matrix of pairs that others "
      "measured, and measure nothing",
      into(options->from_path));
  add("--column", "NAME", "of that table: the column of rates (by its name: busbw, bandwidth, GB/s)",
      into(options->choice.column));
  add("--where", "COLUMN=CELL", "of that table: only rows with this cell; more than once: with all of them",
      [options](const std::string& text) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
          throw usage_error("--where", fmt::format("'{}' is no column and cell", text),
                            "such as --where test=alltoall_perf");
        options->choice.where.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      })
      ->trigger_on_parse();
  add("--launcher", "WORDS",
      "starts two ranks on {a} and {b} (mpirun -np 2 --host {a}:1,{b}:1 --map-by node)",
      into(options->launcher));
  add("--group-launcher", "WORDS",
      fmt::format("starts {{ranks}} ranks on {{nodes}} hosts, {{hosts}} (a,b) or {{slots}} (a:2,b:2) ({}); "
                  "under Slurm \"{}\"",
                  kGroupLauncher, kSrunGroups),
      into(options->group_launcher));
  auto* const phases =
      add("--phases", "LIST", "of gpus, nodes, rails, pairs, groups, whole (all that the launchers start)",
          [options](const std::string& text) {
            std::vector<std::string> names = phase_names();
            names.pop_back();  // halving is --diagnose
            options->phases.clear();
            options->phases_given = true;
            for (const std::string& word : split_list(text)) {
              const std::string found = parse_name(word, "--phases", names);
              options->phases.push_back(
                  static_cast<BurninPhase>(std::ranges::find(names, found) - names.begin()));
            }
          });
  command
      .add_flag_callback(
          "--diagnose",
          [options] {
            options->phases = {BurninPhase::halving};
            options->phases_given = true;
          },
          "instead: whole leaves in one group each, and halves of those that are slow, down to the host, "
          "NIC, GPU or path")
      ->excludes(phases)
      ->group("Options");
  add("--ranks-per-host", "N",
      "in phases nodes (2 at least), groups and whole: as many as a host has GPUs (1)",
      number_into(options->ranks_per_host, "--ranks-per-host", 1, 1024));
  add("--group-algos", "LIST",
      "algorithms to force in groups and whole as well, by the names of --algo of a run (after phase nodes "
      "on GPUs ring,tree)",
      [options](const std::string& text) { options->group_algorithms = split_list(text); });
  add("--rails", "N", "rails, each measured by launches of its own (1)",
      number_into(options->rails, "--rails", 1, 64));
  add("--rail-setting", "NAME=VALUE", "what keeps a launch on its rail, such as NCCL_IB_HCA=mlx5_{rail}",
      into(options->rail_setting));
  add("--leaf-nodes", "N", "hosts below one leaf switch, in the order of --hosts (not known)",
      number_into(options->leaf_nodes, "--leaf-nodes", 1, 1'000'000));
  add("--nvlink-nodes", "N",
      "with --diagnose: hosts of a domain with NVLink between them, in the order of --hosts; measured with "
      "it and without (none)",
      number_into(options->nvlink_nodes, "--nvlink-nodes", 2, 1'000'000));
  add("--bytes", "SIZE", "of a message (64M)", [options](const std::string& text) {
    const std::vector<std::uint64_t> sizes = parse_size_list(text, "--bytes");
    if (sizes.size() != 1 || sizes.front() == 0)
      throw usage_error("--bytes", "'" + text + "' is not one size", "give one, such as 64M");
    options->bytes = sizes.front();
  });
  add("--pair-seconds", "SECONDS", "for each pair and rail (3)",
      number_into(options->pair_seconds, "--pair-seconds", 0.1, 1000.0));
  add("--gpu-seconds", "SECONDS", "of each type of product in the probe of GPUs (20)",
      number_into(options->gpu_seconds, "--gpu-seconds", 0.05, 600.0));
  add("--soak", "SECONDS", "of a product on all GPUs at the end of that probe, such as 120 (none)",
      number_into(options->soak_seconds, "--soak", 0.05, 86'400.0));
  add("--expected", "GB/S",
      "of a message one way on a rail; without it hosts are only compared with each other",
      [options](const std::string& text) {
        options->expected = kGigabyte * parse_number(text, "--expected", 1e-6, 1e6);
      });
  add("--parallel", "N", "pairs, groups or hosts measured at the same time (128)",
      number_into(options->parallel, "--parallel", 1, 100'000));
  add("--time", "SECONDS", "for all phases and retests; what does not fit is left out, and said (no bound)",
      number_into(options->seconds, "--time", 1.0, 1e7));
  command
      .add_flag_callback(
          "--no-counters", [options] { options->counters = false; },
          "leave out error counters of the hosts, read before and after each phase")
      ->group("Options");
  command.add_flag("--dry-run", options->dry_run, "print rounds and minutes, and measure nothing")
      ->group("Options");
  add("-J,--record", "FILE", "the record as JSON, written after each round", into(options->record_path));
  command.add_flag("--resume", options->resume, "go on with the record of -J")->group("Options");
  command.add_flag("--overwrite", options->overwrite, "replace the record of -J")->group("Options");
  add("--html", "FILE", "also a page of the findings, with the map, that needs no network",
      into(options->html_path));
  add("--csv", "FILE", "also each direction that was measured, a line each", into(options->csv_path));
  add("--plot-file", "FILE", "also the map of pairs and rails as SVG", into(options->picture_path));
  add_progress_option(command, "Options", options->progress);
  set_choices(*add("--format", "NAME",
                   "of stdout: text, json, csv and matrix (the pairs), svg and html, junit, prom, hostfile "
                   "or nodelist (of the good), drain (of the bad) (text)",
                   [options](const std::string& text) {
                     options->format = parse_name(text, "--format", burnin_formats());
                   }),
              burnin_formats());
}

}  // namespace collbench::program
