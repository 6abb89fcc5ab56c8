#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench {

struct TextOptions {
  int columns = 120;    ///< of the terminal or page; under 118 the table leaves columns out; 80 at least
  bool colour = false;  ///< for a person's terminal; never for a file
};

/// The table people know, as text in four parts that can be printed as the run goes on. Every part ends in a
/// newline (or is empty), and every line fits `columns`.
/// Before the rows: what was measured, where, with what, and what the columns mean.
[[nodiscard]] std::string report_text_header(const Run& run, const TextOptions& options = {});

/// The table of one operation, its title first; empty when the run has no row of it.
[[nodiscard]] std::string report_text_rows(const Run& run, OperationId id, const TextOptions& options = {});

/// After the rows: what was wrong, what was not reached, what it cost.
[[nodiscard]] std::string report_text_footer(const Run& run, const TextOptions& options = {});

/// Header, the operations in the order of their first rows, footer.
[[nodiscard]] std::string report_text(const Run& run, const TextOptions& options = {});

}  // namespace collbench
