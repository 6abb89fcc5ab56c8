#include "analysis/import/log_readers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/import/nccl_choice.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using std::string_view;

/// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>": the NICs of one node.
/// "NET/Socket : Using [0]eth0:10.0.0.1<0>": the interfaces, where NCCL found no such NIC.
void note_nics(string_view text, int line, LogFacts& facts) {
  auto list = text_behind(text, "NET/IB : Using ", ";");
  if (!list) list = text_behind(text, "NET/Socket : Using ", ";");
  if (!list || facts.nics) return;
  std::vector<std::string> nics;
  string_view layer;
  for (const std::string& word : split_words(*list)) {
    const std::size_t close = word.find(']');
    const std::size_t slash = word.find('/');
    if (word.front() != '[' || close == std::string::npos || close + 1 >= word.size()) continue;
    const std::string name = word.substr(close + 1, word.find(':', close) - close - 1);
    if (name.empty()) continue;
    nics.push_back(name);
    if (slash != std::string::npos) layer = word.ends_with("RoCE") ? "RoCE" : "IB";
  }
  if (nics.empty()) return;
  facts.nics = {std::move(nics), line};
  if (!layer.empty()) set_once(facts.link_layer, std::string(layer), line);
}

/// "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'". One that has it does not show that it was used.
void note_no_gpu_direct(string_view text, int line, LogFacts& facts) {
  if (text.find("GPU Direct RDMA Disabled for ") == string_view::npos) return;
  set_once(facts.gpu_direct, false, line);
}

/// "… name=mlx5_0 speed=100000 ndevs=1" (Mb/s): one NIC's rate. A merged device has more than one.
std::optional<double> nic_megabits(string_view text) {
  const auto megabits = number_behind(text, "speed=");
  if (!megabits || *megabits <= 0 || text.find("NET/IB") == string_view::npos) return std::nullopt;
  if (integer_behind(text, "ndevs=").value_or(1) != 1) return std::nullopt;
  return megabits;
}

/// Its name, there or in "[3] mlx5_3:uverbs3:1/IB provider=Mlx5 speed=400000"; empty where there is none.
std::string nic_name(string_view text) {
  auto name = text_behind(text, "name=", ": ");
  if (!name) name = text_behind(text, "] ", ": ");
  return std::string(name.value_or(""));
}

void note_nic_rate(string_view text, int line, LogFacts& facts) {
  constexpr double kMegabitBytes = 1e6 / 8;
  if (const auto megabits = nic_megabits(text))
    set_once(facts.nic_bytes_per_second, *megabits * kMegabitBytes, line);
}

/// The part at `at` of "NET/AWS Libfabric/1/GDRDMA" or "P2P/direct pointer/read", and whether the path ends
/// in it. A blank ends the path, but for the one in a network's name, behind which its device follows, and
/// NCCL's own (nccl/src/transport/p2p.cc).
struct PathPart {
  std::string name;
  bool last = false;
};

PathPart path_part(const std::vector<std::string>& parts, std::size_t at) {
  constexpr string_view kDirect = "direct pointer";
  const std::string& part = parts[at];
  const std::size_t blank = part.find_first_of(" \t");
  if (blank == std::string::npos) return {part, at + 1 == parts.size()};
  if (at == 1 && part.starts_with(kDirect)) return {std::string(kDirect), part.size() > kDirect.size()};
  const bool has_device =
      at + 1 < parts.size() && !parts[at + 1].empty() && parts[at + 1][0] >= '0' && parts[at + 1][0] <= '9';
  const bool network = at == 1 && parts[0] == "NET" && has_device && split_words(part).size() <= 3;
  return network ? PathPart{part, false} : PathPart{part.substr(0, blank), true};
}

/// "Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/2/GDRDMA": without the device numbers.
std::optional<LogConnections> connection_in(string_view text, int line) {
  const auto via = text_behind(text, " via ");
  if (!via || text.find("->") == string_view::npos) return std::nullopt;
  LogConnections found{"", false, 1, line};
  const std::vector<std::string> parts = split_cells(*via, '/');
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const PathPart part = path_part(parts, at);
    if (part.name == "Shared") continue;  // of the buffers, not of the path
    if (part.name.starts_with("GDRDMA")) {
      found.gpu_direct = true;
    } else if (part.name.find_first_not_of("0123456789()") != std::string::npos) {
      found.via += (found.via.empty() ? "" : "/") + part.name;
    }
    if (part.last) break;
  }
  return found;
}

void note_connection(const LogConnections& found, LogFacts& facts) {
  constexpr std::size_t kMaxConnectionKinds = 16;
  const auto known = std::ranges::find_if(facts.connections, [&](const auto& each) {
    return each.via == found.via && each.gpu_direct == found.gpu_direct;
  });
  if (known != facts.connections.end()) {
    ++known->count;
  } else if (!found.via.empty() && facts.connections.size() < kMaxConnectionKinds) {
    facts.connections.push_back(found);
  }
}

void note_tuning(string_view text, int line, LogFacts& facts) {
  const auto choice = nccl_choice_in(text);
  const auto before = split_words(text_between(text, "", " Bytes -> Algo ").value_or(""));
  if (!choice || before.empty()) return;
  const auto bytes = parse_integer(before.back(), 0, std::int64_t{1} << 62U);
  if (!bytes) return;
  LogTuning tuning{static_cast<std::uint64_t>(*bytes), choice->algorithm, choice->protocol, choice->channels,
                   line};
  constexpr std::size_t kMaxSizes = 256;
  const bool known = std::ranges::any_of(
      facts.tunings, [&](const LogTuning& each) { return each.size_bytes == tuning.size_bytes; });
  if (!known && facts.tunings.size() < kMaxSizes) facts.tunings.push_back(std::move(tuning));
}

