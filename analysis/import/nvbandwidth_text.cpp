#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/test_logs.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

// nvbandwidth (github.com/NVIDIA/nvbandwidth), text of 0.1 to 0.8:
//
//   Running device_to_device_memcpy_read_ce.
//   memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
//              0         1
//    0       N/A    276.07
//    1    276.19       N/A
//
//   SUM device_to_device_memcpy_read_ce 552.26

namespace collbench::analysis {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr std::size_t kMaxName = 200;  // characters of a test's name: no program's is longer

bool is_latency(std::string_view description) { return description.find("(ns)") != std::string_view::npos; }

/// "0 1 2 3": the heading of a matrix.
bool is_matrix_heading(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != fmt::to_string(i)) return false;
  }
  return !words.empty();
}

/// A number, or one of the words that stand for none.
bool is_cell(const std::string& word) {
  const std::string folded = lower(word);
  if (folded == "n/a" || folded == "nan" || folded == "-nan" || folded == "inf" || folded == "-inf")
    return true;
  const auto number = leading_log_number(word);
  return number && number->length == word.size();
}

/// Bidirectional tests print a table for each direction and one of both: "Read1", "Write2", "Total".
std::string part_of(std::string_view description) {
  for (const std::string& word : split_words(description)) {
    if (word == "Read1" || word == "Write1") return "1";
    if (word == "Read2" || word == "Write2") return "2";
    if (word == "Total") return "total";
  }
  return {};
}

/// What stands behind `start`; none where the line does not begin with it.
std::optional<std::string> behind_label(std::string_view line, std::string_view start) {
  if (!line.starts_with(start)) return std::nullopt;
  return std::string(trim(line.substr(start.size())));
}

/// "NVIDIA GH200 480GB" of "NVIDIA GH200 480GB (00000009:01:00)".
std::string device_name(std::string_view text) {
  const std::size_t bus = text.rfind(" (");
  return std::string(trim(text.substr(0, bus)));
}

class NvbandwidthReader {
 public:
  TestLog read(const NextLine& next) {
    log_.format = "nvbandwidth text";
    log_.program = "nvbandwidth";
    while (const LogLine* line = next()) take(trim(line->text), line->number);
    end_table();
    const bool stopped_in_a_test = !running_.empty() && !has_table_;
    log_.complete = !stopped_in_a_test && (!any_sum_ || has_sum_);
    end_test("the output ends here");
    if (!driver_.empty()) log_.cuda += (log_.cuda.empty() ? "driver " : ", driver ") + driver_;
    return std::move(log_);
  }

 private:
  void take(std::string_view text, int line) {
    if (text.empty()) return;
    if (take_head(text, line) || take_test(text, line)) {
      before_.clear();
      return;
    }
    const std::vector<std::string> words = split_words(text);
    if (is_matrix_heading(words) && !before_.empty()) {
      end_table();
      has_table_ = true;
      has_sum_ = false;
      description_ = std::exchange(before_, "");
      columns_ = words.size();
      return;
    }
    if (columns_ > 0 && take_row(words, line)) return;
    before_ = text;
  }

  /// What the program says before its tests.
  bool take_head(std::string_view text, int line) {
    if (const auto version = behind_label(text, "nvbandwidth Version:")) {
      end_table();
      end_test("the output ends here");
      launch_ += std::exchange(is_started_, true) ? 1 : 0;
      if (log_.version.empty()) {
        log_.version = version->starts_with('v') ? version->substr(1) : *version;
        log_.version_line = line;
      }
    } else if (const auto cuda = behind_label(text, "CUDA Runtime Version:")) {
      log_.cuda = cuda_version(*cuda);
    } else if (const auto driver = behind_label(text, "Driver Version:")) {
      driver_ = *driver;
    } else if (text.starts_with("Device ") && text.find(": ") != std::string_view::npos) {
      add_device(device_name(text.substr(text.find(": ") + 2)), line);
      const bool one_word = !before_.empty() && before_.find_first_of(" :") == std::string::npos;
      if (log_.ranks.empty()) log_.ranks.push_back({one_word ? before_ : "", line});
    } else if (text.starts_with("Process ") && text.find("): device ") != std::string_view::npos) {
      add_process(text, line);
    } else {
      return false;
    }
    return true;
  }

