#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/import/log_readers.hpp"
#include "base/record/data_type.hpp"
#include "base/record/operation.hpp"
#include "base/record/states.hpp"

// Logs of other benchmarks than nccl-tests: what each reader makes of one, and how that becomes a run.

namespace collbench::analysis {

/// What the sizes of a benchmark's table are, where ours are of an operation's whole (SizeMeaning::total).
enum class TableSize {
  as_ours,   ///< the message, or the buffer, as our size column has it
  per_rank,  ///< of one rank, or of one pair of ranks: times the ranks is our size
};

/// What a program calls an operation.
struct BenchmarkTitle {
  std::string_view title;
  OperationId operation;
  TableSize size;
};

struct BenchmarkRow {
  int line = 0;
  std::uint64_t size_bytes = 0;  ///< as printed
  double seconds = 0;            ///< per operation
  std::uint64_t iterations = 0;  ///< 0: not said
};

struct BenchmarkTable {
  OperationId operation = OperationId::all_reduce;
  TableSize size = TableSize::as_ours;
  DataType type = DataType::int8;
  int ranks = 0;  ///< 0: not said
  int line = 0;   ///< of its title
  std::vector<BenchmarkRow> rows;
};

/// The row in the words of a line: its size first, its time in microseconds and its iterations in their
/// columns. None where size or time is no number.
[[nodiscard]] std::optional<BenchmarkRow> benchmark_row(int line, std::span<const std::string> words,
                                                        std::size_t time_column,
                                                        std::size_t iterations_column);

struct BenchmarkLog {
  std::string program;  ///< "osu_allreduce", "IMB-MPI1"
  std::string version;
  int version_line = 0;
  BackendId backend = BackendId::mpi;
  std::string allocator;  ///< of GPUs' memory, where MPI worked on it
  RankAggregate time_reduction = RankAggregate::average;
  std::string started;  ///< UTC, ISO 8601; empty: not said, or in local time
  std::vector<BenchmarkTable> tables;
  LogFacts facts;  ///< notes and what was left out

  /// Counts something that does not become a row.
  void skip_line(const std::string& what, int line) { LogTable::skip_line(facts, what, line); }

  /// A new table at the end; null, and counted, where `title` is none of `known`.
  BenchmarkTable* begin_table(std::span<const BenchmarkTitle> known, const std::string& title, int line);

  /// Adds a row to the last table, or counts why not: no bytes, no time, or `refused`.
  void take_row(const BenchmarkRow& row, std::string_view refused = "");
};

/// Where the lines of a log come from; null at the end.
using NextLine = std::function<const LogLine*()>;

/// A program whose logs can be read: its name, whether the start of a text is its, and its reader, which
/// never throws for a log's content.
struct BenchmarkReader {
  std::string_view format;  ///< "OSU Micro-Benchmarks text"
  bool (*recognizes)(std::string_view start);
  BenchmarkLog (*read)(const NextLine& next);
};

/// The readers but nccl-tests', which is what is read where none of them recognizes the text.
[[nodiscard]] const BenchmarkReader* find_benchmark_reader(std::string_view start);

/// OSU Micro-Benchmarks 5 to 7 (osu_allreduce, …, osu_latency): mean over ranks of the mean time of a call;
/// the log names no number of ranks, but for its command line.
[[nodiscard]] bool recognizes_osu(std::string_view start);
[[nodiscard]] BenchmarkLog read_osu(const NextLine& next);

/// Intel MPI Benchmarks (IMB-MPI1), 2018 to 2021: t_max, the slowest rank's mean time of a call.
[[nodiscard]] bool recognizes_imb(std::string_view start);
[[nodiscard]] BenchmarkLog read_imb(const NextLine& next);

/// The run that a log tells of; of several numbers of ranks the one that options.run chooses. Throws Error
/// (usage) that names the place and the next step when there is no table, when the ranks are not known, or
/// when there are several runs to choose from.
[[nodiscard]] Run run_of_benchmark(BenchmarkLog log, const BenchmarkReader& reader,
                                   const ImportOptions& options, std::string_view file);

}  // namespace collbench::analysis
