#include "analysis/verdict/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/verdict/explanation.hpp"
#include "analysis/verdict/verdict.hpp"
#include "topology/catalogue/gpus.hpp"

namespace collbench::analysis {

namespace {

bool is_low(const Row& row) {
  return row.verdict.word == VerdictWord::low || row.verdict.word == VerdictWord::fault;
}

/// A log that names another GPU than the topology has: the verdict is about the wrong machine.
void warn_of_another_gpu(Run& run, const GpuCluster& cluster) {
  if (!run.log || !run.log->gpu) return;
  const topology::GpuModel* model = topology::find_gpu_model(run.log->gpu->value);
  if (model == nullptr || model->name == cluster.gpu) return;
  if (cluster.gpu == kUnknownGpu && model->sm == cluster.sm) return;
  std::string note = fmt::format("the log's GPUs are {} (line {}), but it is judged as a machine with {}",
                                 run.log->gpu->value, run.log->gpu->line, cluster.gpu);
  if (std::find(run.log->notes.begin(), run.log->notes.end(), note) == run.log->notes.end()) {
    run.log->notes.push_back(std::move(note));
  }
}

/// "tree" of "tree/ll"; "auto" where nobody told what ran.
std::string algorithm_of(const Row& row) {
  const std::string& ran = row.measurement.algorithm_ran;
  return ran.substr(0, ran.find('/'));
}

/// The cluster with the algorithm that ran: asked for, told by the log, or seen by the observer. One that has
/// no model is named, and the expectation is over all algorithms.
GpuCluster running(GpuCluster cluster, const std::string& algorithm) {
  if (!algorithm.empty() && algorithm != kLibraryChoice) cluster.run.algorithm = algorithm;
  return cluster;
}

/// The same for a sweep's verdict, which is about its large rows: where they all ran one algorithm.
GpuCluster running(const GpuCluster& cluster, const SizeSeries& series) {
  std::set<std::string> algorithms;
  for (const Row* row : series) {
    if (row->measurement.key.size_bytes >= kLargeSize) algorithms.insert(algorithm_of(*row));
  }
  return algorithms.size() == 1 ? running(cluster, *algorithms.begin()) : cluster;
}

}  // namespace

Run judged_on_gpus(Run run, const GpuCluster& cluster) {
  warn_of_another_gpu(run, cluster);
  for (Row& row : run.rows) {
    row.verdict = {};
    row.expectation = expect_on_gpus(row.measurement.key.operation, row.measurement.key.size_bytes,
                                     running(cluster, algorithm_of(row)));
  }
  for (const SizeSeries& series : series_of(run.rows)) {
    const GpuCluster ran = running(cluster, series);
    const VerdictWord word = verdict_of(series);
    const std::string why = explain_series(series, word, ran);
    const double peak = peak_busbw(series, ran);
    for (const Row* row : series) {
      // The sweep shows the rows of `run` to read; here they are ours to write.
      Row& own = run.rows[static_cast<std::size_t>(row - run.rows.data())];
      own.verdict.word = word;
      const bool last = row == series.back() && !why.empty();
      own.verdict.explanation = last ? why : explain_row(*row, peak, ran);
    }
  }
  return run;
}

void explain_low(Run& run, const std::string& sentence) {
  if (sentence.empty()) return;
  for (const SizeSeries& series : series_of(run.rows)) {
    Row& last = run.rows[static_cast<std::size_t>(series.back() - run.rows.data())];
    if (is_low(last)) last.verdict.explanation += " " + sentence;
  }
}

bool is_low(const Run& run) {
  return std::any_of(run.rows.begin(), run.rows.end(), [](const Row& row) { return is_low(row); });
}

}  // namespace collbench::analysis