  void add_device(const std::string& gpu, int line) {
    if (!log_.facts.gpu) log_.facts.gpu = {gpu, line};
    if (log_.facts.gpu->value != gpu && !std::exchange(named_other_gpu_, true))
      log_.facts.notes.push_back(
          fmt::format("line {}: the GPUs are not all of one model ({})", line, excerpt(gpu)));
  }

  /// "Process  0 (node1): device 0: NVIDIA GB200 (00000008:01:00)"
  void add_process(std::string_view text, int line) {
    const std::size_t open = text.find('(');
    const std::size_t close = text.find("): device ");
    if (open > close || launch_ > 0) return;
    log_.ranks.push_back({std::string(text.substr(open + 1, close - open - 1)), line});
    const std::size_t name = text.find(": ", close + 3);
    if (name != std::string_view::npos) add_device(device_name(text.substr(name + 2)), line);
  }

  /// What it says between its tables.
  bool take_test(std::string_view text, int line) {
    if (const auto running = behind_label(text, "Running ")) {
      end_table();
      end_test("it printed no table");
      running_ = running->ends_with('.') ? running->substr(0, running->size() - 1) : *running;
      running_line_ = line;
      has_table_ = false;
    } else if (const auto waived = behind_label(text, "Waiving ")) {  // before 0.5
      add_unavailable_test(log_, waived->substr(0, waived->find_last_not_of('.') + 1), "waived", line,
                           launch_);
    } else if (text.starts_with("Waived:")) {
      log_.skip_line("tests that were waived, which the text does not name", line);
    } else if (text.starts_with("ERROR:") || text.starts_with("Error:") || text.starts_with("[CUDA_ERROR") ||
               text.starts_with("NVML_ERROR") || text.starts_with("ASSERT in") ||
               text.starts_with("Not Found:")) {
      if (running_.empty()) log_.facts.notes.push_back(fmt::format("line {}: {}", line, excerpt(text)));
      end_table();
      end_test(excerpt(text));
    } else if (text.starts_with("SUM ") || text.starts_with("&&&& PERF ")) {
      take_sum(split_words(text.substr(text.starts_with("SUM ") ? 4 : 10)), line);
    } else {
      return text.starts_with("MIN ") || text.starts_with("MAX ") || text.starts_with("AVG ");
    }
    return true;
  }

  /// "SUM host_to_device_memcpy_ce 1985.60" names the table above it, and says whether all of it is there.
  void take_sum(const std::vector<std::string>& words, int line) {
    if (columns_ == 0 || words.size() < 2) return;
    any_sum_ = has_sum_ = true;
    if (running_.empty()) running_ = words[0];
    const auto said = leading_log_number(words[1]);
    const double half_digit = said ? 0.5 * std::pow(10.0, -said->decimals) : 0;
    if (said && std::abs(said->value - sum_) > half_digit * static_cast<double>(cells_.size() + 1))
      log_.facts.notes.push_back(fmt::format(
          "line {}: the sum of {} is {}, and its cells make {:.2f}: lines may be missing or mixed "
          "with another output",
          line, excerpt(words[0]), words[1], sum_));
    end_table();
  }

  /// The last words of a line are its cells; what stands before them is its label.
  bool take_row(const std::vector<std::string>& words, int line) {
    const std::size_t labels = words.size() - std::min(words.size(), columns_);
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(labels);
    if (!std::all_of(first, words.end(), is_cell)) return false;
    if (labels == 0 || words.size() != labels + columns_) {
      log_.skip_line("lines of a table with fewer cells than columns", line);
      return true;
    }
    const std::string label = fmt::format("{}", fmt::join(words.begin(), first, " "));
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::string& cell = words[labels + column];
      if (const auto number = leading_log_number(cell)) sum_ += number->value;
      cells_.push_back({label, column, cell, line});
    }
    return true;
  }

  void end_table() {
    const std::string part = part_of(description_);
    const std::string test = running_.empty() ? description_ : running_;
    for (const Cell& cell : cells_) {
      (void)add_nvbandwidth_cell(log_, nvbandwidth_test_name(test, description_, cell.row, cell.column, part),
                                 description_, cell.text, cell.line, launch_);
    }
    cells_.clear();
    columns_ = 0;
    sum_ = 0;
  }

  void end_test(const std::string& why) {
    if (!running_.empty() && !has_table_)
      add_unavailable_test(log_, running_, "failed: " + why, running_line_, launch_);
    running_.clear();
  }

  struct Cell {
    std::string row;
    std::size_t column;
    std::string text;
    int line;
  };

  TestLog log_;
  std::string driver_;
  std::string before_;   // the last line that was none of these
  std::string running_;  // the test whose tables follow; empty: none
  int running_line_ = 0;
  bool has_table_ = false;  // of running_
  std::string description_;
  std::size_t columns_ = 0;  // of the table that is read; 0: none
  std::vector<Cell> cells_;
  double sum_ = 0;
  bool has_sum_ = false;  // behind the last table
  bool any_sum_ = false;
  bool is_started_ = false;
  bool named_other_gpu_ = false;
  int launch_ = 0;
};

}  // namespace

