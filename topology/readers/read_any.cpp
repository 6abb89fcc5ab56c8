#include "topology/readers/read_any.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text_input.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/readers/hwloc/xml.hpp"
#include "topology/readers/ibstat.hpp"
#include "topology/readers/lspci.hpp"
#include "topology/readers/nccl/graph_xml.hpp"
#include "topology/readers/nccl/topology_xml.hpp"
#include "topology/readers/nvidia_smi/csv.hpp"
#include "topology/readers/nvidia_smi/fields.hpp"
#include "topology/readers/nvidia_smi/matrix.hpp"
#include "topology/readers/nvidia_smi/nvlink.hpp"
#include "topology/readers/nvidia_smi/query.hpp"
#include "topology/readers/nvidia_smi/topo.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kAnyInput =
    "a topology saved by us, XML of NCCL, hwloc or nvidia-smi -q -x, or output of nvidia-smi topo -m, topo "
    "-p2p, nvlink -s or --query-gpu, of lspci -vvv or ibstat";

/// Things that are near enough to be given by mistake, by a mark in them.
struct Stranger {
  std::string_view mark;
  std::string_view what;
};

constexpr std::array<Stranger, 6> kStrangers{{
    {"==============NVSMI LOG==============",
     "the text of nvidia-smi -q; the XML of nvidia-smi -q -x is read"},
    {"nvbandwidth Version", "the output of nvbandwidth, which measures"},
    {"PCI bridge [0604]", "the output of lspci without its details; that of lspci -vvv is read"},
    {"Bridge [0680]", "the output of lspci without its details; that of lspci -vvv is read"},
    {"systemd[1]:", "a system log"},
    {"[tid ", "a log of the fabric manager"},
}};

Error refuse(std::string_view text, std::string_view file) {
  const auto* known = std::find_if(kStrangers.begin(), kStrangers.end(), [text](const Stranger& stranger) {
    return text.find(stranger.mark) != std::string_view::npos;
  });
  const std::string seen = known != kStrangers.end()
                               ? fmt::format("this is {}", known->what)
                               : std::string("this is no file that describes a machine");
  return usage_error(std::string(file), fmt::format("{}; expected {}", seen, kAnyInput),
                     "save one of these, for example with: nvidia-smi topo -m > FILE");
}

bool has_nvlink_listing(const std::vector<Line>& lines) {
  const bool gpu = std::any_of(lines.begin(), lines.end(), [](const Line& line) {
    return trim(line.text).substr(0, 4) == "GPU " && line.text.find("(UUID: ") != std::string::npos;
  });
  return gpu && std::any_of(lines.begin(), lines.end(), [](const Line& line) {
           const std::string_view text = trim(line.text);
           return text.substr(0, 5) == "Link " || lower(text).find("nvlink") != std::string::npos;
         });
}

/// The words of topo -p2p are in the first row.
bool is_p2p(const Matrix& matrix) {
  constexpr std::array<std::string_view, 5> kWords{"OK", "CNS", "GNS", "TNS", "NS"};
  return std::any_of(matrix.rows[0].cells.begin(), matrix.rows[0].cells.end(), [&](const std::string& cell) {
    return std::find(kWords.begin(), kWords.end(), cell) != kWords.end();
  });
}

/// One file may hold the output of several commands.
Host read_outputs(std::string_view text, std::string_view file) {
  const std::vector<Line> lines = clean_lines(text);
  std::vector<Host> readings;
  const auto matrix = find_matrix(lines, file);
  if (matrix && is_p2p(*matrix)) readings.push_back(read_nvidia_smi_p2p(text, file));
  if ((matrix && !is_p2p(*matrix)) || text.find("\\tGPU") != std::string_view::npos ||
      text.find("\\u001b[4mGPU") != std::string_view::npos) {
    readings.push_back(read_nvidia_smi_topo(text, file));
  }
  if (has_nvlink_listing(lines)) readings.push_back(read_nvidia_smi_nvlink(text, file));
  const bool csv = std::any_of(lines.begin(), lines.end(),
                               [](const Line& line) { return is_nvidia_smi_csv_header(line.text); });
  if (csv) readings.push_back(read_nvidia_smi_csv(text, file));
  if (has_lspci(text)) readings.push_back(read_lspci(text, file));
  if (has_ibstat(text)) readings.push_back(read_ibstat(text, file));
  if (readings.empty()) {
    // Only where nothing else is in it: a log of many commands may hold an error beside good tables.
    if (find_nvidia_smi_error(lines)) return read_nvidia_smi_topo(text, file);
    throw refuse(text, file);
  }
  return readings.size() == 1 ? readings[0] : merge_hosts(readings);
}

}  // namespace

Topology read_any_topology(std::string_view text, std::string_view file) {
  require_text(text, file, kAnyInput);
  const std::string_view start = trim(text);
  if (start.front() == '{' && text.find("collbench_topology") != std::string_view::npos)
    return load_topology(text, file);
  if (start.front() == '<') {
    if (text.find("<system") != std::string_view::npos) return {{read_nccl_topology_xml(text, file)}};
    if (text.find("<graphs") != std::string_view::npos) return {{read_nccl_graph_xml(text, file)}};
    if (text.find("<topology") != std::string_view::npos) return {{read_hwloc_xml(text, file)}};
    if (text.find("<nvidia_smi_log") != std::string_view::npos) return {{read_nvidia_smi_query(text, file)}};
    throw refuse(text, file);
  }
  return {{read_outputs(text, file)}};
}

}  // namespace collbench::topology
