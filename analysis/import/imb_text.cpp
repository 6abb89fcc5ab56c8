#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/benchmark_logs.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"

// Intel MPI Benchmarks (github.com/intel/mpi-benchmarks), IMB-MPI1 of 2018 to 2021 as seen:
//
//   # Benchmarking Allreduce
//   # #processes = 144
//          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
//               4         1000         4.50        18.59        11.69

namespace collbench::analysis {
namespace {

/// What the sizes are: IMB's user guide, "Classification of MPI-1 benchmarks". Reduce_scatter's is the whole
/// of a rank's input; Gather's, Scatter's, Allgather's and Alltoall's is one rank's part.
constexpr std::array<BenchmarkTitle, 10> kImbTests{{
    {"PingPong", OperationId::ping_pong, TableSize::as_ours},
    {"Sendrecv", OperationId::send_recv, TableSize::as_ours},
    {"Allreduce", OperationId::all_reduce, TableSize::as_ours},
    {"Reduce", OperationId::reduce, TableSize::as_ours},
    {"Reduce_scatter", OperationId::reduce_scatter, TableSize::as_ours},
    {"Allgather", OperationId::all_gather, TableSize::per_rank},
    {"Gather", OperationId::gather, TableSize::per_rank},
    {"Scatter", OperationId::scatter, TableSize::per_rank},
    {"Alltoall", OperationId::all_to_all, TableSize::per_rank},
    {"Bcast", OperationId::broadcast, TableSize::as_ours},
}};

/// What stands behind `start`; none where the line does not begin with it.
std::optional<std::string> imb_value(std::string_view line, std::string_view start) {
  if (!line.starts_with(start)) return std::nullopt;
  return std::string(trim(line.substr(start.size())));
}

/// The column of the time, in the heading's words: t_max of several ranks, t of one.
std::optional<std::size_t> imb_time_column(std::string_view line) {
  if (!line.starts_with("#bytes")) return std::nullopt;
  const std::vector<std::string> words = split_words(line);
  for (const std::string_view wanted : {"t_max[usec]", "t[usec]"}) {
    const auto at = std::ranges::find(words, wanted);
    if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  }
  return std::nullopt;
}

class ImbReader {
 public:
  BenchmarkLog read(const NextLine& next) {
    log_.program = "IMB-MPI1";
    log_.time_reduction = RankAggregate::maximum;
    while (const LogLine* line = next()) take(*line);
    return std::move(log_);
  }

 private:
  void take(const LogLine& line) {
    const std::string_view text = trim(line.text);
    if (const auto version = text_behind(text, "MPI Benchmarks ", ","); version && log_.version.empty()) {
      log_.version = *version;
      log_.version_line = line.number;
    } else if (const auto title = imb_value(text, "# Benchmarking ")) {
      begin(*title, line.number);
    } else if (const auto processes = imb_value(text, "# #processes = ")) {
      const auto ranks =
          parse_integer(processes->substr(0, processes->find_first_of(" \t")), 1, RankRange::kMaxRanks);
      if (table_ != nullptr && ranks) table_->ranks = static_cast<int>(*ranks);
    } else if (const auto column = imb_time_column(text)) {
      time_column_ = *column;
    } else if (table_ != nullptr && time_column_ > 0) {
      take_row(line);
    }
  }

  void begin(const std::string& title, int line) {
    time_column_ = 0;
    table_ = log_.begin_table(kImbTests, title, line);
    // "MPI_Datatype: MPI_BYTE; MPI_Datatype for reductions: MPI_FLOAT" (IMB's head).
    if (table_ != nullptr)
      table_->type = operation(table_->operation).reduces ? DataType::float32 : DataType::uint8;
  }

  void take_row(const LogLine& line) {
    const auto row = benchmark_row(line.number, split_words(line.text), time_column_, 1);
    if (row && row->iterations > 0) log_.take_row(*row, table_->ranks == 1 ? "rows of one rank" : "");
  }

  BenchmarkLog log_;
  BenchmarkTable* table_ = nullptr;  // of log_, while its rows are read
  std::size_t time_column_ = 0;      // 0: no heading yet
};

}  // namespace

bool recognizes_imb(std::string_view start) {
  return start.find("MPI Benchmarks ") != std::string_view::npos ||
         (start.find("# Benchmarking ") != std::string_view::npos &&
          start.find("# #processes = ") != std::string_view::npos);
}

BenchmarkLog read_imb(const NextLine& next) { return ImbReader().read(next); }

}  // namespace collbench::analysis
