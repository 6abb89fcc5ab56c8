#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text_input.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/topology.hpp"
#include "topology/readers/nvidia_smi/matrix.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kTopoOutput = "the output of nvidia-smi topo -m";
constexpr std::string_view kSaveTopo = "save it again with: nvidia-smi topo -m > FILE";

bool is_gpu(const std::string& label) { return label.substr(0, 3) == "GPU"; }

/// A table that came through a JSON string is one line with \n and \t written out.
bool is_in_json(std::string_view text) {
  return text.find("\\tGPU") != std::string_view::npos ||
         text.find("\\u001b[4mGPU") != std::string_view::npos;
}

std::string undo_json_escapes(std::string_view text) {
  if (!is_in_json(text)) return std::string(text);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == 'n' || next == 't')) {
      plain += next == 'n' ? '\n' : '\t';
      ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// "0-1" or "0,3-9" in one spelling; none for an empty cell and N/A.
std::optional<std::string> affinity(const MatrixRow& row, std::size_t i, const Matrix& matrix,
                                    std::string_view file) {
  const std::string& cell = row.extras[i];
  if (cell.empty() || cell == "N/A") return std::nullopt;
  const auto list = parse_cpu_list(cell);
  if (!list) {
    throw usage_error(location(file, row.line),
                      fmt::format("row {}, {}: '{}' is not a list of numbers such as 0-13,28-41", row.label,
                                  matrix.extras[i], excerpt(cell)),
                      std::string(kSaveTopo));
  }
  return format_cpu_list(*list);
}

Gpu read_gpu(const MatrixRow& row, const Matrix& matrix, std::string_view file) {
  Gpu gpu;
  const auto index = parse_integer(std::string_view(row.label).substr(3), 0, 9999);
  if (!index)
    throw usage_error(location(file, row.line), fmt::format("'{}' is not a GPU", row.label),
                      std::string(kSaveTopo));
  gpu.index.value = static_cast<int>(*index);
  for (std::size_t i = 0; i < row.extras.size(); ++i) {
    if (matrix.extras[i] == "CPU Affinity") gpu.cpu_affinity.value = affinity(row, i, matrix, file);
    if (matrix.extras[i] == "NUMA Affinity") gpu.numa_affinity.value = affinity(row, i, matrix, file);
    if (matrix.extras[i] == "GPU NUMA ID" && !row.extras[i].empty()) gpu.gpu_numa_node.value = row.extras[i];
  }
  return gpu;
}

/// The name behind "NIC0:" in the legend; none when there is no such line.
std::optional<std::string> legend_name(const std::vector<Line>& lines, int after, const std::string& label) {
  for (const Line& line : lines) {
    if (line.number <= after) continue;
    const std::vector<std::string> words = split_words(line.text);
    if (words.size() == 2 && words[0] == label + ":") return words[1];
  }
  return std::nullopt;
}

Nic read_nic(const std::string& label, const std::vector<Line>& lines, const Matrix& matrix) {
  Nic nic;
  if (label.substr(0, 3) == "NIC") {
    nic.label.value = label;
    nic.name.value = legend_name(lines, matrix.last_line, label);
  } else {
    nic.name.value = label;
  }
  return nic;
}

Device device_at(const Matrix& matrix, std::size_t column) {
  const bool gpu = is_gpu(matrix.columns[column]);
  const auto before =
      std::count_if(matrix.columns.begin(), matrix.columns.begin() + static_cast<std::ptrdiff_t>(column),
                    [gpu](const std::string& label) { return is_gpu(label) == gpu; });
  return {gpu ? DeviceKind::gpu : DeviceKind::nic, static_cast<int>(before)};
}

StatedPath read_cell(const Matrix& matrix, std::size_t row, std::size_t column, std::string_view file) {
  const std::string& cell = matrix.rows[row].cells[column];
  const auto refuse = [&](std::string_view what) {
    return usage_error(location(file, matrix.rows[row].line),
                       fmt::format("row {}, column {}: '{}' {}", matrix.columns[row], matrix.columns[column],
                                   excerpt(cell), what),
                       std::string(kSaveTopo));
  };
  constexpr std::array<std::string_view, 6> kPeerWords{"OK", "CNS", "GNS", "TNS", "NS", "DR"};
  if (std::ranges::find(kPeerWords, cell) != kPeerWords.end()) {
    throw refuse("belongs to nvidia-smi topo -p2p, not to topo -m");
  }
  StatedPath path{device_at(matrix, row), device_at(matrix, column), {}, {}};
  const auto says = parse_path_cell(cell);
  if (!says) throw refuse("is not a path type (X, NV#, PIX, PXB, PHB, NODE, SYS); were tabs lost?");
  path.type.value = says->type;
  if ((path.type.value == PathType::loc) != (row == column))
    throw refuse("is off the diagonal, or X is missing");
  if (says->nvlinks > 0) path.nvlinks.value = says->nvlinks;
  return path;
}

constexpr std::string_view kP2pOutput = "the output of nvidia-smi topo -p2p";
constexpr std::string_view kSaveP2p = "save it again with: nvidia-smi topo -p2p r > FILE";
constexpr std::array<std::string_view, 8> kP2pWords{"X", "OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};

/// Throws Error (usage) where there is none.
Matrix required_matrix(const std::vector<Line>& lines, std::string_view file, std::string_view expected,
                       std::string_view how_to_save) {
  if (auto matrix = find_matrix(lines, file)) return *std::move(matrix);
  throw without_nvidia_smi_output(
      lines, file,
      usage_error(std::string(file), fmt::format("no table found; expected {}", expected),
                  std::string(how_to_save)));
}

/// Whether the first row of the table has words of topo -p2p.
bool is_nvidia_smi_p2p(const ReaderInput& input) {
  constexpr std::array<std::string_view, 5> kWords{"OK", "CNS", "GNS", "TNS", "NS"};
  const std::vector<std::string> cells = first_matrix_row(input.lines);
  return std::ranges::any_of(
      cells, [&](const std::string& cell) { return std::ranges::find(kWords, cell) != kWords.end(); });
}

bool is_nvidia_smi_topo(const ReaderInput& input) {
  const bool table = !first_matrix_row(input.lines).empty();
  return (table && !is_nvidia_smi_p2p(input)) || (!input.xml && is_in_json(input.text));
}

}  // namespace

Host read_nvidia_smi_topo(std::string_view text, std::string_view file) {
  require_text(text, file, kTopoOutput);
  const std::vector<Line> lines = clean_lines(undo_json_escapes(text));
  const Matrix matrix = required_matrix(lines, file, kTopoOutput, kSaveTopo);
  Host host;
  host.sources.push_back(kNvidiaSmiTopoReader.source(file));
  for (const MatrixRow& row : matrix.rows) {
    if (is_gpu(row.label)) {
      host.gpus.push_back(read_gpu(row, matrix, file));
    } else {
      host.nics.push_back(read_nic(row.label, lines, matrix));
    }
  }
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const StatedPath path = read_cell(matrix, row, column, file);
      if (row != column) host.stated_paths.push_back(path);
    }
  }
  return host;
}

