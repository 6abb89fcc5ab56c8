#include "topology/readers/hwloc/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_input.hpp"
#include "topology/catalogue/gpus.hpp"

namespace collbench::topology {
namespace {

/// The blank-separated words of all children of that name: hwloc splits long lists over several elements.
std::vector<std::string> words_of_all(pugi::xml_node matrix, const char* name) {
  std::vector<std::string> words;
  for (const pugi::xml_node child : matrix.children(name)) {
    for (std::string& word : split_words(child.child_value())) words.push_back(std::move(word));
  }
  return words;
}

template <class T>
std::optional<int> index_at(const std::vector<T>& devices, const std::string& address) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&address](const T& device) {
    return device.pci_address.value == address;
  });
  if (found == devices.end()) return std::nullopt;
  return static_cast<int>(found - devices.begin());
}

std::optional<Device> device_of(const HwlocObject& object, const Host& host) {
  if (object.pci_address.empty()) {
    for (std::size_t i = 0; i < host.numa_nodes.size(); ++i) {
      if (host.numa_nodes[i].index == object.numa_node)
        return Device{DeviceKind::numa_node, static_cast<int>(i)};
    }
    return std::nullopt;
  }
  if (const auto gpu = index_at(host.gpus, object.pci_address)) return Device{DeviceKind::gpu, *gpu};
  if (const auto nvswitch = index_at(host.nvswitches, object.pci_address)) {
    return Device{DeviceKind::nvswitch, *nvswitch};
  }
  return std::nullopt;
}

NvLinkBundle bundle(const Device& from, const Device& to, std::int64_t megabytes_per_second,
                    const Host& host) {
  NvLinkBundle result{from, to, {}, {}};
  result.gigabytes_per_second.value = static_cast<double>(megabytes_per_second) / 1000;
  const Device& gpu = from.kind == DeviceKind::gpu ? from : to;
  if (gpu.kind != DeviceKind::gpu) return result;
  const GpuModel* model = find_gpu_model(host.gpus[static_cast<std::size_t>(gpu.index)].model.value_or(""));
  if (model == nullptr || model->nvlink_gigabytes_per_second <= 0) return result;
  const double links = *result.gigabytes_per_second.value / model->nvlink_gigabytes_per_second;
  if (std::fabs(links - std::round(links)) < 0.1) result.count.value = static_cast<int>(std::lround(links));
  return result;
}

}  // namespace

void add_nvlinks(const XmlInput& xml, const HwlocObjects& objects, Host& host) {
  for (const pugi::xml_node matrix : xml.root().children()) {
    if (matrix.attribute("name").value() != std::string_view("NVLinkBandwidth")) continue;
    // distances2 names the objects by number and has their type once; distances2hetero has it at each.
    const std::string type = matrix.attribute("type").value();
    std::vector<std::string> names = words_of_all(matrix, "indexes");
    const std::vector<std::string> values = words_of_all(matrix, "u64values");
    const std::size_t size = names.size();
    if (values.size() != size * size) {
      throw xml.error(matrix, fmt::format("NVLinkBandwidth has {} objects and {} values instead of {}", size,
                                          values.size(), size * size));
    }
    for (std::size_t i = 0; i < size * size; ++i) {
      const auto name = [&](std::size_t k) { return type.empty() ? names[k] : type + ":" + names[k]; };
      const auto from = objects.find(name(i / size));
      const auto to = objects.find(name(i % size));
      const auto megabytes = parse_integer(values[i], 0, 100'000'000);
      if (from == objects.end() || to == objects.end() || !megabytes) {
        throw xml.error(matrix, fmt::format("NVLinkBandwidth: '{}' between {} and {} makes no sense",
                                            excerpt(values[i]), name(i / size), name(i % size)));
      }
      if (*megabytes == 0 || i / size == i % size) continue;  // the diagonal holds a large number
      const auto a = device_of(from->second, host);
      const auto b = device_of(to->second, host);
      if (a && b) host.nvlinks.push_back(bundle(*a, *b, *megabytes, host));
    }
  }
}

}  // namespace collbench::topology
