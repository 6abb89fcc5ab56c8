#include "topology/readers/nvidia_smi/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace collbench::topology {
namespace {

constexpr std::array<std::string_view, 3> kExtras{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};
constexpr std::string_view kCopyAgain = "copy the output again, or save it with: nvidia-smi topo -m > FILE";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// "GPU0", "NIC12".
bool is_numbered_label(std::string_view word) {
  const std::string_view kind = word.substr(0, 3);
  if (word.size() < 4 || (kind != "GPU" && kind != "NIC")) return false;
  return std::all_of(word.begin() + 3, word.end(), is_digit);
}

/// That, or a NIC by name as old drivers print it: "mlx5_0", "rocep4s0f0".
bool is_label(std::string_view word) {
  if (is_numbered_label(word)) return true;
  return word.size() > 2 && is_lower(word.front()) && is_digit(word.back()) &&
         std::ranges::all_of(word, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

bool is_extra_word(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "Affinity" || word == "GPU" || word == "ID";
}

/// The header's text from its first label on, without what a paste put before it ("topo = '''").
std::optional<std::string_view> header_text(std::string_view line) {
  const std::size_t start = line.find("GPU");
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view text = line.substr(start);
  const std::vector<std::string> words = split_words(text);
  const bool fused =
      words[0].find("GPU", 3) != std::string::npos && is_digit(words[0].size() > 3 ? words[0][3] : ' ');
  if (!fused && !is_numbered_label(words[0])) return std::nullopt;
  const bool only_labels = std::all_of(words.begin() + 1, words.end(), [](const std::string& word) {
    return is_label(word) || is_extra_word(word) || word.find("CPU") != std::string::npos ||
           word.find("NIC", 1) != std::string::npos || word.find("Affinity") != std::string::npos;
  });
  // A one-GPU header may be "GPU0" alone, but in a log that is more often a word: ask for a column behind it.
  return only_labels ? std::optional(text) : std::nullopt;
}

std::vector<std::string> header_cells(std::string_view text) {
  if (text.find('\t') != std::string_view::npos) {
    std::vector<std::string> cells = split_cells(text, '\t');
    while (!cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
  }
  // Split at blanks, the names of several words are put together again.
  std::string joined(text);
  for (const std::string_view extra : kExtras) {
    const std::size_t at = joined.find(extra);
    if (at == std::string::npos) continue;
    for (std::size_t i = at; i < at + extra.size(); ++i) {
      if (joined[i] == ' ') joined[i] = '\x1f';
    }
  }
  std::vector<std::string> cells = split_words(joined);
  for (std::string& cell : cells) std::ranges::replace(cell, '\x1f', ' ');
  return cells;
}

Matrix read_header(const Line& line, std::string_view text, std::string_view file) {
  Matrix matrix;
  for (const std::string& cell : header_cells(text)) {
    const bool extra = std::ranges::find(kExtras, cell) != kExtras.end();
    if (extra && std::ranges::find(matrix.extras, cell) != matrix.extras.end()) {
      throw usage_error(location(file, line.number), fmt::format("the header names {} twice", cell),
                        std::string(kCopyAgain));
    }
    if (extra) {
      matrix.extras.push_back(cell);
    } else if (is_label(cell) && matrix.extras.empty()) {
      matrix.columns.push_back(cell);
    } else if (cell.empty()) {
      throw usage_error(
          location(file, line.number),
          fmt::format("column {} of the header is empty (were tabs doubled?)", matrix.columns.size() + 1),
          std::string(kCopyAgain));
    } else {
      throw usage_error(
          location(file, line.number),
          fmt::format("'{}' in the header is neither a device nor an affinity column (were tabs lost?)",
                      excerpt(cell)),
          std::string(kCopyAgain));
    }
  }
  return matrix;
}

/// The row's cells without its label, or none when the line is no row.
std::optional<MatrixRow> split_row(const Line& line, bool tabs) {
  const std::string_view text =
      std::string_view(line.text).substr(std::min(line.text.find_first_not_of(" \t"), line.text.size()));
  std::vector<std::string> cells = tabs ? split_cells(text, '\t') : split_words(text);
  if (cells.empty() || cells[0].empty()) return std::nullopt;
  MatrixRow row{cells[0], {cells.begin() + 1, cells.end()}, {}, line.number};
  const bool is_row =
      is_label(row.label) || row.label.substr(0, 3) == "GPU" || row.label.substr(0, 3) == "NIC";
  if (!is_row || row.cells.empty()) return std::nullopt;
  return row;
}

/// Moves what stands behind the devices' cells to `extras`; false when the number of cells is wrong.
bool take_extras(MatrixRow& row, const Matrix& matrix, bool tabs) {
  const std::size_t devices = matrix.columns.size();
  const std::size_t extras = matrix.extras.size();
  if (row.cells.size() < devices) return false;
  row.extras.assign(row.cells.begin() + static_cast<std::ptrdiff_t>(devices), row.cells.end());
  row.cells.resize(devices);
  const bool all_empty = std::ranges::all_of(row.extras, [](const auto& cell) { return cell.empty(); });
  // Rows of NICs have no affinity, and topo -p2p ends its rows with a tab.
  if ((row.label.substr(0, 3) != "GPU" || extras == 0) && all_empty && row.extras.size() <= extras + 1) {
    row.extras.clear();
    return true;
  }
  // Drivers print two tabs before the cell of the last column: those before 470 before NUMA Affinity, later
  // ones before GPU NUMA ID.
  if (extras > 1 && row.extras.size() == extras + 1 && row.extras[extras - 1].empty())
    row.extras.erase(row.extras.begin() + static_cast<std::ptrdiff_t>(extras - 1));
  // Old drivers know no NUMA node of some machines and leave its cell, the last one, empty. Not where a
  // number stands among the devices' cells: there one was lost.
  const bool whole = devices > 0 && !row.cells.back().empty() && !is_digit(row.cells.back().front());
  if (whole && tabs && row.extras.size() < extras) row.extras.resize(extras);
  if (whole && !tabs && row.extras.size() + 1 == extras && extras > 1 &&
      row.extras.front().find_first_of("-,") != std::string::npos)
    row.extras.resize(extras);
  while (row.extras.size() > extras && row.extras.back().empty()) row.extras.pop_back();
  return row.extras.size() == extras;
}

/// A heading that somebody cut behind "CPU Affinity", whose rows still have the cells: theirs is the order of
/// every driver's heading. Not where a word stands among them: there the heading lost a device.
void restore_cut_heading(Matrix& matrix, const MatrixRow& row) {
  const std::size_t known = matrix.columns.size() + matrix.extras.size();
  const std::vector<std::string>& stated = matrix.extras;
  const bool prefix =
      std::mismatch(stated.begin(), stated.end(), kExtras.begin(), kExtras.end()).first == stated.end();
  if (!prefix || row.cells.size() <= known) return;
  const auto is_affinity = [](const std::string& cell) {
    return cell == "N/A" || (!cell.empty() && cell.find_first_not_of("0123456789,-") == std::string::npos);
  };
  const auto devices_end = row.cells.begin() + static_cast<std::ptrdiff_t>(matrix.columns.size());
  const std::size_t extras = row.cells.size() - matrix.columns.size();
  if (extras > kExtras.size() || !std::all_of(devices_end, row.cells.end(), is_affinity)) return;
  for (std::size_t i = matrix.extras.size(); i < extras; ++i) matrix.extras.emplace_back(kExtras.at(i));
}

void add_row(Matrix& matrix, MatrixRow row, bool tabs, std::string_view file) {
  const std::size_t found = row.cells.size();
  if (!take_extras(row, matrix, tabs)) {
    throw usage_error(location(file, row.line),
                      fmt::format("row {} has {} cells, the header has {}", excerpt(row.label, 20), found,
                                  matrix.columns.size() + matrix.extras.size()),
                      std::string(kCopyAgain));
  }
  const std::size_t index = matrix.rows.size();
  if (index >= matrix.columns.size() || row.label != matrix.columns[index]) {
    throw usage_error(location(file, row.line),
                      fmt::format("found row {} where the header has {}", excerpt(row.label, 20),
                                  index < matrix.columns.size() ? matrix.columns[index] : "no more devices"),
                      std::string(kCopyAgain));
  }
  matrix.last_line = row.line;
  matrix.rows.push_back(std::move(row));
}

/// Where a table starts.
struct MatrixStart {
  std::size_t header;     ///< index of its line; the first row is the next one
  std::string_view text;  ///< of the header, from its first label on
  bool tabs;
  MatrixRow first_row;  ///< all of its cells, those of the affinity columns not yet apart
};

std::optional<MatrixStart> find_start(const std::vector<Line>& lines) {
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto text = header_text(lines[i].text);
    if (!text) continue;
    const bool tabs =
        text->find('\t') != std::string_view::npos || lines[i + 1].text.find('\t') != std::string::npos;
    if (auto row = split_row(lines[i + 1], tabs)) return MatrixStart{i, *text, tabs, std::move(*row)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> first_matrix_row(const std::vector<Line>& lines) {
  auto start = find_start(lines);
  return start ? std::move(start->first_row.cells) : std::vector<std::string>();
}

std::optional<Matrix> find_matrix(const std::vector<Line>& lines, std::string_view file) {
  const auto start = find_start(lines);
  if (!start) return std::nullopt;
  Matrix matrix = read_header(lines[start->header], start->text, file);
  restore_cut_heading(matrix, start->first_row);
  for (std::size_t k = start->header + 1; k < lines.size(); ++k) {
    auto row = split_row(lines[k], start->tabs);
    if (!row) break;
    add_row(matrix, std::move(*row), start->tabs, file);
  }
  if (matrix.rows.size() < matrix.columns.size()) {
    throw usage_error(location(file, matrix.last_line),
                      fmt::format("the table ends after {} rows, the header has {} devices",
                                  matrix.rows.size(), matrix.columns.size()),
                      std::string(kCopyAgain));
  }
  return matrix;
}

std::optional<PathCell> parse_path_cell(std::string_view cell) {
  constexpr int kMaxNvLinks = 36;  // a bond of more has not been built (18 links a GPU up to Blackwell)
  if (cell.starts_with("NV")) {
    const auto count = parse_integer(cell.substr(2), 1, kMaxNvLinks);
    return count ? std::optional(PathCell{PathType::nvl, static_cast<int>(*count)}) : std::nullopt;
  }
  if (cell == "SOC") return PathCell{PathType::sys};
  constexpr std::array kWholeWords{PathType::loc, PathType::c2c,  PathType::pix, PathType::pxb,
                                   PathType::phb, PathType::node, PathType::sys};
  const auto* const found =
      std::ranges::find_if(kWholeWords, [cell](PathType type) { return nvidia_smi_word(type) == cell; });
  return found == kWholeWords.end() ? std::nullopt : std::optional(PathCell{*found});
}

}  // namespace collbench::topology
