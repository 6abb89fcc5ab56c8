#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/record/probe.hpp"

namespace collbench::analysis {

/// "text", "md" and "json"; json is of one record.
[[nodiscard]] std::vector<std::string> probe_formats();

/// A table for each record, then who is slower than its siblings. `width`: of text, in columns. Throws
/// std::out_of_range for a format that probe_formats() does not list.
[[nodiscard]] std::string probe_report(const std::vector<ProbeRecord>& records, std::string_view format,
                                       int width);

/// What people read of them: the verdict, a section for each record, and who was compared with whom.
[[nodiscard]] Document probe_document(const std::vector<ProbeRecord>& records);

/// "129 GFLOP/s", "44.1 GB/s", "0.794 PFLOP/s"; three digits.
[[nodiscard]] std::string probe_rate_text(double rate, ProbeUnit unit);

/// What the rates of a record say beside each other: how far the BLAS is from the arithmetic. A sentence
/// each.
[[nodiscard]] std::vector<std::string> probe_remarks(const ProbeRecord& record);

}  // namespace collbench::analysis
