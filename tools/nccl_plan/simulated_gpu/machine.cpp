#include "tools/nccl_plan/simulated_gpu/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <pugixml.hpp>
#include <sstream>
#include <tuple>

#include "base/xml_input.hpp"

namespace collbench::simulated_gpu {
namespace {

constexpr int kMaxMegabits = 100'000'000;

/// The attribute as a C number in any base ("0x1234"); 0 when it is absent or none.
std::uint64_t number_of(pugi::xml_node node, const char* attribute) {
  return std::strtoull(node.attribute(attribute).value(), nullptr, 0);
}

class MachineReader {
 public:
  MachineReader(const XmlInput& xml, const AssumedFacts& assumed) : xml_(xml), assumed_(assumed) {}

  SimulatedMachine read() {
    visit(xml_.root(), "");
    if (machine_.gpus.empty()) throw xml_.error(xml_.root(), "there is no GPU to simulate");
    std::ranges::sort(machine_.gpus, [](const SimulatedGpu& a, const SimulatedGpu& b) {
      return std::tie(a.index, a.pci_address) < std::tie(b.index, b.pci_address);
    });
    std::ostringstream text;
    xml_.root().print(text, "  ");  // NCCL takes no tabs
    machine_.topology_xml = text.str();
    return machine_;
  }

 private:
  /// `address` is that of the PCI device above the node.
  void visit(pugi::xml_node node, const std::string& address) {
    const std::string_view tag = node.name();
    if (tag == "net") {
      read_nic(node, address);
      return;
    }
    if (tag == "gpu") {
      read_gpu(node);
      return;
    }
    const std::string here = tag == "pci" ? node.attribute("busid").value() : address;
    if (tag == "pci") complete(node);
    for (const pugi::xml_node child : node.children()) visit(child, here);
  }

  /// Providers' files have GPUs and NICs by their PCI class only.
  void complete(pugi::xml_node pci) {
    const std::string_view kind = pci.attribute("class").value();
    if (kind.starts_with("0x03") && !pci.child("gpu")) {
      add_gpu(pci, static_cast<int>(machine_.gpus.size()), 0, false);
    }
    if (kind.starts_with("0x02") && !pci.child("nic")) pci.append_child("nic").append_child("net");
  }

  void read_gpu(pugi::xml_node gpu) {
    bool nvswitch = false;
    for (const pugi::xml_node link : gpu.children("nvlink")) {
      nvswitch = nvswitch || std::string_view(link.attribute("tclass").value()).starts_with("0x0680");
    }
    add_gpu(gpu.parent(), xml_.integer(gpu, "dev", 0, 1023).value_or(static_cast<int>(machine_.gpus.size())),
            xml_.integer(gpu, "sm", 0, 999).value_or(0), nvswitch);
  }

  void add_gpu(pugi::xml_node pci, int index, int compute_capability, bool nvswitch) {
    const auto both = [&](const char* device, const char* vendor) {
      return static_cast<unsigned>(number_of(pci, device) << 16U | number_of(pci, vendor));
    };
    machine_.gpus.push_back(
        {.pci_address = pci.attribute("busid").value(),
         .index = index,
         .compute_capability = compute_capability == 0 ? assumed_.compute_capability : compute_capability,
         .nvswitch = nvswitch,
         .pci_device = both("device", "vendor"),
         .pci_subsystem = both("subsystem_device", "subsystem_vendor")});
  }

  void read_nic(pugi::xml_node net, const std::string& address) {
    SimulatedNic nic;
    const std::string number = std::to_string(machine_.nics.size());
    nic.name = XmlInput::text_of(net, "name").value_or("");
    if (nic.name.empty()) {
      nic.name = "sim" + number;
      net.remove_attribute("name");
      net.append_attribute("name") = nic.name.c_str();
    }
    nic.pci_path = "/sys/simulated/" + address;
    nic.port = xml_.integer(net, "port", 0, 1023).value_or(1);
    nic.megabits_per_second =
        xml_.integer(net, "speed", 0, kMaxMegabits).value_or(assumed_.nic_megabits_per_second);
    nic.guid = number_of(net, "guid");
    // Ports of one guid are one NIC to NCCL: without one each is a NIC of its own.
    if (nic.guid == 0) nic.guid = 0x5100 + machine_.nics.size();
    nic.gpudirect = xml_.integer(net, "gdr", 0, 1).value_or(1) != 0;
    nic.max_connections = xml_.integer(net, "maxconn", 0, kMaxXmlInteger).value_or(65536);
    nic.latency_microseconds = static_cast<float>(xml_.number(net, "latency").value_or(0));
    machine_.nics.push_back(nic);
  }

  const XmlInput& xml_;
  const AssumedFacts& assumed_;
  SimulatedMachine machine_;
};

}  // namespace

SimulatedMachine read_machine(std::string_view text, std::string_view file, const AssumedFacts& assumed) {
  const XmlInput xml(text, file, "system", "an NCCL topology XML");
  return MachineReader(xml, assumed).read();
}

}  // namespace collbench::simulated_gpu
