#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_input.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A row of a table of nvidia-smi: the cells under the devices, then those under the affinity columns.
struct MatrixRow {
  std::string label;
  std::vector<std::string> cells;   ///< one per column
  std::vector<std::string> extras;  ///< one per extra column; empty for NIC rows, which have none
  int line = 0;
};

/// The table of `nvidia-smi topo -m` or `-p2p`: rows and columns are the same devices in the same order.
struct Matrix {
  std::vector<std::string> columns;  ///< "GPU0", "NIC3", "mlx5_0"
  std::vector<std::string> extras;   ///< some of "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
  std::vector<MatrixRow> rows;
  int last_line = 0;
};

/// Finds the first table in `lines`, whatever stands around it. Cells are split at tabs where the header has
/// tabs (an empty cell counts), at blanks otherwise. None when there is no header. Throws Error (usage) with
/// FILE:LINE when a header is damaged, a row has another number of cells, or a row is missing; never guesses.
[[nodiscard]] std::optional<Matrix> find_matrix(const std::vector<Line>& lines, std::string_view file);

/// `nvidia-smi topo -p2p r` (or w, n, a, p): what each pair of GPUs can do, in the tool's words: OK, CNS
/// (chipset not supported), GNS (GPU not supported), TNS (topology not supported), NS, DR (disabled), U.
/// `file` stands in errors. Throws Error (usage) with FILE:LINE for anything but a whole, undamaged table.
[[nodiscard]] Host read_nvidia_smi_p2p(std::string_view text, std::string_view file);

}  // namespace collbench::topology
