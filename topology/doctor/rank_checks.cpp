// rank_checks() of checks.hpp: what the lines of several ranks say only together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text_input.hpp"
#include "base/word_list.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

std::string host_of(std::string_view line) {
  const std::string_view process = log_line(line).process();
  return std::string(process.substr(0, process.find(':')));
}

constexpr std::size_t kMaxShownRanks = 4;

/// "… rank 3 nranks 16 … - Init START" or COMPLETE: the rank, and how many there are; none for another line.
std::optional<std::pair<int, int>> joining_rank(std::string_view text) {
  constexpr double kMaxRanks = 1e6;
  if (!has_text(text, "Init START") && !has_text(text, "Init COMPLETE")) return std::nullopt;
  const auto rank = number_behind(text, " rank ");
  const auto ranks = number_behind(text, " nranks ");
  if (!rank || !ranks || *rank >= *ranks || *ranks > kMaxRanks) return std::nullopt;
  return std::pair(static_cast<int>(*rank), static_cast<int>(*ranks));
}

/// How the ranks of a communicator joined it.
struct Joining {
  int ranks = 0;
  std::set<int> started;
  std::set<int> complete;
  std::size_t last_complete = 0;         ///< of the log's lines
  const EvidenceLine* last = nullptr;    ///< that a rank said of it
  std::map<int, std::string> processes;  ///< by rank
};

std::map<std::string, Joining> joinings(const std::vector<EvidenceLine>& log) {
  std::map<std::string, Joining> all;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const std::string_view text = log[i].text;
    const std::string_view communicator = communicator_of(text);
    const auto rank = joining_rank(text);
    if (communicator.empty() || !rank) continue;
    Joining& each = all[std::string(communicator)];
    each.ranks = rank->second;
    each.started.insert(rank->first);
    each.processes.emplace(rank->first, log_line(text).process());
    each.last = &log[i];
    if (!has_text(text, "Init COMPLETE")) continue;
    each.complete.insert(rank->first);
    each.last_complete = i;
  }
  return all;
}

/// "rank 11 (n18:5714)", "ranks 3, 7": those that are not among `others`.
std::string ranks_without(const Joining& joining, const std::set<int>& others) {
  std::vector<std::string> names;
  for (int rank = 0; rank < joining.ranks; ++rank) {
    if (others.contains(rank)) continue;
    const auto process = joining.processes.find(rank);
    const bool named = process != joining.processes.end() && !process->second.empty();
    names.push_back(named ? fmt::format("{} ({})", rank, process->second) : std::to_string(rank));
  }
  return fmt::format("rank{} {}", names.size() == 1 ? "" : "s", join_first(names, kMaxShownRanks));
}

/// The last line of what comes after the start: a rank's word that is not before it was not cut off.
std::size_t last_after_start(const std::vector<EvidenceLine>& log) {
  const auto last = std::find_if(log.rbegin(), log.rend(), [](const EvidenceLine& line) {
    return has_text(line.text, " via ") || has_text(line.text, "Connected all");
  });
  return static_cast<std::size_t>(log.rend() - last);  // 0: there is none
}

/// Ranks that do not start, or do not come to the end of it, while nearly all others do: a log with the lines
/// of fewer ranks is a part, and says nothing of the rest. Where `none_completed`, those communicators
/// instead of which all ranks started, and none came to the end.
DoctorVerdict unfinished_starts(const Evidence& evidence, bool none_completed) {
  constexpr int kMaxMissing = 4;  // a quarter
  const std::vector<EvidenceLine>& log = evidence.of("nccl-log");
  const auto all = joinings(log);
  const bool condensed = std::ranges::any_of(log, [](const EvidenceLine& line) { return line.more > 0; });
  if (all.empty() || condensed) return std::nullopt;
  if (goes_beyond_start(log)) return healthy();
  const bool warns = std::ranges::any_of(
      log, [](const EvidenceLine& line) { return log_line(line.text).level == LogLevel::warning; });
  std::vector<DoctorObservation> found;
  bool known = false;
  const std::size_t goes_on = last_after_start(log);
  for (const auto& [communicator, joining] : all) {
    const auto few = [&joining](const std::set<int>& those) {
      const int missing = joining.ranks - static_cast<int>(those.size());
      return missing > 0 && missing * kMaxMissing <= joining.ranks;
    };
    std::string what;
    if (none_completed) {
      if (joining.ranks > 1 && static_cast<int>(joining.started.size()) == joining.ranks &&
          joining.complete.empty() && !warns)
        what = "all ranks started, and none completed its start";
    } else if (few(joining.started) && joining.complete.empty()) {
      what = ranks_without(joining, joining.started) + " did not start";
    } else if (few(joining.complete) && goes_on > joining.last_complete &&
               static_cast<int>(joining.started.size()) == joining.ranks) {
      what = ranks_without(joining, joining.complete) + " did not complete the start";
    }
    known = known || !what.empty() || static_cast<int>(joining.complete.size()) == joining.ranks;
    if (!what.empty())
      found.push_back({fmt::format("commId 0x{}, {} ranks: {}", communicator, joining.ranks, what),
                       joining.last->location});
  }
  return known ? DoctorVerdict(found) : std::nullopt;
}

