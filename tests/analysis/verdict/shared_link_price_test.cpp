// Prices of NICs that share a PCIe link.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "analysis/verdict/finding_cost.hpp"
#include "tests/topology/diff/mutations.hpp"
#include "topology/diff/topology_diff.hpp"

namespace collbench::analysis::shared_link_price_test {
namespace {

/// Two ports of a card in one slot, or beside one GPU, each at `gigabits`.
topology::Host with_two_ports(double gigabits, double gigatransfers, bool in_one_slot) {
  topology::Host host = topology::healthy_machine(*topology::find_reference_machine("hgx-a100"));
  host.stated_paths.clear();
  host.nccl_graphs.clear();
  const std::vector<topology::Nic> nics = host.nics;
  std::vector<topology::Device> even;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); i += 2)
    even.push_back({topology::DeviceKind::gpu, i});
  if (!in_one_slot) host = topology::without_devices(host, even);
  for (std::size_t i = 0; i < nics.size(); ++i) {
    host.nics[i].ports[0].gigabits_per_second.value = gigabits;
    if (!in_one_slot || i % 2 == 0) continue;
    const std::string first = *nics[i - 1].pci_address.value;
    std::string second = first;
    second.back() = '1';
    for (topology::PciDevice& pci : host.pci_devices)
      if (pci.address == *nics[i].pci_address.value) pci.address = second;
    host.nics[i].pci_address.value = second;
  }
  for (topology::PciDevice& pci : host.pci_devices)
    pci.link_max.gigatransfers_per_second.value = gigatransfers;
  return host;
}

/// 2 × 200 Gb/s behind Gen4 x16 measured 1.9 times as much at 2 × 100 (nccl#1303).
TEST(SharedLinkPrice, PortsThatShareALinkThatCannotServeThemAllHaveNoPrice) {
  for (const bool in_one_slot : {true, false}) {
    const auto price = [&](double a, double b, double gigatransfers) {
      const topology::Host before = with_two_ports(a, gigatransfers, in_one_slot);
      const topology::Host after = with_two_ports(b, gigatransfers, in_one_slot);
      const topology::HostPair pair = topology::pair_hosts(before, after, false);
      const auto findings = topology::diff_hosts(pair).findings;
      EXPECT_EQ(findings.size(), 1U);
      EXPECT_EQ(findings.at(0).code, "nic-port-slower");
      return finding_price(pair, findings.at(0));
    };
    for (const FindingPrice& none : {price(200, 100, 16), price(100, 200, 16), price(400, 200, 32)}) {
      EXPECT_EQ(none.kind, PriceKind::not_modeled) << in_one_slot;
      EXPECT_TRUE(none.costs.empty());
      EXPECT_THAT(none.reason, testing::HasSubstr("share a PCIe link"));
      EXPECT_EQ(none.advice, "");
    }
    // 25 GB/s fit into Gen4 x16, 50 into Gen5 x16.
    EXPECT_EQ(price(100, 50, 16).kind, PriceKind::priced) << in_one_slot;
    EXPECT_EQ(price(200, 100, 32).kind, PriceKind::priced) << in_one_slot;
  }
}

}  // namespace
}  // namespace collbench::analysis::shared_link_price_test
