#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/units.hpp"
#include "src/cli/standard_streams.hpp"
#include "tools/nccl_plan/plan/nccl_debug_log.hpp"
#include "tools/nccl_plan/simulated_run/ib_hca.hpp"
#include "tools/nccl_plan/simulated_run/simulated_rank.hpp"
#include "tools/nccl_plan/simulated_run/simulated_run.hpp"
#include "topology/render/render.hpp"

namespace collbench::program {
namespace {

using Settings = NcclSettings;
using SteadyClock = std::chrono::steady_clock;

/// A node as NCCL reads it, and its GPUs.
struct NodeFile {
  std::string xml;
  int gpus = 0;
};

/// The XML with processors for each NUMA node that names none, as in reference machines: NCCL 2.30.7 finds
/// half the rings without; 2.28.9 does not mind.
std::string with_affinity(const std::string& xml) {
  constexpr int kMaxNumaNodes = 1024;
  pugi::xml_document document;
  if (!document.load_string(xml.c_str())) return xml;
  for (pugi::xml_node cpu : document.child("system").children("cpu")) {
    if (!std::string_view(cpu.attribute("affinity").value()).empty()) continue;
    std::string mask = "ffffffff";  // the kernel's form: words of 32 processors, the highest first
    for (int i = 0; i < std::min(cpu.attribute("numaid").as_int(), kMaxNumaNodes); ++i) mask += ",00000000";
    cpu.remove_attribute("affinity");
    cpu.append_attribute("affinity") = mask.c_str();
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
  return out.str();
}

NodeFile node_file(const topology::Host& host) {
  return {topology::write_nccl_topology_xml(host), static_cast<int>(host.gpus.size())};
}

/// The hosts that an argument names. NCCL's own XML stays as it is: nothing that only NCCL knows gets lost.
std::vector<NodeFile> node_files(const std::string& argument) {
  const topology::ResolvedMachine machine = topology::resolve_machine(argument);
  std::vector<NodeFile> files;
  for (const topology::Host& host : machine.topology.hosts) files.push_back(node_file(host));
  if (files.empty() || files.front().gpus == 0) {
    throw usage_error(argument, "it has no GPU", "give a machine with GPUs; see collbench topo list");
  }
  if (files.size() == 1 && topology::names_file(argument) && std::filesystem::is_regular_file(argument)) {
    std::string text = read_file(argument);
    if (text.find("<system") != std::string::npos && text.find("<cpu") != std::string::npos) {
      files.front().xml = std::move(text);
    }
  }
  for (NodeFile& file : files) file.xml = with_affinity(file.xml);
  return files;
}

/// The user's own settings of NCCL that have a meaning on another machine.
Settings users_settings() {
  const auto foreign = collectives::variables_of_real_hosts();
  Settings settings;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("NCCL_") || equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (std::ranges::find(foreign, name) != foreign.end()) continue;
    settings.emplace_back(name, text.substr(equals + 1));
  }
  std::ranges::sort(settings);
  return settings;
}

std::vector<NodeFile> all_nodes(const NcclPlanRequest& request) {
  const std::vector<NodeFile> given = node_files(request.topology);
  const std::size_t count = request.nodes > 0 ? static_cast<std::size_t>(request.nodes) : given.size();
  if (!request.odd_node.empty() && count < 2)
    throw usage_error("--odd-node", "it is the machine of the last of several nodes, and there is one node",
                      "give --nodes 2 or more");
  const int per_node = request.ranks_per_node > 0 ? request.ranks_per_node : given.front().gpus;
  const int joined =
      nodes_joined_by_nvlink(topology::resolve_machine(request.topology), static_cast<int>(count),
                             request.ranks_per_node, users_settings());
  const std::size_t in_domain = std::min(static_cast<std::size_t>(joined), count);
  collectives::require_simulated_memory(count * static_cast<std::size_t>(per_node),
                                        in_domain > 1 ? in_domain * static_cast<std::size_t>(per_node) : 0);
  std::vector<NodeFile> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(given[std::min(i, given.size() - 1)]);
  if (!request.odd_node.empty()) nodes.back() = node_files(request.odd_node).front();
  return nodes;
}

/// One rank for each GPU of the node that has the fewest, or as many as asked for.
int ranks_per_node(const NcclPlanRequest& request, const std::vector<NodeFile>& nodes) {
  int least = nodes.front().gpus;
  for (const NodeFile& node : nodes) least = std::min(least, node.gpus);
  if (request.ranks_per_node == 0) return least;
  if (request.ranks_per_node <= least) return request.ranks_per_node;
  throw usage_error("--ranks-per-node", "the node has " + counted(least, "GPU"), "give at most as many");
}

std::optional<std::string> hcas_in(const Settings& settings) {
  for (const auto& [name, value] : settings) {
    if (name == "NCCL_IB_HCA") return value;
  }
  return std::nullopt;
}

/// Says, once, where NCCL_IB_HCA names no NIC that there is.
void add_unmatched_hcas(const std::vector<NodeFile>& nodes, const Settings& settings,
                        std::vector<std::string>& notes) {
  const std::optional<std::string> hcas = hcas_in(settings);
  if (!hcas) return;
  std::vector<std::string> files;
  for (const NodeFile& node : nodes) files.push_back(node.xml);
  std::string note = unmatched_hcas(files, *hcas);
  if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

/// A row for each operation and size. Operations that are made of sends and receives have no algorithm, and
/// NCCL expects no time of them.
std::vector<NcclPlannedRow> planned_rows(const NcclPlanRequest& request,
                                         const collectives::SimulatedRun& run) {
  std::vector<NcclPlannedRow> rows;
  std::size_t call = 0;
  for (const OperationId id : request.operations) {
    for (const std::uint64_t size : request.sizes) {
      NcclPlannedRow& row = rows.emplace_back(NcclPlannedRow{id, size, {}, {}});
      if (!collectives::nccl_chooses_for(id)) {
        row.selection.algorithm = "p2p";
        continue;
      }
      const collectives::SimulatedCallResult& result = run.calls.at(call++);
      if (result.selection) row.selection = *result.selection;
      if (const auto logged = analysis::last_nccl_choice(result.log)) {
        row.selection.algorithm = logged->algorithm;
        row.selection.protocol = logged->protocol;
        if (logged->channels > 0) row.selection.channels = logged->channels;
        row.expected_seconds = logged->expected_seconds;
      }
      if (const auto seconds = nccl_expected_seconds(row.selection)) row.expected_seconds = seconds;
    }
  }
  return rows;
}

SimulatedNodes nodes_for_ranks(const NcclPlanRequest& request, const std::vector<NodeFile>& nodes,
                               const Settings& settings) {
  SimulatedNodes result{
      .xml = {},
      .ranks_per_node = ranks_per_node(request, nodes),
      .per_domain = nodes_joined_by_nvlink(topology::resolve_machine(request.topology),
                                           static_cast<int>(nodes.size()), request.ranks_per_node, settings)};
  const std::optional<std::string> hcas = hcas_in(settings);
  for (const NodeFile& node : nodes) {
    result.xml.push_back(hcas ? collectives::topology_with_hcas(node.xml, *hcas) : node.xml);
  }
  return result;
}

NcclPlan plan_of(const NcclPlanRequest& request, const std::vector<NodeFile>& nodes,
                 const std::string& library, const Settings& settings) {
  const SimulatedNodes ranked = nodes_for_ranks(request, nodes, settings);
  collectives::SimulatedJob job{.library = library,
                                .node_xml = ranked.xml,
                                .ranks_per_node = ranked.ranks_per_node,
                                .nodes_per_domain = ranked.per_domain,
                                .settings = settings,
                                .calls = {}};
  for (const OperationId id : request.operations) {
    for (const std::uint64_t size : request.sizes) {
      if (collectives::nccl_chooses_for(id)) job.calls.push_back({id, size});
    }
  }
  ProgressLine progress(::isatty(STDERR_FILENO) == 1);
  job.progress = [&progress, begin = SteadyClock::now()](const std::string& text) {
    constexpr double kSilentSeconds = 2;
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    if (seconds > kSilentSeconds) progress.show(text, seconds);
  };
  const collectives::SimulatedRun run = collectives::run_simulated(job);
  std::vector<analysis::NcclRankLog> logs;
  for (const std::string& log : run.logs) logs.push_back(analysis::read_nccl_rank_log(log));
  NcclPlan plan = analysis::nccl_plan_of(logs, job.ranks_per_node);
  plan.machine = request.odd_node.empty()
                     ? request.topology
                     : fmt::format("{}, the last node {}", request.topology, request.odd_node);
  plan.library = run.library;
  plan.settings = settings;
  plan.rows = planned_rows(request, run);
  return plan;
}

void add_trials(const NcclPlanRequest& request, const std::vector<NodeFile>& nodes, const Settings& settings,
                analysis::NcclPlanReport& report) {
  std::vector<std::string> node_xml;
  for (const NodeFile& node : nodes) node_xml.push_back(node.xml);
  if (hcas_in(settings)) report.notes.emplace_back("NCCL_IB_HCA is set, so --advice leaves out no NIC");
  for (const NcclTrialSetup& setup : nccl_trials(node_xml, settings)) {
    std::vector<NodeFile> changed = nodes;
    for (std::size_t i = 0; i < changed.size(); ++i) changed[i].xml = setup.node_xml[i];
    report.trials.push_back({setup.setting, plan_of(request, changed, request.library, setup.settings)});
  }
}

}  // namespace

SimulatedNodes simulated_nodes(const NcclPlanRequest& request) {
  return nodes_for_ranks(request, all_nodes(request), users_settings());
}

analysis::NcclPlanReport nccl_plan_report(const NcclPlanRequest& request) {
  const std::vector<NodeFile> nodes = all_nodes(request);
  if (nodes.size() * static_cast<std::size_t>(ranks_per_node(request, nodes)) < 2) {
    throw usage_error("--ranks-per-node", "a collective needs at least two ranks", "give two or more");
  }
  if (request.advice && nodes.size() < 2) {
    throw usage_error("--advice", "it is about what crosses nodes, and there is one node",
                      "give --nodes 2 or more");
  }
  const std::size_t equals = request.versus.find('=');
  const bool versus_setting = equals != std::string::npos;
  const std::string setting = request.versus.substr(0, equals);
  // Before a simulation of minutes, where the library is named.
  if (versus_setting && !request.library.empty()) require_known_setting(request.library, setting);
  const Settings settings = users_settings();
  analysis::NcclPlanReport report{.plan = plan_of(request, nodes, request.library, settings),
                                  .versus = {},
                                  .versus_name = request.versus,
                                  .notes = {}};
  report.notes =
      simulation_notes(topology::resolve_machine(request.topology), report.plan, request.ranks_per_node);
  add_unmatched_hcas(nodes, settings, report.notes);
  if (request.advice) add_trials(request, nodes, settings, report);
  if (request.versus.empty()) return report;
  if (!versus_setting) {
    report.versus = plan_of(request, nodes, request.versus, settings);
    return report;
  }
  if (request.library.empty()) require_known_setting(report.plan.library, setting);
  const Settings other = with_setting(settings, setting, request.versus.substr(equals + 1));
  add_unmatched_hcas(nodes, other, report.notes);
  report.versus = plan_of(request, nodes, request.library, other);
  return report;
}

}  // namespace collbench::program
