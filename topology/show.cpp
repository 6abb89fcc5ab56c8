#include "topology/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/lookup.hpp"
#include "topology/reference_machines.hpp"
#include "topology/show_affinity.hpp"
#include "topology/show_graphs.hpp"
#include "topology/show_matrix.hpp"
#include "topology/show_tree.hpp"
#include "topology/summarize_host.hpp"

namespace collbench {
namespace {

std::string source_name(const Host& host, int source) {
  const auto index = static_cast<std::size_t>(source);
  if (index >= host.sources.size()) return "?";
  return fmt::format("{} of {}", host.sources[index].reader, host.sources[index].place);
}

/// "GPU0, GPU1, GPU2 and 5 more".
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMostShown = 3;
  const std::size_t shown = std::min(names.size(), kMostShown);
  const std::string more = shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "";
  return fmt::format(
      "{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "), more);
}

/// One line for all devices on which the same two sources disagree in the same way: two views of a machine
/// may differ on a hundred paths for one reason.
std::string disagreements_text(const Host& host) {
  std::map<std::string, std::vector<std::string>> devices;  // by the words that follow them
  for (const Disagreement& d : host.disagreements) {
    devices[fmt::format("{}: {} ({}), {} ({})", d.attribute, d.kept, source_name(host, d.kept_source),
                        d.other, source_name(host, d.other_source))]
        .push_back(d.device);
  }
  std::string out;
  for (const auto& [words, names] : devices) {
    out += fmt::format("Disagree: {} {}\n", first_of(names), words);
  }
  return out;
}

/// "Peer access: 48 of 56 ways between GPUs OK; NS (not supported): GPU0 to GPU2, … and 5 more", as
/// nvidia-smi topo -p2p has it.
std::string peer_access_text(const Host& host) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMeanings{
      {{"CNS", "chipset not supported"},
       {"GNS", "GPU not supported"},
       {"TNS", "topology not supported"},
       {"NS", "not supported"},
       {"DR", "disabled by a registry key"}}};
  if (host.peer_access.empty()) return {};
  std::map<std::string, std::vector<std::string>> ways;  // by the word that is not OK
  std::size_t good = 0;
  for (const PeerAccess& access : host.peer_access) {
    const std::string state = access.state.value_or("U");
    good += state == "OK" ? 1 : 0;
    if (state != "OK")
      ways[state].push_back(
          fmt::format("{} to {}", device_label(host, access.from), device_label(host, access.to)));
  }
  std::string out = fmt::format("Peer access: {} of {} ways between GPUs OK", good, host.peer_access.size());
  for (auto& [state, names] : ways) {
    const auto* meaning = std::find_if(kMeanings.begin(), kMeanings.end(),
                                       [&word = state](const auto& each) { return each.first == word; });
    out += fmt::format("; {} ({}): {}", state, meaning == kMeanings.end() ? "unknown" : meaning->second,
                       first_of(names));
  }
  return out + "\n";
}

std::string trouble_text(const Host& host) {
  std::string out = disagreements_text(host);
  for (const std::string& note : host.notes) out += "Note: " + note + "\n";
  return out;
}

std::string show_host(const Host& host, const ShowOptions& options) {
  std::string out = host.name.value_or(host.sources.empty() ? "host" : host.sources.front().place);
  if (host.product.known()) out += "  " + *host.product.value;
  if (host.driver_version.known()) out += "  driver " + *host.driver_version.value;
  if (host.cuda_version.known()) out += "  CUDA " + *host.cuda_version.value;
  if (host.fabric_manager.known()) out += "  fabric manager " + *host.fabric_manager.value;
  if (host.peer_memory.known()) out += "  peer memory " + *host.peer_memory.value;
  out += "\n" + summarize_host(host) + "\n";
  out += show_tree(host);
  out += show_affinity(host);
  if (options.matrix) out += show_matrix(host);
  out += peer_access_text(host);
  out += show_graphs(host);
  out += trouble_text(host);
  if (options.sources) {
    for (const Source& source : host.sources) {
      out += fmt::format("Source: {}, {}{}\n", source.reader, source.place,
                         source.version.empty() ? "" : ", " + source.version);
    }
  }
  return out;
}

}  // namespace

std::string show_topology(const Topology& topology, const ShowOptions& options) {
  std::string out;
  for (const Host& host : topology.hosts) out += (out.empty() ? "" : "\n") + show_host(host, options);
  return out;
}

std::string list_reference_machines() {
  std::string out;
  for (const ReferenceMachine& machine : reference_machines()) {
    out += fmt::format("{:<12}  {}\n", machine.name, machine.title);
  }
  return out;
}

}  // namespace collbench
