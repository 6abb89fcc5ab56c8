#include "analysis/models/nccl/transport.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kVerbs = "published logs: 2 and 4 nodes of 8 A100, 0.94 to 0.96 of the NICs' sum";

// Extra latency: the least time of a log on these machines less NCCL's own latency (NCCL 2.30 tuning.cc).
constexpr std::array<TransportTraits, 10> kTransports{{
    {Transport::unknown, "an unknown transport", 0.94, 0, "no figure: that of the others"},
    {Transport::infiniband, "InfiniBand RDMA", 0.95, 0, kVerbs},
    {Transport::roce, "RoCE RDMA", 0.93, 0, "published logs: 2 × DGX-1, 2 × 8 H100"},
    {Transport::efa_rdma, "EFA RDMA", 0.93, 15, "published log: 2 × p5, 65 µs at 8 B", false, false, true},
    {Transport::efa_send_recv, "EFA send/receive", 0.84, 63, "published log: 2 × p4de, 161 µs at 8 B", false,
     true, true},
    {Transport::tcpx, "TCPX", 0.944, 57, "no figure: that of TCPXO", false, false},
    {Transport::tcpxo, "TCPXO", 0.944, 57, "published log: 2 × a3-mega, 84 µs at 256 B", false, false},
    {Transport::plugin, "a provider's plugin", 0.94, 0, "published table: 2 to 128 nodes of Slingshot", false,
     false, true},
    {Transport::staged, "RDMA without GPUDirect", 0.94, 0, "no figure: that of RDMA", true},
    {Transport::sockets, "sockets", 0.94, 0, "no figure: that of RDMA, which the NICs are made for", true},
}};

std::string lower_letters(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

bool contains(const topology::Fact<std::string>& fact, std::string_view word) {
  return lower_letters(fact.value_or("")).find(word) != std::string::npos;
}

Transport efa(GpuGeneration generation) {
  return generation >= GpuGeneration::hopper ? Transport::efa_rdma : Transport::efa_send_recv;
}

}  // namespace

const TransportTraits& traits(Transport transport) {
  return kTransports.at(static_cast<std::size_t>(transport));
}

std::optional<Transport> find_transport(std::string_view name, GpuGeneration generation) {
  const std::string word = lower_letters(name);
  if (word == "efa") return efa(generation);
  using Name = std::pair<std::string_view, Transport>;
  static constexpr std::array<Name, 15> kNames{{{"unknown", Transport::unknown},
                                                {"ib", Transport::infiniband},
                                                {"infiniband", Transport::infiniband},
                                                {"roce", Transport::roce},
                                                {"efardma", Transport::efa_rdma},
                                                {"efasendrecv", Transport::efa_send_recv},
                                                {"tcpx", Transport::tcpx},
                                                {"tcpxo", Transport::tcpxo},
                                                {"fastrak", Transport::tcpxo},
                                                {"plugin", Transport::plugin},
                                                {"cxi", Transport::plugin},
                                                {"staged", Transport::staged},
                                                {"socket", Transport::sockets},
                                                {"sockets", Transport::sockets},
                                                {"tcp", Transport::sockets}}};
  const auto* found = std::ranges::find(kNames, word, &Name::first);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

Transport transport_option(std::string_view name, GpuGeneration generation) {
  if (const auto found = find_transport(name, generation)) return *found;
  throw usage_error("--transport", "'" + std::string(name) + "' is unknown",
                    "choose ib, roce, efa, tcpx, tcpxo, plugin, staged or sockets");
}

Transport transport_of(const topology::Host& host, GpuGeneration generation) {
  for (const topology::Nic& nic : host.nics) {
    if (contains(nic.driver, "efa") || contains(nic.name, "efa") || contains(nic.name, "rdmap"))
      return efa(generation);
  }
  for (const topology::Nic& nic : host.nics) {
    for (const topology::NicPort& port : nic.ports) {
      if (contains(port.link_layer, "infiniband")) return Transport::infiniband;
    }
  }
  for (const topology::Nic& nic : host.nics) {
    const bool verbs = contains(nic.name, "mlx5") || contains(nic.driver, "mlx5");
    for (const topology::NicPort& port : nic.ports) {
      if (verbs && contains(port.link_layer, "ethernet")) return Transport::roce;
    }
  }
  return Transport::unknown;
}

}  // namespace collbench::analysis
