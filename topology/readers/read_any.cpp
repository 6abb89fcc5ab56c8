#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text_input.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// "a topology saved by collbench, NCCL topology XML, …, lspci -vvv or ibstat".
std::string readable_inputs() {
  std::vector<std::string_view> names{"a topology saved by collbench"};
  for (const TopologyReader* reader : topology_readers()) {
    if (reader->read != nullptr) names.push_back(reader->name);
  }
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

/// Things that are near enough to be given by mistake, by a mark in them.
struct Stranger {
  std::string_view mark;
  std::string_view what;
};

constexpr std::array<Stranger, 6> kStrangers{{
    {"==============NVSMI LOG==============",
     "the text output of nvidia-smi -q; save its XML instead (nvidia-smi -q -x)"},
    {"nvbandwidth Version", "the output of nvbandwidth, a benchmark"},
    {"PCI bridge [0604]", "lspci output without details; save lspci -vvv instead"},
    {"Bridge [0680]", "lspci output without details; save lspci -vvv instead"},
    {"systemd[1]:", "a system log"},
    {"[tid ", "a log of the fabric manager or of IMEX"},
}};

Error refuse(std::string_view text, std::string_view file) {
  const auto* known = std::ranges::find_if(kStrangers, [text](const Stranger& stranger) {
    return text.find(stranger.mark) != std::string_view::npos;
  });
  const std::string seen = known != kStrangers.end() ? fmt::format("this is {}", known->what)
                                                     : std::string("this file does not describe a machine");
  return usage_error(std::string(file), seen,
                     fmt::format("give {}; for example: nvidia-smi topo -m > FILE", readable_inputs()));
}

/// What follows compares each device of a host with each other one. The largest host of 2026 has 16 GPUs; of
/// NICs there may be hundreds of virtual functions.
constexpr std::size_t kMaxGpus = 128;
constexpr std::size_t kMaxNics = 1024;

Host with_few_devices(Host host, std::string_view file) {
  for (const auto& [kind, count, most] :
       {std::tuple{"GPUs", host.gpus.size(), kMaxGpus}, std::tuple{"NICs", host.nics.size(), kMaxNics},
        std::tuple{"NVSwitches", host.nvswitches.size(), kMaxGpus}}) {
    if (count > most)
      throw usage_error(std::string(file), fmt::format("a host with {} {}", count, kind),
                        fmt::format("give a file of one machine, with {} of them at most", most));
  }
  return host;
}

}  // namespace

ReaderInput::ReaderInput(std::string_view whole) : text(whole), xml(trim(whole).starts_with('<')) {
  if (!xml) lines = clean_lines(whole);
}

bool is_saved_topology(std::string_view text) {
  return trim(text).starts_with('{') && text.find("collbench_topology") != std::string_view::npos;
}

Topology read_any_topology(std::string_view text, std::string_view file) {
  require_text(text, file, readable_inputs());
  if (is_saved_topology(text)) {
    Topology saved = load_topology(text, file);
    if (saved.hosts.empty())
      throw usage_error(std::string(file), "there is no host in it",
                        "save it again with collbench topo save");
    for (Host& host : saved.hosts) host = with_few_devices(std::move(host), file);
    return saved;
  }
  const ReaderInput input(text);
  std::vector<Host> readings;
  for (const TopologyReader* reader : topology_readers()) {
    if (reader->recognizes == nullptr || !reader->recognizes(input)) continue;
    readings.push_back(with_few_devices(reader->read(text, file), file));
    if (input.xml) break;
  }
  // An error of nvidia-smi counts only where nothing else is in it: a log of many commands may hold one
  // beside good tables.
  if (readings.empty()) throw without_nvidia_smi_output(input.lines, file, refuse(text, file));
  return {{readings.size() == 1 ? std::move(readings[0]) : merge_hosts(readings)}};
}

}  // namespace collbench::topology
