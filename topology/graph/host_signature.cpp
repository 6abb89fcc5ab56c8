#include "topology/graph/host_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text_input.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"

namespace collbench::topology {
namespace {

// Names of NICs and interfaces go by the order of discovery, which differs from boot to boot; so they tell
// machines apart no more than serial numbers do. NCCL's rank is that of one job.
constexpr std::array<std::string_view, 10> kIdentities{
    "name", "uuid", "serial", "nccl_rank", "label", "gid", "interfaces", "guid", "system_guid", "nccl_net"};
constexpr std::array<std::string_view, 2> kMomentary{"link_rate_now", "link_bandwidth_now"};

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether a fact of that name is different from one look at a machine to the next.
bool is_momentary(std::string_view fact) { return contains(kMomentary, fact); }

/// Collects facts under the name of their device.
class Collector {
 public:
  explicit Collector(const Host& host) {
    const auto labels = [&](DeviceKind kind, std::size_t count) {
      for (int i = 0; i < static_cast<int>(count); ++i)
        labels_[static_cast<std::size_t>(kind)].push_back(canonical_label(host, {kind, i}));
    };
    labels(DeviceKind::gpu, host.gpus.size());
    labels(DeviceKind::nic, host.nics.size());
    labels(DeviceKind::nvswitch, host.nvswitches.size());
    labels(DeviceKind::numa_node, host.numa_nodes.size());
  }

  [[nodiscard]] const std::string& label(const Device& device) const {
    return labels_.at(static_cast<std::size_t>(device.kind)).at(static_cast<std::size_t>(device.index));
  }

  template <class Item>
  void add(const std::string& device, const Item& item) {
    auto& attributes = facts_.signature[device];  // there even when nothing is known of it
    each_fact(
        [&](const char* name, const auto& fact) {
          if (!fact.known() || is_momentary(name)) return;
          auto& kept = is_identity(name) ? facts_.identity[device] : attributes;
          kept.emplace(name, fact_text(*fact.value));
        },
        item);
  }

  void add(const std::string& device, const std::string& name, std::string value) {
    facts_.signature[device].insert_or_assign(name, std::move(value));
  }

  template <class Item>
  void add_devices(DeviceKind kind, const std::vector<Item>& items) {
    for (int i = 0; i < static_cast<int>(items.size()); ++i)
      add(label({kind, i}), items[static_cast<std::size_t>(i)]);
  }

  template <class Link>
  void add_links(std::string_view what, const std::vector<Link>& links) {
    for (const Link& link : links)
      add(fmt::format("{} {} → {}", what, label(link.from), label(link.to)), link);
  }

  void add_graph(const ChannelGraph& graph) {
    const std::string name = nccl_graph_name(graph.id);
    add(name, graph);
    for (std::size_t i = 0; i < graph.channels.size(); ++i) {
      std::string way;
      for (const Device& device : graph.channels[i]) way += (way.empty() ? "" : " → ") + label(device);
      add(name, fmt::format("channel {}", i), std::move(way));
    }
  }

  [[nodiscard]] HostFacts take() { return std::move(facts_); }

 private:
  std::array<std::vector<std::string>, 4>
      labels_;  ///< by kind: a host has hundreds of links, and few devices
  HostFacts facts_;
};

/// How many NICs at the address of `nic` come before it.
int before_at_its_address(const Host& host, int nic) {
  const auto address = pci_address_of(host, {DeviceKind::nic, nic});
  int before = 0;
  for (const int other : nic_order(host)) {
    if (other == nic) break;
    before += pci_address_of(host, {DeviceKind::nic, other}) == address ? 1 : 0;
  }
  return before;
}

std::string port_label(const std::string& nic, const NicPort& port) {
  return fmt::format("{} port {}", nic, port.number);
}

/// The memory that the system counts differs by some pages between equal machines.
std::string rounded_to_gibibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;
  return fmt::format("{} GiB", (bytes + kGibibyte / 2) / kGibibyte);
}

constexpr int kHostDepth = 2;  // {"hosts": [{…}]}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// One walk over the tokens. It knows which list of the host it is in, by the last key of the host itself.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string take() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

