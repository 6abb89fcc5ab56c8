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

/// The cells of the first row of that table, those of its affinity columns included, and not yet checked:
/// enough to tell `topo -m` from `topo -p2p`. Empty when there is no table.
[[nodiscard]] std::vector<std::string> first_matrix_row(const std::vector<Line>& lines);

/// What a cell of `nvidia-smi topo -m` says of two devices.
struct PathCell {
  PathType type;
  int nvlinks = 0;  ///< the number behind NV; 0 for any other word

  bool operator==(const PathCell&) const = default;
};

/// "X", "NV18", "PIX", "SOC" (SYS until driver 375), …; none for anything else.
[[nodiscard]] std::optional<PathCell> parse_path_cell(std::string_view cell);

}  // namespace collbench::topology