DoctorVerdict look_at_init_hang(const Evidence& evidence) { return unfinished_starts(evidence, false); }
DoctorVerdict look_at_cut_start(const Evidence& evidence) { return unfinished_starts(evidence, true); }

/// The NICs that NCCL lists on a host.
struct HostNics {
  std::vector<std::string> names;  ///< sorted, one for each port
  const EvidenceLine* line = nullptr;
};

void add_missing_nics(const std::map<std::string, HostNics>& hosts, std::vector<DoctorObservation>& found) {
  const auto most = std::ranges::max_element(
      hosts, [](const auto& a, const auto& b) { return a.second.names.size() < b.second.names.size(); });
  for (const auto& [host, nics] : hosts) {
    const std::vector<std::string>& all = most->second.names;
    if (nics.names.size() == all.size()) continue;
    std::vector<std::string> missing;
    std::set_difference(all.begin(), all.end(), nics.names.begin(), nics.names.end(),
                        std::back_inserter(missing));
    const bool same_names = missing.size() + nics.names.size() == all.size();
    found.push_back(
        {fmt::format("{} lists {} NICs, {} lists {}{}", host, nics.names.size(), most->first, all.size(),
                     same_names ? ": without " + join_first(missing, kMaxShownRanks) : ""),
         nics.line->location});
  }
}

/// "NET/IB: [3] mlx5_3:uverbs3:1/IB provider=Mlx5 speed=100000 context=…": Mb/s by device.
struct HostSpeeds {
  std::map<std::string, double> megabits;
  const EvidenceLine* line = nullptr;
  [[nodiscard]] double sum() const {
    double all = 0;
    for (const auto& [device, each] : megabits) all += each;
    return all;
  }
};

void add_slow_nics(const std::vector<EvidenceLine>& log, std::vector<DoctorObservation>& found) {
  std::map<std::string, HostSpeeds> hosts;
  for (const EvidenceLine& line : log) {
    const auto speed = number_behind(line.text, " speed=");
    const std::size_t name = line.text.find("] mlx5_");
    const std::string host = host_of(line.text);
    if (!speed || name == std::string::npos || host.empty()) continue;
    const std::string_view device = std::string_view(line.text).substr(name + 2);
    HostSpeeds& each = hosts[host];
    each.megabits[std::string(device.substr(0, device.find(':')))] = *speed;
    if (each.line == nullptr) each.line = &line;
  }
  const auto best = std::ranges::max_element(
      hosts, [](const auto& a, const auto& b) { return a.second.sum() < b.second.sum(); });
  constexpr double kMegabitsOfGigabit = 1000;
  for (const auto& [host, speeds] : hosts) {
    if (speeds.megabits.size() != best->second.megabits.size() || speeds.sum() == best->second.sum())
      continue;
    for (const auto& [device, megabits] : speeds.megabits) {
      const auto other = best->second.megabits.find(device);
      if (other == best->second.megabits.end() || megabits >= other->second) continue;
      found.push_back(
          {fmt::format("{}: {} at {} Gb/s, on {} {} Gb/s", host, device, megabits / kMegabitsOfGigabit,
                       best->first, other->second / kMegabitsOfGigabit),
           speeds.line->location});
    }
  }
}