std::string cuda_version(std::string_view code) {
  const auto number = parse_integer(code, 1000, 1'000'000);
  return number ? fmt::format("{}.{}", *number / 1000, *number % 1000 / 10) : std::string();
}

std::string nvbandwidth_test_name(const std::string& test, std::string_view description,
                                  const std::string& row, std::size_t column, const std::string& part) {
  std::string cell;
  bool has_row = false;
  bool has_column = false;
  for (const std::string& word : split_words(description)) {
    std::string shown;
    if (word.ends_with("(row)")) {
      shown = word.substr(0, word.size() - 5) + " " + row;
      has_row = true;
    } else if (word.ends_with("(column)")) {
      shown = fmt::format("{} {}", word.substr(0, word.size() - 8), column);
      has_column = true;
    } else if (word == "->" || word == "<-" || word == "<->" || word == "All" || word == "Gpus" ||
               word == "GPUs") {
      shown = word;
    }
    if (!shown.empty()) cell += (cell.empty() ? "" : " ") + shown;
  }
  if (!has_row && (row != "0" || !has_column)) cell += (cell.empty() ? "row " : ", row ") + row;
  if (!has_column && column > 0) cell += fmt::format(", column {}", column);
  const std::string name = fmt::format("{}: {}{}{}", test, cell, part.empty() ? "" : ", ", part);
  return name.size() > kMaxName ? excerpt(name, kMaxName) : name;
}

bool add_nvbandwidth_cell(TestLog& log, std::string name, std::string_view description,
                          const std::string& cell, int line, int launch) {
  if (lower(cell) == "n/a") return false;  // a GPU with itself
  const auto number = leading_log_number(cell);
  if (!number || number->length != cell.size() || !(number->value > 0) || !std::isfinite(number->value)) {
    const bool zero = number && number->value == 0;
    log.skip_line(zero ? "cells of 0, which stand for no value" : "cells that are no finite positive number",
                  line);
    return false;
  }
  TestValue value{.line = line, .test = std::move(name), .launch = launch, .unavailable = {}, .note = {}};
  if (is_latency(description)) {
    value.seconds = number->value / kNanosecondsPerSecond;
  } else {
    value.seconds = kRateBytes / (number->value * kGigabyte);
    value.states_rate = true;
    value.moved_bytes = kRateBytes;
  }
  if (!is_duration(value.seconds)) {
    log.skip_line("cells that are no finite positive number", line);
    return false;
  }
  log.values.push_back(std::move(value));
  return true;
}

void add_unavailable_test(TestLog& log, const std::string& test, const std::string& why, int line,
                          int launch) {
  log.values.push_back({.line = line,
                        .test = excerpt(test, kMaxName),
                        .states_rate = true,
                        .launch = launch,
                        .unavailable = why,
                        .note = {}});
}

bool recognizes_nvbandwidth(std::string_view start) {
  return start.find("nvbandwidth Version:") != std::string_view::npos ||
         ((start.find("(row)") != std::string_view::npos ||
           start.find("(column)") != std::string_view::npos) &&
          (start.find("bandwidth (GB/s)") != std::string_view::npos ||
           start.find("(ns)") != std::string_view::npos));
}

TestLog read_nvbandwidth_text(const NextLine& next) { return NvbandwidthReader().read(next); }

}  // namespace collbench::analysis
