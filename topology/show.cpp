#include "topology/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "topology/reference_machines.hpp"
#include "topology/show_affinity.hpp"
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

/// One line for all devices on which the same two sources disagree in the same way: two views of a machine
/// may differ on a hundred paths for one reason.
std::string disagreements_text(const Host& host) {
  constexpr std::size_t kMostDevices = 3;
  std::map<std::string, std::vector<std::string>> devices;  // by the words that follow them
  for (const Disagreement& d : host.disagreements) {
    devices[fmt::format("{}: {} ({}), {} ({})", d.attribute, d.kept, source_name(host, d.kept_source),
                        d.other, source_name(host, d.other_source))]
        .push_back(d.device);
  }
  std::string out;
  for (auto& [words, names] : devices) {
    const std::size_t more = names.size() - std::min(names.size(), kMostDevices);
    names.resize(names.size() - more);
    out += fmt::format("Disagree: {}{} {}\n", fmt::join(names, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "", words);
  }
  return out;
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
