#include <concepts>

#include "base/text_sinks.hpp"
#include "topology/graph/facts.hpp"
#include "topology/render/render.hpp"

namespace collbench::topology {
namespace {

template <class Item>
void make_one_line(Item& item) {
  each_fact(
      []<class T>(const char*, Fact<T>& fact) {
        if constexpr (std::same_as<T, std::string>) {
          if (fact.known()) fact.value = one_line(*fact.value);
        }
      },
      item);
}

template <class... Lists>
void make_all_one_line(Lists&... lists) {
  const auto all_of = [](auto& list) {
    for (auto& item : list) make_one_line(item);
  };
  (all_of(lists), ...);
}

}  // namespace

Host with_one_line_texts(Host host) {
  make_one_line(host);
  make_all_one_line(host.numa_nodes, host.pci_devices, host.gpus, host.nvswitches, host.nics,
                    host.peer_access);
  for (Nic& nic : host.nics) make_all_one_line(nic.ports);
  for (PciDevice& device : host.pci_devices) {  // both ends alike, so that they still meet
    device.address = one_line(device.address);
    device.parent = one_line(device.parent);
  }
  for (Source& source : host.sources)
    source = {one_line(source.reader), one_line(source.location), one_line(source.version)};
  for (Disagreement& each : host.disagreements) {
    for (std::string* text : {&each.device, &each.attribute, &each.kept, &each.other})
      *text = one_line(*text);
  }
  for (HostNote& note : host.notes) note.text = one_line(note.text);
  return host;
}

}  // namespace collbench::topology
