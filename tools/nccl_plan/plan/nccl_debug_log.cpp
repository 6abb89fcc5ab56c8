#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/import/log_readers.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"
#include "base/units.hpp"

// The lines are those of NVIDIA/nccl v2.18.3-1 to v2.30.7-1: src/graph/search.cc (ncclTopoPrintGraph),
// rings.cc, connect.cc, tuning.cc, src/init.cc, src/transport/net.cc.

namespace collbench::analysis {
namespace {

using std::string_view;

constexpr int kMaxLoggedRanks = 1 << 20;

std::optional<int> channel_number(string_view text) {
  return leading_integer(text, 0, kMaxLoggedChannels - 1);
}

std::optional<int> rank_number(string_view text) { return leading_integer(text, -1, kMaxLoggedRanks - 1); }

/// Reads the lines of a log, one after the other.
class RankLogReader {
 public:
  void info(string_view text) {
    if (note_graph(text) || note_graph_channel(text)) return;
    note_start(text);
    note_channels(text);
    note_ring(text);
    note_trees(text);
    note_connection(text);
    note_tuning(text);
    if (auto choice = nccl_choice_in(text)) log_.choices.push_back(std::move(*choice));
  }

  void warning(string_view text) {
    const std::string line(trim(text));
    auto& all = log_.warnings;
    if (std::ranges::find(all, line) == all.end()) all.push_back(line);
  }

  [[nodiscard]] NcclRankLog take() { return std::move(log_); }

 private:
  void note_start(string_view text) {
    if (log_.version.empty()) log_.version = nccl_version_in(text);
    if (const auto network = text_behind(text, "Using network ")) log_.network = trim(*network);
    if (text.find(" - Init START") != string_view::npos) {
      log_.rank = integer_behind(text, " rank ", 0, kMaxLoggedRanks).value_or(log_.rank);
      log_.ranks = integer_behind(text, " nranks ", 1, kMaxLoggedRanks).value_or(log_.ranks);
      if (const auto address = text_behind(text, " busId ", " ")) log_.pci_address = *address;
    }
    if (text.starts_with("MNNVL 1 ")) {
      log_.clique_ranks = integer_behind(text, " cliqueSize ", 1, kMaxLoggedRanks).value_or(0);
    }
    // "ncclTopoPopulateNics : Filled mlx5_0 in topo with pciPath=…": in the order of their numbers.
    if (const auto nic = text_behind(text, "ncclTopoPopulateNics : Filled ", " "))
      log_.nics.emplace_back(*nic);
  }

  /// "Pattern 4, crossNic 2, nChannels 8, bw 48.000000/48.000000, type NVL/PIX, sameChannels 0".
  bool note_graph(string_view text) {
    if (!text.starts_with("Pattern ")) return false;
    const auto pattern = integer_behind(text, "Pattern ", 1, 6);
    const auto cross_nic = integer_behind(text, "crossNic ", 0, 2);
    const auto channels = integer_behind(text, "nChannels ", 0, kMaxLoggedChannels);
    const auto rates = text_behind(text, " bw ");
    const auto types = text_behind(text, "type ", ",");
    if (!pattern || !cross_nic || !channels || !rates || !types) return false;
    const auto intra = leading_number(*rates);
    const auto inter = number_behind(*rates, "/");
    const std::size_t slash = types->find('/');
    if (!intra || !inter || slash == string_view::npos) return false;
    log_.graphs.push_back({graph_algorithm(*pattern),
                           *pattern,
                           *cross_nic,
                           *channels,
                           *intra * kGigabyte,
                           *inter * kGigabyte,
                           std::string(types->substr(0, slash)),
                           std::string(types->substr(slash + 1)),
                           {}});
    log_.graph_devices.emplace_back();
    return true;
  }

  /// NCCL writes ring, tree, CollNet chain (with the pattern of a tree), CollNet direct and NVLS.
  [[nodiscard]] NcclAlgorithm graph_algorithm(int pattern) const {
    if (pattern == 4) return NcclAlgorithm::ring;
    if (pattern == 5) return NcclAlgorithm::nvls;
    if (pattern == 6) return NcclAlgorithm::collnet_direct;
    const bool has_tree =
        std::ranges::find(log_.graphs, NcclAlgorithm::tree, &NcclSearchGraph::algorithm) != log_.graphs.end();
    return has_tree ? NcclAlgorithm::collnet_chain : NcclAlgorithm::tree;
  }

