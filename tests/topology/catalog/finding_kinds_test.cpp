#include "topology/catalog/finding_kinds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string>

#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "topology/graph/facts.hpp"

namespace collbench::topology::finding_kinds_test {
namespace {

using testing::HasSubstr;

/// An attribute that is never a finding by itself, and why: with the attributes of finding_kinds() every fact
/// of a host.
struct IgnoredAttribute {
  std::string_view attribute;
  std::string_view reason;
};

constexpr std::array<IgnoredAttribute, 20> kIgnored{{
    {"host.name", "an identity"},
    {"PCI.host_bridge", "an address: what it decides is the path"},
    {"PCI.link_rate_now", "idle links slow down; judged for NICs alone, against what both ends allow"},
    {"PCI.link_bandwidth_now", "the same"},
    {"GPU.index", "goes by the order of listing"},
    {"GPU.pci_address", "a device slot is more than its address: bus numbers move when a card is added"},
    {"GPU.uuid", "an identity"},
    {"GPU.serial", "an identity"},
    {"GPU.nccl_rank", "of one job"},
    {"GPU.nvlinks_inactive", "by design on some models (12 of 18 on H100 NVL); the active ones count"},
    {"NVSwitch.pci_address", "as of a GPU"},
    {"NIC.name", "goes by the order of discovery; permuted ones are nic-renumbered"},
    {"NIC.label", "goes by the order of listing"},
    {"NIC.interfaces", "goes by the order of discovery"},
    {"NIC.pci_address", "as of a GPU"},
    {"NIC.guid NIC.system_guid", "identities"},
    {"NIC.nccl_net", "goes by the order of discovery"},
    {"port.gid", "an identity"},
    {"graph.same_channels", "a shortcut of the search; what it found counts"},
    {"graph.inter_latency", "what the network plugin says, of no machine"},
}};

bool is_read(std::string_view attribute) {
  return std::ranges::any_of(finding_kinds(),
                             [&](const FindingKind& kind) { return reads(kind, attribute); });
}

/// "`a`, `b`", or "–".
std::string as_code(std::string_view words, std::string_view separator) {
  std::string text;
  for (std::size_t start = 0; start < words.size();) {
    const std::size_t end = std::min(words.find(separator, start), words.size());
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", words.substr(start, end - start));
    start = end + separator.size();
  }
  return text.empty() ? "–" : text;
}

std::string code_table() {
  std::string table = "| code | severity | why it matters | confirm | read from |\n|-|-|-|-|-|\n";
  for (const FindingKind& kind : finding_kinds()) {
    std::string commands = as_code(kind.confirm, " ; ");
    for (std::size_t at = 0; (at = commands.find('|', at)) != std::string::npos; at += 2)
      commands.insert(at, "\\");
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", kind.code, severity_name(kind.severity),
                         kind.reason, commands, as_code(kind.attributes, " "));
  }
  return table;
}

std::string ignored_table() {
  std::string table = "| attribute | why it is never a finding |\n|-|-|\n";
  for (const IgnoredAttribute& each : kIgnored)
    table += fmt::format("| {} | {} |\n", as_code(each.attribute, " "), each.reason);
  return table;
}

TEST(FindingCatalog, IsWhatTheDocumentSays) {
  const std::string page = read_file(source_folder() + "/docs/notes/findings.md");
  EXPECT_THAT(page, HasSubstr(code_table()));
  EXPECT_THAT(page, HasSubstr(ignored_table()));
}

TEST(FindingCatalog, EveryFactIsReadOrIgnoredForAReason) {
  std::set<std::string> ignored;
  for (const IgnoredAttribute& each : kIgnored) {
    const std::string words(each.attribute);
    const std::size_t blank = words.find(' ');
    ignored.insert(words.substr(0, blank));
    if (blank != std::string::npos) ignored.insert(words.substr(blank + 1));
  }
  std::set<std::string> facts;
  const auto look = [&facts](std::string_view item, auto device) {
    each_fact([&](const char* name, auto&) { facts.insert(fmt::format("{}.{}", item, name)); }, device);
  };
  look("host", Host{});
  look("NUMA", NumaNode{});
  look("PCI", PciDevice{});
  look("GPU", Gpu{});
  look("NVSwitch", NvSwitch{});
  look("NIC", Nic{});
  look("port", NicPort{});
  look("NVLink", NvLinkBundle{});
  look("path", StatedPath{});
  look("peer", PeerAccess{});
  look("graph", ChannelGraph{});
  for (const std::string& fact : facts) {
    EXPECT_NE(is_read(fact), ignored.contains(fact)) << fact;
  }
  for (const std::string& attribute : ignored) EXPECT_TRUE(facts.contains(attribute)) << attribute;
  for (const FindingKind& kind : finding_kinds()) {
    const std::string words(kind.attributes);
    for (std::size_t start = 0; start < words.size(); start = words.find(' ', start) + 1) {
      EXPECT_TRUE(facts.contains(words.substr(start, words.find(' ', start) - start))) << kind.code;
      if (words.find(' ', start) == std::string::npos) break;
    }
  }
}

TEST(FindingCatalog, CodesAreFoundAndUnique) {
  std::set<std::string_view> codes;
  for (const FindingKind& kind : finding_kinds()) {
    EXPECT_TRUE(codes.insert(kind.code).second) << kind.code;
    EXPECT_EQ(finding_kind(kind.code).reason, kind.reason);
    EXPECT_FALSE(kind.confirm.empty());
  }
  EXPECT_THROW((void)finding_kind("no-such-code"), std::out_of_range);
}

TEST(FindingCatalog, KnowsWhichKindReadsAnAttribute) {
  EXPECT_TRUE(reads(finding_kind("mig-on"), "GPU.mig"));
  EXPECT_FALSE(is_read("GPU.uuid"));
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(reads(finding_kind("mig-on"), "GPU.mi"));
}

TEST(FindingCatalog, SeveritiesHaveNames) {
  EXPECT_EQ(severity_name(Severity::broken), "broken");
  EXPECT_EQ(severity_name(Severity::cosmetic), "cosmetic");
}

}  // namespace
}  // namespace collbench::topology::finding_kinds_test