/// Hosts of one job that differ in their NICs. Where the ranks of a host list different ones, each was given
/// its own, and hosts are not to be compared.
DoctorVerdict look_at_unequal_nics(const Evidence& evidence) {
  std::map<std::string, HostNics> hosts;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    HostNics nics{listed_nics(line.text), &line};
    const std::string host = host_of(line.text);
    if (nics.names.empty() || host.empty()) continue;
    std::ranges::sort(nics.names);
    const auto [known, added] = hosts.try_emplace(host, nics);
    if (!added && known->second.names != nics.names) return std::nullopt;
  }
  if (hosts.size() < 2) return std::nullopt;
  std::vector<DoctorObservation> found;
  add_missing_nics(hosts, found);
  add_slow_nics(evidence.of("nccl-log"), found);
  return found;
}

/// What NCCL does not do between GPUs that NVLink joins, unless it cannot; a setting that forbids it is
/// setting-costly's.
DoctorVerdict look_at_local_connections(const Evidence& evidence) {
  const LocalConnections local = local_connections(evidence);
  if (!local.expects_nvlink || local.peer_to_peer + local.by_memory < 2) return std::nullopt;
  for (const char* setting : {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"})
    if (environment_setting(evidence, setting)) return std::nullopt;
  if (local.by_memory == 0) return healthy();
  return finding({fmt::format("{} of {} connections within hosts: {}", local.by_memory,
                              local.by_memory + local.peer_to_peer, quoted(*local.first).what),
                  local.first->location});
}

/// "+ NVL[240.0] - GPU/0-65000": the NVLinks between two GPUs of a host. Boards that NVIDIA wires unequally
/// (V100 in a cube) have one link here and two there.
DoctorVerdict look_at_unequal_nvlinks(const Evidence& evidence) {
  struct Rates {
    double most = 0;
    double least = 0;
    const EvidenceLine* slowest = nullptr;
  };
  std::map<std::string, Rates> hosts;
  bool all_are_here = true;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const auto rate = number_behind(line.text, "+ NVL[");
    if (!rate || *rate <= 0 || !has_text(line.text, " - GPU/")) continue;
    all_are_here = all_are_here && line.more == 0;
    Rates& host = hosts[host_of(line.text)];
    host.most = std::max(host.most, *rate);
    if (host.slowest != nullptr && host.least <= *rate) continue;
    host.least = *rate;
    host.slowest = &line;
  }
  constexpr double kMaxByWiring = 2;
  std::vector<DoctorObservation> found;
  for (const auto& [name, host] : hosts)
    if (host.most > kMaxByWiring * host.least)
      found.push_back({fmt::format("{}: {:g} GB/s between two GPUs, and {:g} GB/s between others: {}", name,
                                   host.least, host.most, quoted(*host.slowest).what),
                       host.slowest->location});
  if (found.empty() && (hosts.empty() || !all_are_here)) return std::nullopt;
  return found;
}

constexpr std::array<DoctorCheck, 5> kRankChecks{{
    {"log-init-hang", DoctorSeverity::broken,
     "The log ends while ranks have not come through NCCL's start, and the others wait for them: if the job "
     "hangs, it hangs there.",
     "a log with NCCL_DEBUG=INFO of all ranks", "grep -E 'Init (START|COMPLETE)' LOG ; py-spy dump --pid PID",
     "see what the rank that is named does on its host, and whether it began at all",
     "NCCL, init.cc, ncclCommInitRankFunc", look_at_init_hang, true},
    {"log-init-unfinished", DoctorSeverity::risk,
     "The log ends after all ranks began NCCL's start and before one completed it: it was cut, or the job "
     "hung there.",
     "a log with NCCL_DEBUG=INFO of all ranks", "grep -E 'Init (START|COMPLETE)' LOG ; py-spy dump --pid PID",
     "where it hung: the network of the start (NCCL_SOCKET_IFNAME, a firewall), or a rank of another job "
     "that took its place",
     "NCCL, init.cc, ncclCommInitRankFunc", look_at_cut_start, true},
    {"log-nics-unequal", DoctorSeverity::slow,
     "NCCL finds fewer or slower NICs on a host than on the others of the job: all of them go at its rate.",
     "a log with NCCL_DEBUG=INFO of several hosts",
     "grep -E 'NET/IB ?: (Using|\\[)' LOG ; ibstat (on that host)",
     "the NIC that is named, on that host: its port (ibstat, dmesg | grep mlx5), the container's devices, "
     "and NCCL_IB_HCA alike on all hosts",
     "NCCL, net_ib.cc, ncclIbInit; nccl#2428", look_at_unequal_nics, true},
    {"log-nvlink-unused", DoctorSeverity::slow,
     "GPUs that NVLink joins speak through host memory: a small part of what NVLink carries.",
     "a log with NCCL_DEBUG=INFO",
     "grep -E 'via SHM|P2P is disabled' LOG ; nvidia-smi topo -p2p r ; nvidia-smi nvlink -s",
     "the fabric manager running, ranks in one container or with --ipc=host and all GPUs in each, no ACS or "
     "IOMMU between them; as long as nvidia-smi topo -p2p r does not say OK, NCCL cannot",
     "NCCL user guide, NCCL_P2P_DISABLE and NCCL_P2P_LEVEL; NCCL, transport/p2p.cc",
     look_at_local_connections, true},
    {"log-nvlink-unequal", DoctorSeverity::slow,
     "NCCL sees less than half of the NVLink between two GPUs that it sees between others of that host: "
     "links are down, or a topology file says so.",
     "a log with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=GRAPH",
     "grep 'NVL\\[' LOG ; nvidia-smi nvlink -s ; nvidia-smi topo -m ; env | grep NCCL_TOPO_FILE",
     "NVLinks that are down: reset the GPUs or restart the node, then reseat or replace the bridge, board or "
     "GPU; or unset NCCL_TOPO_FILE",
     "NCCL, graph/topo.cc, ncclTopoPrint", look_at_unequal_nvlinks, true},
}};

}  // namespace

