#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.hpp"

// nvbandwidth (github.com/NVIDIA/nvbandwidth, nvbandwidth.cpp and output.cpp of 0.1 to 0.8) prints for each
// test
//   Running device_to_device_memcpy_read_ce.
//   memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
//              0         1
//    0       N/A    276.07
//    1    250.00       N/A
// and ends a matrix with an empty line or its SUM; a bidirectional test has a matrix for each of its parts.

namespace collbench::analysis {
namespace {

constexpr std::string_view kVersion = "nvbandwidth Version:";

struct Matrix {
  std::string command;  ///< of a shell, above the output; empty: none
  std::string test;
  Line title;
  bool of_gpu_pairs = false;
  std::vector<Line> rows{};  ///< its heading first

  [[nodiscard]] std::string name() const { return fmt::format("{}: {}", test, title.text); }
  [[nodiscard]] std::string description() const {
    return fmt::format("'{}'{} (line {})", name(),
                       command.empty() ? "" : fmt::format(" of '{}'", excerpt(command, 1000)), title.number);
  }
};

/// "./nvbandwidth -t TEST -b 512" of "user@host$ ./nvbandwidth -t TEST -b 512"; empty for other lines.
std::string command_in(std::string_view line) {
  constexpr std::string_view kProgram = "nvbandwidth -";
  const std::size_t program = line.find(kProgram);
  return program == std::string_view::npos ? "" : std::string(line.substr(line.rfind(' ', program) + 1));
}

/// "device_to_device_memcpy_read_ce" of the line that begins it.
std::optional<std::string> begun_test(std::string_view line) {
  constexpr std::string_view kRunning = "Running ";
  if (!line.starts_with(kRunning) || !line.ends_with('.')) return std::nullopt;
  return std::string(line.substr(kRunning.size(), line.size() - kRunning.size() - 1));
}

bool heads_gpu_pairs(std::string_view line) {
  return line.find("GPU(row)") != std::string_view::npos &&
         line.find("GPU(column)") != std::string_view::npos && line.ends_with("(GB/s)");
}

std::vector<Matrix> matrices_of(const std::vector<Line>& lines) {
  constexpr std::string_view kHeadingEnd = " bandwidth (GB/s)";
  std::vector<Matrix> found;
  std::string command;
  bool is_new = false;  // no output had the command yet
  std::string test;
  bool inside = false;
  for (const Line& line : lines) {
    const std::string_view text = trim(line.text);
    if (text.starts_with(kVersion) && !std::exchange(is_new, false)) command.clear();  // of the output before
    if (std::string given = command_in(text); !given.empty()) {
      command = std::move(given);
      is_new = true;
    }
    if (const auto begun = begun_test(text)) test = *begun;
    if (text.ends_with(kHeadingEnd)) {
      found.push_back({command, test, {std::string(text), line.number}, heads_gpu_pairs(text)});
      inside = true;
      continue;
    }
    // A heading and rows begin with the number of a GPU; whatever else comes ends the matrix.
    inside = inside && leading_number(text).has_value();
    if (inside) found.back().rows.push_back({std::string(text), line.number});
  }
  std::erase_if(found, [](const Matrix& matrix) { return matrix.rows.size() < 2; });
  return found;
}

const Matrix& chosen_matrix(const std::vector<Matrix>& found, const std::string& test,
                            const std::string& file) {
  std::vector<const Matrix*> wanted;
  std::vector<std::string> of_pairs;
  std::vector<std::string> others;
  for (const Matrix& matrix : found) {
    (matrix.of_gpu_pairs ? of_pairs : others).push_back(matrix.description());
    const bool is_named =
        test.empty() || test == matrix.test || test == matrix.name() || test == matrix.command;
    if (matrix.of_gpu_pairs && is_named) wanted.push_back(&matrix);
  }
  if (of_pairs.empty())
    throw usage_error(file,
                      fmt::format("nvbandwidth printed no matrix of GB/s between GPUs{}{}",
                                  others.empty() ? "" : ", only ", fmt::join(others, ", ")),
                      "give the output of nvbandwidth -t device_to_device_memcpy_read_ce");
  if (wanted.size() == 1) return *wanted.front();
  throw usage_error(
      test.empty() ? file : "--column",
      fmt::format("{} of nvbandwidth's matrices {}; there are {}", wanted.empty() ? "none" : "several",
                  test.empty() ? "are between GPUs" : fmt::format("are of '{}'", excerpt(test)),
                  fmt::join(of_pairs, ", ")),
      wanted.empty()
          ? "choose one of them with --column"
          : "choose one with --column (also by its command line), or give a file that holds it alone");
}

}  // namespace

bool is_nvbandwidth(const std::vector<Line>& lines) {
  return std::ranges::any_of(lines, [](const Line& line) {
    return line.text.starts_with(kVersion) || heads_gpu_pairs(trim(line.text));
  });
}

std::vector<Line> nvbandwidth_matrix(const std::vector<Line>& lines, const std::string& test,
                                     const std::string& file) {
  const std::vector<Matrix> found = matrices_of(lines);
  const Matrix& matrix = chosen_matrix(found, test, file);
  const bool turned =
      matrix.title.text.find("<-") != std::string::npos && matrix.title.text.find("<->") == std::string::npos;
  const std::vector<std::string> gpus = split_words(matrix.rows.front().text);
  std::vector<std::vector<std::string>> cells;
  for (std::size_t row = 1; row < matrix.rows.size(); ++row) {
    cells.push_back(split_words(matrix.rows[row].text));
    if (cells.back().size() != gpus.size() + 1 || row > gpus.size() || cells.back().front() != gpus[row - 1])
      throw usage_error(location(file, matrix.rows[row].number), "the row does not fit the matrix's heading",
                        "give nvbandwidth's whole output, as it printed it");
  }
  if (cells.size() != gpus.size())
    throw usage_error(location(file, matrix.title.number),
                      fmt::format("the matrix has {} rows of {}", cells.size(), gpus.size()),
                      "give nvbandwidth's whole output, as it printed it");
  std::vector<Line> result{{fmt::format("gpu{}", fmt::join(gpus, " gpu")), matrix.rows.front().number}};
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    std::string text = "gpu" + gpus[from];
    for (std::size_t to = 0; to < gpus.size(); ++to)
      text += " " + (turned ? cells[to][from + 1] : cells[from][to + 1]);
    result.push_back({std::move(text), matrix.rows[from + 1].number});
  }
  return result;
}

}  // namespace collbench::analysis
