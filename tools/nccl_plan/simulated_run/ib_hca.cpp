#include "tools/nccl_plan/simulated_run/ib_hca.hpp"

#include <algorithm>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "base/xml_input.hpp"

namespace collbench::collectives {
namespace {

struct Entry {
  std::string name;
  std::optional<int> port;  ///< none: every port. What is no number is 0 (atoi), which no port has
};

/// Split at commas and colons, not trimmed: a blank is part of a name, which then is no NIC's.
std::vector<Entry> entries_of(std::string_view list) {
  std::vector<Entry> entries;
  std::istringstream text{std::string(list)};
  for (std::string word; std::getline(text, word, ',');) {
    std::istringstream parts(word);
    Entry entry;
    std::string port;
    std::getline(parts, entry.name, ':');
    std::getline(parts, port, ':');
    if (!port.empty()) entry.port = std::atoi(port.c_str());  // NOLINT(cert-err34-c): NCCL's own rule
    if (!entry.name.empty()) entries.push_back(entry);
  }
  return entries;
}

/// Lanes × GT/s ("32.0 GT/s PCIe") of the slowest link from the port up to the CPU; 0: no file says.
double pcie_above(const pugi::xml_node& net) {
  double slowest = 0;
  for (pugi::xml_node above = net.parent(); above; above = above.parent()) {
    const double each = above.attribute("link_width").as_int() * above.attribute("link_speed").as_double();
    if (each > 0 && (slowest == 0 || each < slowest)) slowest = each;
  }
  return slowest;
}

/// Its ports in the order of the file, each with the name that it has or gets.
std::vector<std::pair<pugi::xml_node, HcaPort>> named_ports(const std::string& xml,
                                                            pugi::xml_document& document) {
  (void)XmlInput(xml, "the topology", "system", "an NCCL topology XML");
  document.load_string(xml.c_str());
  std::vector<std::pair<pugi::xml_node, HcaPort>> ports;
  for (const pugi::xpath_node& found : document.select_nodes("//net")) {
    pugi::xml_node net = found.node();
    const std::string unnamed = "sim" + std::to_string(ports.size());
    if (!net.attribute("name")) net.append_attribute("name") = unnamed.c_str();
    constexpr double kMegabitsInGigabit = 1000;
    ports.emplace_back(net, HcaPort{.name = net.attribute("name").value(),
                                    .port = net.attribute("port").as_int(1),
                                    .gigabits = net.attribute("speed").as_double() / kMegabitsInGigabit,
                                    .pcie_gigabits = pcie_above(net)});
  }
  return ports;
}

}  // namespace

bool ib_hca_allows(std::string_view list, std::string_view name, int port) {
  const bool excludes = list.starts_with('^');
  if (excludes) list.remove_prefix(1);
  const bool whole_name = list.starts_with('=');
  if (whole_name) list.remove_prefix(1);
  const std::vector<Entry> entries = entries_of(list);
  // No entry is as good as every NIC, also behind a caret, which then leaves none.
  const bool named = entries.empty() || std::ranges::any_of(entries, [&](const Entry& entry) {
                       return (whole_name ? name == entry.name : name.starts_with(entry.name)) &&
                              entry.port.value_or(port) == port;
                     });
  return named != excludes;
}

std::vector<HcaPort> hca_ports(const std::string& xml) {
  pugi::xml_document document;
  std::vector<HcaPort> ports;
  for (auto& [net, port] : named_ports(xml, document)) ports.push_back(std::move(port));
  return ports;
}

std::string topology_with_hcas(const std::string& xml, std::string_view list) {
  pugi::xml_document document;
  for (const auto& [net, port] : named_ports(xml, document)) {
    // Its <nic> stays: without one the device would count as a NIC again.
    if (!ib_hca_allows(list, port.name, port.port)) net.parent().remove_child(net);
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
  return out.str();
}

}  // namespace collbench::collectives