bool goes_beyond_start(const std::vector<EvidenceLine>& log) {
  return std::ranges::any_of(log, [](const EvidenceLine& line) {
    if (has_text(line.text, "Destroy COMPLETE") || has_text(line.text, "Abort COMPLETE") ||
        has_text(line.text, "# Avg bus bandwidth") || has_text(line.text, "Watchdog caught"))
      return true;
    constexpr std::size_t kMinCells = 9;  // size, count, type, operation, root, time, two rates, #wrong
    return line.text.front() >= '0' && line.text.front() <= '9' &&
           split_words(line.text).size() >= kMinCells && log_line(line.text).level == LogLevel::none;
  });
}

std::vector<std::string> listed_nics(std::string_view line) {
  std::vector<std::string> names;
  for (const std::string& word : split_words(text_behind(line, "NET/IB : Using ", ";").value_or(""))) {
    const std::size_t name = word.find(']') + 1;
    const std::size_t end = word.find(':', name);
    if (word.starts_with('[') && name > 0 && end != std::string::npos)
      names.push_back(word.substr(name, end - name));
  }
  return names;
}

bool is_libfabric_over_tcp(std::string_view line) {
  if (!has_text(line, "NET/OFI Selected ")) return false;
  return has_text(line, "rovider is tcp") || has_text(line, "rovider is sockets") ||
         has_text(line, "rovider is udp");
}

std::optional<RanksHeard> ranks_heard(const std::vector<EvidenceLine>& log) {
  int all = 0;
  std::set<int> ranks;
  for (const EvidenceLine& line : log) {
    const auto rank = joining_rank(line.text);
    if (!rank || rank->second < all) continue;
    if (rank->second > all) ranks.clear();
    all = rank->second;
    ranks.insert(rank->first);
  }
  if (ranks.empty()) return std::nullopt;
  return RanksHeard{ranks.size(), static_cast<std::size_t>(all)};
}

LocalConnections local_connections(const Evidence& evidence) {
  LocalConnections local;
  const auto& log = evidence.of("nccl-log");
  const bool by_switch = any_line_has(log, "NVLS multicast support is available");
  const GpuModel* model = nullptr;
  for (const EvidenceLine& line : log) {
    // "#  Rank  0 Group  0 Pid   4711 on        n17 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3"
    if (line.text.starts_with('#') && has_text(line.text, " device ") && !is_slice_of_gpu(line.text))
      if (const GpuModel* found = find_gpu_model(line.text.substr(line.text.rfind(']') + 1))) model = found;
    if (has_text(line.text, " via P2P")) local.peer_to_peer += 1 + line.more;
    if (!has_text(line.text, " via SHM")) continue;
    local.by_memory += 1 + line.more;
    if (local.first == nullptr) local.first = &line;
  }
  const bool wired = model != nullptr && is_wired_on_board(*model);
  // Before A100 boards join some pairs by PCIe only.
  local.expects_nvlink =
      by_switch || (wired && (model->generation() >= GpuGeneration::ampere || local.peer_to_peer == 0));
  return local;
}

std::span<const DoctorCheck> rank_checks() { return kRankChecks; }

}  // namespace collbench::topology
