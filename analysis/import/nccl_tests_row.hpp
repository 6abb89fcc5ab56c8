#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/log_table.hpp"
#include "analysis/import/nccl_tests_header.hpp"

namespace collbench::analysis {

/// A row as its words, for it may come in parts: the start holds what stands before the first time.
struct RowStart {
  int line = 0;
  std::string size;
  std::string count;
  std::string type;
  std::vector<std::string> rest;  ///< what follows the type
};

/// The start of a row wherever it stands in the line (prefixes, markdown bars): two integers and a type.
[[nodiscard]] std::optional<RowStart> row_start(std::string_view line, int number);

/// The words of a line that can only be the rest of a row: numbers and N/A; empty when there are others.
[[nodiscard]] std::vector<std::string> row_continuation(std::string_view line);

/// How many numbers the row holds behind reduction and root, given the columns.
[[nodiscard]] std::size_t row_measures(const RowStart& start, const NcclTestsColumns& columns);

/// A row, or in words why it is none: "rows of 0 bytes", "rows with masked numbers", …
struct RowOrReason {
  std::optional<LogRow> row;
  std::string reason;
};
[[nodiscard]] RowOrReason read_row(const RowStart& start, const NcclTestsColumns& columns);

}  // namespace collbench::analysis
