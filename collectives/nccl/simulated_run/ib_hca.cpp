#include "collectives/nccl/simulated_run/ib_hca.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string>

#include "base/text_input.hpp"
#include "base/xml_input.hpp"

namespace collbench::collectives {
namespace {

bool matches(const std::string& entry, bool whole_name, std::string_view name, int port) {
  const auto parts = split_cells(entry, ':');
  if (parts.front().empty()) return false;
  if (whole_name ? name != parts.front() : !name.starts_with(parts.front())) return false;
  if (parts.size() < 2) return true;
  const auto wanted = parse_integer(parts[1], 0, 1024);
  return !wanted || *wanted == port;
}

}  // namespace

bool ib_hca_allows(std::string_view list, std::string_view name, int port) {
  const bool excludes = list.starts_with('^');
  if (excludes) list.remove_prefix(1);
  const bool whole_name = list.starts_with('=');
  if (whole_name) list.remove_prefix(1);
  if (trim(list).empty()) return true;
  const auto entries = split_cells(list, ',');
  const bool named = std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return matches(entry, whole_name, name, port);
  });
  return named != excludes;
}

std::string topology_with_hcas(const std::string& xml, std::string_view list) {
  (void)XmlInput(xml, "the topology", "system", "an NCCL topology XML");
  pugi::xml_document document;
  document.load_string(xml.c_str());
  int number = 0;
  for (const pugi::xpath_node& found : document.select_nodes("//net")) {
    pugi::xml_node net = found.node();
    const std::string unnamed = "sim" + std::to_string(number++);
    if (!net.attribute("name")) net.append_attribute("name") = unnamed.c_str();
    if (!ib_hca_allows(list, net.attribute("name").value(), net.attribute("port").as_int(1))) {
      net.parent().remove_child(net);  // its <nic> stays: without one the device would count as a NIC again
    }
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
  return out.str();
}

}  // namespace collbench::collectives