/// "Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX": the ring of the graph search
/// (4 is NCCL_TOPO_PATTERN_RING, nccl/src/include/graph.h), GB/s per channel inside a node and across.
void note_ring_graph(string_view text, int line, LogFacts& facts) {
  if (!text.starts_with("Pattern 4,")) return;
  const auto channels = integer_behind(text, "nChannels ");
  auto rate = number_behind(text, " bw ");
  if (!rate) rate = number_behind(text, " speed ");  // before 2.12
  if (channels && rate && *channels > 0 && *rate > 0) {
    set_once(facts.ring_bytes_per_second, *channels * *rate * kGigabyte, line);
  }
}

/// "+ NVL[240.0] - GPU/0-65000": one direction between two GPUs, or to a switch.
void note_nvlink(string_view text, int line, LogFacts& facts) {
  const auto rate = number_behind(text, "+ NVL[");
  if (!rate || *rate <= 0) return;
  const LogFact<double> found{*rate * kGigabyte, line};
  auto& least = facts.nvlink_least_bytes_per_second;
  auto& most = facts.nvlink_most_bytes_per_second;
  if (!least || found.value < least->value) least = found;
  if (!most || found.value > most->value) most = found;
}

/// "comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0".
void note_communicator(string_view text, int line, LogFacts& facts) {
  const auto nodes = integer_behind(text, " nNodes ");
  auto ranks = integer_behind(text, " nRanks ");
  if (!ranks && text.starts_with("ncclCommInit")) ranks = integer_behind(text, " nranks ");
  const auto local = integer_behind(text, " localRanks ");
  if (ranks && *ranks > 0) set_once(facts.ranks, *ranks, line);
  if (nodes && *nodes > 0) set_once(facts.nodes, *nodes, line);
  if (local && *local > 0) set_once(facts.ranks_per_node, *local, line);
}

/// Of a line that NCCL wrote on a host whose name it says; null where it does not, and for the hosts of a job
/// that no machine has.
LogHost* host_of(const LogLine& line, std::map<std::string, LogHost>& hosts) {
  constexpr std::size_t kMaxHosts = 4096;
  if (line.nccl_host.empty()) return nullptr;
  const auto known = hosts.find(line.nccl_host);
  if (known != hosts.end()) return &known->second;
  return hosts.size() < kMaxHosts ? &hosts[line.nccl_host] : nullptr;
}

}  // namespace

std::string nccl_version_in(string_view text) {
  const auto words = split_words(text_behind(text, "NCCL version ").value_or(""));
  return words.empty() || words.front().find_first_of("0123456789") != 0 ? "" : words.front();
}

void note_nccl_line(const LogLine& line, LogFacts& facts, std::map<std::string, std::string>& environment,
                    std::map<std::string, LogHost>& hosts) {
  const string_view text = line.nccl;
  if (const auto found = connection_in(text, line.number)) {
    note_connection(*found, facts);
    if (LogHost* host = found->via.starts_with("NET/") ? host_of(line, hosts) : nullptr)
      note_connection(*found, host->facts);
  }
  // Ten million of them in the logs of a thousand ranks, and each says one thing.
  if (text.starts_with("Channel ")) return;
  if (const std::string version = nccl_version_in(text); !version.empty()) {
    if (facts.nccl && facts.nccl->value != version && facts.notes.empty()) {
      facts.notes.push_back(fmt::format("NCCL is {} in line {} and {} in line {}: versions differ in one job",
                                        facts.nccl->value, facts.nccl->line, version, line.number));
    }
    set_once(facts.nccl, version, line.number);
  }
  if (const auto network = text_behind(text, "Using network ")) {
    set_once(facts.network, std::string(trim(*network)), line.number);
  }
  if (text.starts_with("NET/OFI Selected Provider is efa"))  // NCCL 2.4 does not say "Using network"
    set_once(facts.network, std::string("AWS Libfabric"), line.number);
  if (const auto channels = leading_integer(text)) {
    if (text.find(" coll channels") != string_view::npos) set_once(facts.channels, *channels, line.number);
  }
  if (const auto nvls = integer_behind(text, " collnet channels, ")) {
    if (text.find(" nvls channels") != string_view::npos) set_once(facts.nvls_channels, *nvls, line.number);
  }
  if (text.starts_with("NVLS multicast support is not available")) {
    set_once(facts.nvls_channels, 0, line.number);
  }
  constexpr string_view kSet = " set by environment to ";
  if (const auto set = text_behind(text, kSet)) {
    std::string value(trim(*set));
    if (value.ends_with('.')) value.pop_back();  // "… to 0."
    const auto words = split_words(*text_between(text, "", kSet));
    if (!words.empty() && words.back().starts_with("NCCL_")) environment.emplace(words.back(), value);
  }
  note_nics(text, line.number, facts);
  note_nic_rate(text, line.number, facts);
  note_no_gpu_direct(text, line.number, facts);
  note_tuning(text, line.number, facts);
  note_ring_graph(text, line.number, facts);
  note_nvlink(text, line.number, facts);
  note_communicator(text, line.number, facts);
  if (!text.starts_with("NET/IB")) return;
  if (LogHost* host = host_of(line, hosts)) {
    note_nics(text, line.number, host->facts);
    if (const auto megabits = nic_megabits(text))
      host->nic_megabits.try_emplace(nic_name(text), LogFact<double>{*megabits, line.number});
  }
}

}  // namespace collbench::analysis
