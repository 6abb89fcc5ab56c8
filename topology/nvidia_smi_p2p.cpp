#include "topology/nvidia_smi_p2p.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/nvidia_smi_failure.hpp"
#include "topology/nvidia_smi_matrix.hpp"
#include "topology/text_input.hpp"

namespace collbench {
namespace {

constexpr std::string_view kP2pOutput = "the output of nvidia-smi topo -p2p";
constexpr std::string_view kSaveP2p = "save it again with: nvidia-smi topo -p2p r > FILE";
constexpr std::array<std::string_view, 8> kP2pWords{"X", "OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};

}  // namespace

Host read_nvidia_smi_p2p(std::string_view text, std::string_view file) {
  require_text(text, file, kP2pOutput);
  const std::vector<Line> lines = clean_lines(text);
  const auto matrix = find_matrix(lines, file);
  if (!matrix) {
    throw without_nvidia_smi_output(
        lines, file,
        usage_error(std::string(file), fmt::format("there is no table in it; expected {}", kP2pOutput),
                    std::string(kSaveP2p)));
  }
  Host host;
  host.sources.push_back({"nvidia-smi topo -p2p", std::string(file), ""});
  for (std::size_t row = 0; row < matrix->rows.size(); ++row) {
    const auto index = parse_integer(std::string_view(matrix->columns[row]).substr(3), 0, 9999);
    Gpu gpu;
    if (index) gpu.index.value = static_cast<int>(*index);
    host.gpus.push_back(gpu);
    for (std::size_t column = 0; column < matrix->columns.size(); ++column) {
      const std::string& cell = matrix->rows[row].cells[column];
      const bool word = std::find(kP2pWords.begin(), kP2pWords.end(), cell) != kP2pWords.end();
      if (!word || !index || (cell == "X") != (row == column)) {
        throw usage_error(place(file, matrix->rows[row].line),
                          fmt::format("row {}, column {}: '{}' is no word of topo -p2p", matrix->columns[row],
                                      matrix->columns[column], excerpt(cell)),
                          std::string(kSaveP2p));
      }
      if (row == column) continue;
      host.peer_access.push_back(
          {{DeviceKind::gpu, static_cast<int>(row)}, {DeviceKind::gpu, static_cast<int>(column)}, {cell, 0}});
    }
  }
  return host;
}

}  // namespace collbench
