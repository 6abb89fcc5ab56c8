#include "analysis/judge.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analysis/explanation.hpp"
#include "analysis/gpu/expectation.hpp"
#include "analysis/verdict.hpp"

namespace collbench {

Run judged_on_gpus(Run run, const GpuCluster& cluster) {
  for (Row& row : run.rows) {
    row.expectation = expect_on_gpus(row.measurement.key.operation, row.measurement.key.size_bytes, cluster);
    row.verdict.explanation = explain_row(row, cluster);
  }
  for (const Sweep& sweep : sweeps_of(run.rows)) {
    const VerdictWord word = verdict_of(sweep);
    const std::string why = explain_sweep(sweep, word, cluster);
    for (const Row* row : sweep) {
      // The sweep shows the rows of `run` to read; here they are ours to write.
      Row& own = run.rows[static_cast<std::size_t>(row - run.rows.data())];
      own.verdict.word = word;
      if (row == sweep.back() && !why.empty()) own.verdict.explanation = why;
    }
  }
  return run;
}

bool is_low(const Run& run) {
  return std::any_of(run.rows.begin(), run.rows.end(), [](const Row& row) {
    return row.verdict.word == VerdictWord::low || row.verdict.word == VerdictWord::fault;
  });
}

}  // namespace collbench