  /// " 0 : NET/0-0 GPU/0-f000 GPU/0-d8000 NET/0-1", behind its "Pattern" line.
  bool note_graph_channel(string_view text) {
    const auto words = split_words(text);
    if (log_.graphs.empty() || words.size() < 3 || words[1] != ":") return false;
    auto& channels = log_.graph_devices.back();
    const auto number = parse_integer(words[0], 0, kMaxLoggedChannels - 1);
    if (!number || static_cast<std::size_t>(*number) != channels.size()) return false;
    NcclGraphDevices devices;
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i].starts_with("NET/")) {
        (devices.gpus.empty() ? devices.nic_in : devices.nic_out) = words[i].substr(4);
      } else if (words[i].starts_with("GPU/")) {
        devices.gpus.push_back(words[i].substr(4));
      } else {
        return false;
      }
    }
    if (devices.gpus.empty()) return false;
    channels.push_back(std::move(devices));
    return true;
  }

  /// "16 coll channels, 16 collnet channels, 16 nvls channels, 16 p2p channels, 2 p2p channels per peer".
  void note_channels(string_view text) {
    if (text.find(" coll channels, ") == string_view::npos) return;
    for (const std::string& part : split_cells(text, ',')) {
      const auto value = leading_integer(part, 0, kMaxLoggedChannels);
      if (!value) continue;
      if (part.ends_with(" coll channels")) log_.collective_channels = *value;
      if (part.ends_with(" nvls channels")) log_.nvls_channels = *value;
      if (part.ends_with(" p2p channels")) log_.p2p_channels = *value;
      if (part.ends_with(" p2p channels per peer")) log_.p2p_channels_per_peer = *value;
    }
  }

  /// "Ring 00 : 8 -> 0 -> 7"; "NVLS Head  1:  1  9".
  void note_ring(string_view text) {
    if (text.starts_with("Ring ")) {
      const auto channel = channel_number(text.substr(5));
      const auto from = text_behind(text, "->");
      const auto next = rank_number(from ? text_behind(*from, "->").value_or("") : "");
      if (channel && next && *next >= 0) log_.ring_next[*channel] = *next;
    }
    if (text.starts_with("NVLS Head ")) {
      const auto head = channel_number(text.substr(10));
      std::vector<int> ranks;
      for (const std::string& word : split_words(text_behind(text, ":").value_or(""))) {
        const auto rank = rank_number(word);
        if (!rank) return;
        ranks.push_back(*rank);
      }
      if (head) log_.nvls_heads[*head] = std::move(ranks);
    }
  }

  /// "Trees [0] 1/8/-1->0->-1 [1] -1/-1/-1->0->7": children, own rank, parent.
  void note_trees(string_view text) {
    if (!text.starts_with("Trees ")) return;
    while (const auto rest = text_behind(text, "[")) {
      const std::size_t end = rest->find('[');
      const string_view tree = rest->substr(0, end);
      const auto channel = channel_number(tree);
      const auto own = text_behind(tree, "->");
      const auto parent_text = own ? text_behind(*own, "->") : std::nullopt;
      // NCCL cuts the line at 1023 characters: the last number may not be whole.
      const bool whole = end != string_view::npos || text.size() < kTreesLine;
      if (channel && parent_text && whole) {
        if (const auto parent = rank_number(*parent_text)) log_.tree_parent[*channel] = *parent;
      }
      text = *rest;
    }
  }

  /// "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/3(1)/GDRDMA": connection 0, of rings and trees; 1 is for
  /// sends and receives.
  void note_connection(string_view text) {
    if (!text.starts_with("Channel ")) return;
    const auto via = text_behind(text, " via NET/");
    const auto ranks = text_behind(text, "/0 : ");
    const auto channel = channel_number(text.substr(8));
    if (!via || !ranks || !channel) return;
    const auto from = rank_number(*ranks);
    const auto to = rank_number(text_behind(*ranks, "->").value_or(""));
    const auto device = text_behind(*via, "/");
    const auto nic = device ? channel_number(*device) : std::nullopt;
    if (!from || !to || !nic || *from < 0 || *to < 0) return;
    NcclConnection found{*channel, *from, *to, {}, {}, via->find("/GDRDMA") != string_view::npos, {}};
    const string_view number = device->substr(0, device->find('/'));
    if (const auto proxy = text_behind(number, "(")) found.proxy_rank = rank_number(*proxy);
    if (text.find("[send]") != string_view::npos) {
      found.send_nic = nic;
      log_.sends.push_back(found);
    } else if (text.find("[receive]") != string_view::npos) {
      found.receive_nic = nic;
      log_.receives.push_back(found);
    }
  }

  /// "  Algorithm   |   Tree  |  Ring  |": the algorithms of the lines that follow, three protocols each.
  /// "    AllReduce |    25.2/  16.6 |    48.5/ 124.8 |": latency in µs and bandwidth in GB/s.
  void note_tuning(string_view text) {
    const auto cells = split_cells(text, '|');
    if (cells.size() < 2) return;
    if (cells[0] == "Algorithm") {
      columns_.clear();
      for (std::size_t i = 1; i < cells.size(); ++i) {
        if (!cells[i].empty()) columns_.push_back(logged_algorithm(cells[i]));
      }
      return;
    }
    constexpr std::array<string_view, 5> kFunctions{"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                                    "AllReduce"};
    const auto* const function = std::ranges::find(kFunctions, cells[0]);
    if (function == kFunctions.end()) return;
    for (std::size_t i = 0; i < columns_.size() * kWords<NcclProtocol>.size() && i + 1 < cells.size(); ++i) {
      const std::string& cell = cells[i + 1];
      const auto latency = leading_number(cell);
      const auto rate = number_behind(cell, "/");
      if (!latency || !rate || *rate == 0) continue;
      log_.tuning.push_back({std::string(*function), columns_[i / 3],
                             std::string(name(static_cast<NcclProtocol>(i % 3))), *latency * kMicrosecond,
                             *rate * kGigabyte});
    }
  }

  static constexpr std::size_t kTreesLine = 1023;

  NcclRankLog log_;
  std::vector<std::string> columns_;
};

/// The words of NCCL in a line of its log, and whether they are a warning.
struct NcclWords {
  string_view text;
  bool is_warning = false;
};

std::optional<NcclWords> nccl_words(string_view line) {
  if (const auto info = text_behind(line, " NCCL INFO ")) return NcclWords{*info, false};
  if (const auto warning = text_behind(line, " NCCL WARN ")) return NcclWords{*warning, true};
  return std::nullopt;
}

}  // namespace

NcclRankLog read_nccl_rank_log(std::string_view text) {
  RankLogReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto words = nccl_words(text.substr(0, end))) {
      words->is_warning ? reader.warning(words->text) : reader.info(words->text);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

std::optional<NcclLoggedChoice> last_nccl_choice(std::string_view text) {
  auto choices = read_nccl_rank_log(text).choices;
  if (choices.empty()) return std::nullopt;
  return std::move(choices.back());
}

}  // namespace collbench::analysis