  /// Of the last host, once taken; empty where it has none, or one with escapes.
  [[nodiscard]] const std::string& host_name() const { return host_name_; }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"') {
      read_string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      read_number();
    } else {
      if (c == '{') ++depth_;
      if (c == '}') --depth_;
      if (!is_blank(c)) out_ += c;
      ++at_;
    }
  }

  void read_string() {
    std::size_t end = text_.find_first_of("\"\\", at_ + 1);
    const bool plain = end != std::string_view::npos && text_[end] == '"';
    while (end < text_.size() && text_[end] == '\\')
      end = text_.find_first_of("\"\\", std::min(end + 2, text_.size()));
    end = std::min(end, text_.size() - 1) + 1;
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const bool is_key = at_ < text_.size() && text_[at_] == ':';
    if (is_key) {
      key_ = token.substr(1, token.size() - 2);
      if (depth_ == kHostDepth) list_ = key_;
      out_ += token;
    } else if (plain && is_left_out()) {
      if (depth_ == kHostDepth && key_ == "name") host_name_ = token.substr(1, token.size() - 2);
      out_ += "\"\"";
      key_ = {};
    } else {
      out_ += token;
    }
  }

  void read_number() {
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    if (is_left_out()) {
      out_ += '0';
      key_ = {};  // the source that follows stays
    } else if (key_ == "memory_bytes" && list_ == "numa_nodes") {
      out_ += in_gibibytes(token);
      key_ = {};
    } else {
      out_ += token;
    }
  }

  /// As the signature counts it; what is no whole number stays.
  static std::string in_gibibytes(std::string_view bytes) {
    constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;
    const auto value = whole_number<std::uint64_t>(bytes);
    return value ? std::to_string((*value + kGibibyte / 2) / kGibibyte) + "G" : std::string(bytes);
  }

  [[nodiscard]] bool is_left_out() const {
    if (key_ == "name") return depth_ == kHostDepth;
    return key_ == "place" || is_identity(key_) || is_momentary(key_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string_view key_;   ///< the last one; empty once its value was left out
  std::string_view list_;  ///< "gpus", …
  std::string out_;
  std::string host_name_;
};

}  // namespace

bool is_identity(std::string_view fact) { return contains(kIdentities, fact); }

std::string canonical_label(const Host& host, const Device& device) {
  if (device.kind == DeviceKind::numa_node) {
    return fmt::format("NUMA {}", host.numa_nodes.at(static_cast<std::size_t>(device.index)).index);
  }
  const std::string_view kind = device.kind == DeviceKind::gpu   ? "GPU"
                                : device.kind == DeviceKind::nic ? "NIC"
                                                                 : "NVSwitch";
  const auto address = pci_address_of(host, device);
  if (!address) return fmt::format("{} #{}", kind, device.index);
  const int before = device.kind == DeviceKind::nic ? before_at_its_address(host, device.index) : 0;
  return fmt::format("{} {}{}", kind, *address, before == 0 ? "" : fmt::format(" ({})", before + 1));
}

std::string canonical_label(const Host& host, int nic, const NicPort& port) {
  return port_label(canonical_label(host, {DeviceKind::nic, nic}), port);
}

HostFacts host_facts(const Host& host) {
  Collector facts(host);
  facts.add("host", host);
  for (const NumaNode& node : host.numa_nodes) {
    const std::string label = fmt::format("NUMA {}", node.index);
    facts.add(label, node);
    if (node.memory_bytes.known()) {
      facts.add(label, "memory_bytes", rounded_to_gibibytes(*node.memory_bytes.value));
    }
  }
  for (const PciDevice& device : host.pci_devices) {
    facts.add("PCI " + device.address, device);
    facts.add("PCI " + device.address, "parent", device.parent);
  }
  facts.add_devices(DeviceKind::gpu, host.gpus);
  facts.add_devices(DeviceKind::nvswitch, host.nvswitches);
  facts.add_devices(DeviceKind::nic, host.nics);
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    for (const NicPort& port : host.nics[static_cast<std::size_t>(i)].ports)
      facts.add(port_label(facts.label({DeviceKind::nic, i}), port), port);
  }
  facts.add_links("NVLink", host.nvlinks);
  facts.add_links("stated path", host.stated_paths);
  facts.add_links("peer access", host.peer_access);
  for (const ChannelGraph& graph : host.nccl_graphs) facts.add_graph(graph);
  return facts.take();
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv (Fowler, Noll, Vo).
std::string canonical_hash(const FactsByDevice& signature) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    hash *= 1099511628211U;  // as a byte 0 would: "ab" "c" is not "a" "bc"
  };
  for (const auto& [device, attributes] : signature) {
    add(device);
    for (const auto& [name, value] : attributes) {
      add(name);
      add(value);
    }
    add("");
  }
  return fmt::format("{:016x}", hash);
}

std::string canonical_json(std::string_view text, std::string* host_name) {
  Walk walk(text);
  std::string canonical = walk.take();
  if (host_name != nullptr) *host_name = walk.host_name();
  return canonical;
}

}  // namespace collbench::topology
