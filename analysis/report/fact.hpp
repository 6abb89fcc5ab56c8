#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/record/measurement.hpp"

namespace collbench::analysis {

/// How loudly something is said where there is colour.
enum class Tone { plain, quiet, warning, alarm };

/// One sentence of a report, without the marks of any format.
struct ReportFact {
  std::string text;
  Tone tone = Tone::quiet;
};

using ReportFacts = std::vector<ReportFact>;

/// A row by name, for a sentence: "AllReduce 64 KiB float sum, in place, ring".
[[nodiscard]] std::string format_row(const RowKey& key);

/// "8 B to 4 KiB", and "8 B" where both ends are the same.
[[nodiscard]] std::string format_span(const std::string& from, const std::string& to);

/// "1 KiB", or "3 sizes from 1 KiB to 64 KiB".
[[nodiscard]] std::string format_sizes(const std::set<std::uint64_t>& sizes_bytes);

}  // namespace collbench::analysis