constexpr TopologyReader kNvidiaSmiTopoReader{
    .name = "nvidia-smi topo -m",
    .coverage = {.gpus = true, .nics = true, .nvswitches = false},
    .recognizes = is_nvidia_smi_topo,
    .read = read_nvidia_smi_topo,
};

Host read_nvidia_smi_p2p(std::string_view text, std::string_view file) {
  require_text(text, file, kP2pOutput);
  const Matrix matrix = required_matrix(clean_lines(text), file, kP2pOutput, kSaveP2p);
  Host host;
  host.sources.push_back(kNvidiaSmiP2pReader.source(file));
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    const auto index = parse_integer(std::string_view(matrix.columns[row]).substr(3), 0, 9999);
    Gpu gpu;
    if (index) gpu.index.value = static_cast<int>(*index);
    host.gpus.push_back(gpu);
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const std::string& cell = matrix.rows[row].cells[column];
      const bool word = std::ranges::find(kP2pWords, cell) != kP2pWords.end();
      if (!word || !index || (cell == "X") != (row == column)) {
        throw usage_error(location(file, matrix.rows[row].line),
                          fmt::format("row {}, column {}: '{}' is not a state that topo -p2p prints",
                                      matrix.columns[row], matrix.columns[column], excerpt(cell)),
                          std::string(kSaveP2p));
      }
      if (row == column) continue;
      host.peer_access.push_back(
          {{DeviceKind::gpu, static_cast<int>(row)}, {DeviceKind::gpu, static_cast<int>(column)}, {cell, 0}});
    }
  }
  return host;
}

constexpr TopologyReader kNvidiaSmiP2pReader{
    .name = "nvidia-smi topo -p2p",
    .coverage = {.gpus = true, .nics = false, .nvswitches = false},
    .recognizes = is_nvidia_smi_p2p,
    .read = read_nvidia_smi_p2p,
};

}  // namespace collbench::topology
