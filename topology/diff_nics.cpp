// diff_nics() of diff_parts.hpp: NICs and their ports.
#include <algorithm>
#include <set>

#include "topology/diff_parts.hpp"

namespace collbench {
namespace {

bool is_up(const NicPort& port) {
  return port.state.value_or("ACTIVE") == "ACTIVE" && port.physical_state.value_or("LinkUp") == "LinkUp";
}

std::string state_words(const NicPort& port) {
  return port.state.value_or("ACTIVE") != "ACTIVE" ? *port.state.value : *port.physical_state.value;
}

void diff_port(FindingList& findings, const Twins& twins, const NicPort& a, const NicPort& b) {
  const auto name = fmt::format("port {}", b.number);
  if (is_up(a) != is_up(b)) {
    const Side down = is_up(a) ? Side::b : Side::a;
    findings.add("nic-port-down", down, {twins},
                 fmt::format("{} is {}", name, state_words(down == Side::a ? a : b)));
    return;  // a port that is down has another rate, too
  }
  if (lesser(a.link_layer, b.link_layer)) {
    findings.add("nic-link-layer", Side::b, {twins},
                 fmt::format("{} is {}", name, instead(Side::b, a.link_layer, b.link_layer, "")));
  }
  add_if_less(findings, "nic-port-slower", {twins}, a.gigabits_per_second, b.gigabits_per_second, "Gb/s");
  if (const auto less = lesser(a.mtu_bytes, b.mtu_bytes))
    findings.add("nic-mtu", *less, {twins}, "MTU " + instead(*less, a.mtu_bytes, b.mtu_bytes, ""));
}

const NicPort* port_of(const Nic& nic, int number) {
  const auto found = std::find_if(nic.ports.begin(), nic.ports.end(),
                                  [number](const NicPort& port) { return port.number == number; });
  return found == nic.ports.end() ? nullptr : &*found;
}

void diff_ports(FindingList& findings, const Twins& twins, const Nic& a, const Nic& b) {
  if (a.ports.size() == 1 && b.ports.size() == 1) {  // sources number a lone port in their own way
    diff_port(findings, twins, a.ports.front(), b.ports.front());
    return;
  }
  if (a.ports.empty() || b.ports.empty()) return;  // a source that knows of none
  for (const NicPort& port : a.ports) {
    if (const NicPort* twin = port_of(b, port.number)) {
      diff_port(findings, twins, port, *twin);
    } else {
      findings.add("nic-port-down", Side::b, {twins}, fmt::format("port {} is missing", port.number));
    }
  }
  for (const NicPort& port : b.ports) {
    if (port_of(a, port.number) == nullptr)
      findings.add("nic-port-down", Side::a, {twins}, fmt::format("port {} is missing", port.number));
  }
}

void diff_part(FindingList& findings, const Twins& twins, const Nic& a, const Nic& b) {
  std::vector<std::string> words;
  if (lesser(a.board, b.board)) words.push_back("board " + instead(Side::b, a.board, b.board, ""));
  if (lesser(a.driver, b.driver)) words.push_back("driver " + instead(Side::b, a.driver, b.driver, ""));
  if (!words.empty()) findings.add("nic-model", Side::b, {twins}, join_words(words));
  if (lesser(a.firmware, b.firmware))
    findings.add("nic-firmware", Side::b, {twins},
                 "firmware " + instead(Side::b, a.firmware, b.firmware, ""));
}

/// Names that both machines use, where they go round the seats in another order. One that is only shifted by
/// a NIC more, or by a gap, keeps its rank, and NCCL goes by ranks.
void diff_names(const HostPair& pair, FindingList& findings) {
  std::set<std::string> of_a;
  std::set<std::string> of_b;
  each_pair(pair, pair.match.nics, &Host::nics, [&](const Twins&, const Nic& a, const Nic& b) {
    of_a.insert(a.name.value_or(""));
    of_b.insert(b.name.value_or(""));
  });
  std::vector<std::string> order_in_a;
  std::vector<std::string> order_in_b;
  std::vector<Twins> moved;
  std::vector<std::string> words;
  each_pair(pair, pair.match.nics, &Host::nics, [&](const Twins& twins, const Nic& a, const Nic& b) {
    if (!a.name.known() || !b.name.known()) return;
    if (of_b.contains(*a.name.value)) order_in_a.push_back(*a.name.value);
    if (!of_a.contains(*b.name.value)) return;
    order_in_b.push_back(*b.name.value);
    if (*a.name.value == *b.name.value) return;
    moved.push_back(twins);
    words.push_back(fmt::format("{} is where {} was", *b.name.value, *a.name.value));
  });
  if (order_in_a != order_in_b)
    findings.add_named("nic-renumbered", Side::b, finding_devices(pair, Side::b, moved), moved,
                       join_words(words));
}

}  // namespace

void diff_nics(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.nics, &Host::nics, [&](const Twins& twins, const Nic& a, const Nic& b) {
    diff_ports(findings, twins, a, b);
    diff_part(findings, twins, a, b);
  });
  diff_names(pair, findings);
}

}  // namespace collbench
