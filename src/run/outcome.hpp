#pragma once
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What a run that was measured to its end comes to: by what was asked for, and said then, a line each on
/// stderr; else by its verdict. On rank 0.
[[nodiscard]] ExitStatus criteria_status(const Run& run, const CriteriaOptions& criteria);

/// What to do about a run that was cut short: where its measurements are, or how to keep them next time.
/// `begun`: the measurement had begun, and with it the files.
[[nodiscard]] std::string kept_results(const RunOptions& options, bool begun);

/// The file that has the results of a run that was cut short: its stream, its record or its CSV; empty: none.
[[nodiscard]] std::string kept_file(const RunOptions& options);

/// That the run was ended early, and by what: "by SIGTERM"; empty where that is not known.
[[nodiscard]] Error interruption(const RunOptions& options, const std::string& cause);

/// That a row is not run for want of time, for stderr.
[[nodiscard]] std::string left_out_line(const RowKey& row, const std::string& why);

/// Of rows that all could not run: the first one's reason.
[[nodiscard]] Error nothing_ran(const std::vector<Measurement>& rows);

/// What the rows' data say: wrong data, nothing that could run, or good.
[[nodiscard]] ExitStatus outcome(const std::vector<Measurement>& rows);

/// The next useful command after a run, with its reason: "collbench doctor on n1: …". By what the run saw,
/// the worst first: wrong data, rows that are BELOW, one rank alone, a straggler, other load, intervals that
/// are too wide; else what to do with the record. `record` is the file that holds it; empty: none was asked
/// for. Empty for a run that is not complete, whose last message says how to go on.
[[nodiscard]] std::string next_step(const Run& run, const std::string& record);

/// The same as the last line of a text report, at most `columns` wide; empty for none.
[[nodiscard]] std::string next_step_text(const std::string& step, int columns);

}  // namespace collbench::program
