#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

struct TextOptions {
  int columns = 120;    ///< of the terminal or page; under 118 the table leaves columns out; 80 at least
  bool colour = false;  ///< for a person's terminal; never for a file
};

/// The table people know, as text in two parts, since a run knows the first minutes before the second. Both
/// end in a newline, and every line fits `columns`. What is measured, where, with what, and what the columns
/// mean.
[[nodiscard]] std::string report_text_header(const Run& run, const TextOptions& options = {});

/// A table for each operation, in the order of their first rows; then what was wrong, what was not reached,
/// what it cost.
[[nodiscard]] std::string report_text_results(const Run& run, const TextOptions& options = {});

/// Both.
[[nodiscard]] std::string report_text(const Run& run, const TextOptions& options = {});

}  // namespace collbench::analysis
