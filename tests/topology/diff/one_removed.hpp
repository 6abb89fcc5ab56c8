#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tests/topology/diff/held.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {

/// A file of which one device, link or NUMA node was taken away.
struct OneRemoved {
  std::string what;  ///< the line or the start of the element
  std::string text;
};

/// Elements of NCCL, hwloc (its GPUs by vendor, since a screen is no accelerator) and nvidia-smi -q -x.
inline constexpr const char* kRemovableElements =
    "/system//*[self::cpu or self::pci or self::gpu or self::nic or self::net or self::nvlink]"
    "|/graphs//*[self::graph or self::channel or self::gpu or self::net]"
    "|//object[@type='NUMANode']"
    "|//object[starts-with(@pci_type, '02')]"
    "|//object[starts-with(@pci_type, '03') and contains(@pci_type, '[10de:')]"
    "|//object[(starts-with(@pci_type, '0302') or starts-with(@pci_type, '0380') or "
    "starts-with(@pci_type, '1200')) and contains(@pci_type, '[1002:')]"
    "|//distances2[@name='NVLinkBandwidth']|//distances2[@name='NVLinkBandwidth']/u64values"
    "|/nvidia_smi_log/gpu";

/// Rows of a matrix, GPUs and links of nvlink -s, rows of --query-gpu, GPUs and NICs of lspci.
inline constexpr const char* kRemovableLine =
    R"(\s*(GPU|NIC|mlx5_)\d+\s.*|GPU \d+: .*\(UUID: .*|\s*Link \d+: .*|\d+, .*)"
    R"(|[0-9a-f:.]+ (3D|Ethernet|Infiniband) controller.*)";

inline std::vector<OneRemoved> each_element_removed(const std::string& text) {
  const auto load = [&text](pugi::xml_document& document) {
    document.load_buffer(text.data(), text.size(), pugi::parse_full);
    return document.select_nodes(kRemovableElements);
  };
  pugi::xml_document whole;
  std::vector<OneRemoved> all;
  for (std::size_t i = 0; i < load(whole).size(); ++i) {
    pugi::xml_document document;
    const pugi::xml_node gone = load(document)[i].node();
    std::ostringstream what;
    gone.print(what, "", pugi::format_raw);
    gone.parent().remove_child(gone);
    std::ostringstream rest;
    document.save(rest, "", pugi::format_raw);
    all.push_back({what.str().substr(0, what.str().find('>') + 1), rest.str()});
  }
  return all;
}

inline std::vector<OneRemoved> each_line_removed(const std::string& text) {
  const std::regex removable(kRemovableLine);
  std::vector<OneRemoved> all;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const std::string line = text.substr(start, text.find_last_not_of("\r\n", end - 1) + 1 - start);
    if (std::regex_match(line, removable)) all.push_back({line, text.substr(0, start) + text.substr(end)});
    start = end;
  }
  return all;
}

/// One copy of the file for each device, link or NUMA node in it, without that one.
inline std::vector<OneRemoved> each_removed(const std::string& text) {
  return text.find_first_not_of(" \r\n") == text.find('<') ? each_element_removed(text)
                                                           : each_line_removed(text);
}

/// What may be taken away without a count that changes.
struct UnseenRemoval {
  const char* file = "";  ///< the start of its name
  const char* what = "";  ///< regular expression of the line or element
  const char* why = "";
};

/// Reads each copy: it is refused, or no longer holds what `row` counts. Those in `unseen` must go unseen, so
/// that no exception outlives its reason.
inline void expect_every_removal_is_seen(const Held& row, const std::string& text,
                                         std::span<const UnseenRemoval> unseen) {
  SCOPED_TRACE(row.file);
  const std::vector<OneRemoved> copies = each_removed(text);
  EXPECT_FALSE(copies.empty());
  for (const OneRemoved& copy : copies) {
    bool seen = false;
    try {
      seen = held(row) != held(row, read_any_topology(copy.text, row.file).hosts.at(0));
    } catch (const Error&) {
      seen = true;  // refused
    }
    const bool excused = std::any_of(unseen.begin(), unseen.end(), [&](const UnseenRemoval& one) {
      return std::string_view(row.file).starts_with(one.file) &&
             std::regex_match(copy.what, std::regex(one.what));
    });
    EXPECT_EQ(seen, !excused) << copy.what;
  }
}

}  // namespace collbench::topology
