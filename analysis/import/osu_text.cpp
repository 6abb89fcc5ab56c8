#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/benchmark_logs.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

// OSU Micro-Benchmarks (mvapich.cse.ohio-state.edu/benchmarks), 5.6 to 7.5 as seen:
//
//   # OSU MPI Allreduce Latency Test v7.5
//   # Datatype: MPI_INT.
//   # Size       Avg Latency(us)
//   4                      10.05

namespace collbench::analysis {
namespace {

struct OsuTest {
  std::string_view title;  ///< between "# OSU MPI " and " Test", or " Latency Test"
  OperationId operation;
  TableSize size;
};

/// What the sizes are: c/mpi/collective/blocking/osu_*.c of 7.5. osu_reduce_scatter's is the whole of a
/// rank's input, osu_alltoall's what one rank sends to another.
constexpr std::array<OsuTest, 9> kOsuTests{{
    {"Allreduce Latency", OperationId::all_reduce, TableSize::as_ours},
    {"Allgather Latency", OperationId::all_gather, TableSize::per_rank},
    {"All-to-All Personalized Exchange Latency", OperationId::all_to_all, TableSize::per_rank},
    {"Broadcast Latency", OperationId::broadcast, TableSize::as_ours},
    {"Reduce Latency", OperationId::reduce, TableSize::as_ours},
    {"Reduce_scatter Latency", OperationId::reduce_scatter, TableSize::as_ours},
    {"Gather Latency", OperationId::gather, TableSize::per_rank},
    {"Scatter Latency", OperationId::scatter, TableSize::per_rank},
    {"Latency", OperationId::ping_pong, TableSize::as_ours},
}};

/// "# OSU MPI Allreduce Latency Test v7.5", "# OSU MPI-CUDA Latency Test v5.8", "# OSU NCCL-CUDA …".
struct OsuTitle {
  std::string library;
  std::string test;
  std::string version;
};

std::optional<OsuTitle> osu_title(std::string_view line) {
  constexpr std::string_view kStart = "# OSU ";
  constexpr std::string_view kEnd = " Test";
  const std::size_t start = line.find(kStart);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(start + kStart.size());
  const std::size_t blank = rest.find(' ');
  const std::size_t end = rest.find(kEnd);
  if (blank == std::string_view::npos || end == std::string_view::npos || end <= blank) return std::nullopt;
  OsuTitle title;
  title.library = rest.substr(0, blank);
  title.test = trim(rest.substr(blank, end - blank));
  const std::vector<std::string> words = split_words(rest.substr(end + kEnd.size()));
  if (!words.empty() && words.front().starts_with('v')) title.version = words.front().substr(1);
  return title;
}

/// Before version 7 reductions are of floats, and all else of chars (MPI_CHAR).
DataType osu_default_type(OperationId id) {
  return operation(id).reduces ? DataType::float32 : DataType::int8;
}

/// "# Datatype: MPI_INT."
std::optional<DataType> osu_type(std::string_view line) {
  constexpr std::string_view kDatatype = "# Datatype: MPI_";
  if (!line.starts_with(kDatatype)) return std::nullopt;
  std::string name = lower(trim(line.substr(kDatatype.size())));
  if (name.ends_with('.')) name.pop_back();
  const DataTypeTraits* const found = find_data_type(name == "int" ? "int32" : name);
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

/// The number of ranks on the command line of a launcher that starts a program of OSU: "mpirun -np 4
/// osu_bcast".
std::optional<int> ranks_on_command_line(std::string_view line) {
  if (line.find("osu_") == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> words = split_words(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::optional<std::int64_t> ranks;
    if (words[i] == "-np" || words[i] == "-n" || words[i] == "--np" || words[i] == "--ntasks") {
      if (i + 1 < words.size()) ranks = parse_integer(words[i + 1], 1, RankRange::kMaxRanks);
    } else if (words[i].starts_with("--ntasks=")) {
      ranks = parse_integer(words[i].substr(9), 1, RankRange::kMaxRanks);
    }
    if (ranks) return static_cast<int>(*ranks);
  }
  return std::nullopt;
}

/// A line of the table: a size, a time in microseconds, and with -f minimum, maximum and iterations.
std::optional<BenchmarkRow> osu_row(const LogLine& line, bool full) {
  const std::vector<std::string> words = split_words(line.text);
  if (words.size() < 2 || words.size() > 8) return std::nullopt;
  const auto size = parse_integer(words[0], 0, std::int64_t{1} << 50U);
  const auto time = leading_log_number(words[1]);
  if (!size || !time || time->length != words[1].size() || !std::isfinite(time->value)) return std::nullopt;
  BenchmarkRow row{line.number, static_cast<std::uint64_t>(*size), time->value * kMicrosecond, 0};
  if (full && words.size() > 4) {
    if (const auto iterations = parse_integer(words[4], 1, 1'000'000'000'000))
      row.iterations = static_cast<std::uint64_t>(*iterations);
  }
  return row;
}

class OsuReader {
 public:
  BenchmarkLog read(const NextLine& next) {
    log_.program = "osu";
    while (const LogLine* line = next()) take(*line);
    return std::move(log_);
  }

 private:
  void take(const LogLine& line) {
    const std::string_view text = trim(line.text);
    if (const auto ranks = ranks_on_command_line(text)) ranks_ = *ranks;
    if (const auto title = osu_title(text)) {
      begin(*title, line.number);
    } else if (table_ && text.starts_with('#')) {
      if (const auto type = osu_type(text)) table_->type = *type;
      full_ = full_ || text.find("Iterations") != std::string_view::npos;
    } else if (table_) {
      take_row(line);
    }
  }

  void begin(const OsuTitle& title, int line) {
    table_ = nullptr;
    full_ = false;
    const auto* const test = std::find_if(kOsuTests.begin(), kOsuTests.end(),
                                          [&](const OsuTest& each) { return each.title == title.test; });
    if (test == kOsuTests.end()) {
      log_.skip_line(fmt::format("tables of {}", excerpt(title.test)), line);
      return;
    }
    if (log_.tables.empty()) {
      log_.version = title.version;
      log_.version_line = line;
      log_.backend = title.library.starts_with("NCCL") ? BackendId::nccl : BackendId::mpi;
      if (title.library == "MPI-CUDA") log_.allocator = "cudaMalloc";
      if (title.library == "MPI-ROCM") log_.allocator = "hipMalloc";
      if (title.library == "MPI-OPENACC") log_.allocator = "acc_malloc";
    }
    BenchmarkTable table{.operation = test->operation,
                         .size = test->size,
                         .type = osu_default_type(test->operation),
                         .ranks = ranks_,
                         .line = line,
                         .rows = {}};
    if (test->operation == OperationId::ping_pong) table.ranks = 2;
    log_.tables.push_back(std::move(table));
    table_ = &log_.tables.back();
  }

  void take_row(const LogLine& line) {
    const auto row = osu_row(line, full_);
    if (!row) return;  // what a launcher or a script says in between
    if (row->size_bytes == 0) {
      log_.skip_line(std::string(kRowsOfNoBytes), line.number);
    } else if (!is_duration(row->seconds)) {
      log_.skip_line(std::string(kRowsWithoutTime), line.number);
    } else {
      table_->rows.push_back(*row);
    }
  }

  BenchmarkLog log_;
  BenchmarkTable* table_ = nullptr;  // of log_, while its rows are read
  bool full_ = false;                // the table has the columns of -f
  int ranks_ = 0;                    // as the last command line said
};

}  // namespace

bool recognizes_osu(std::string_view start) { return start.find("# OSU ") != std::string_view::npos; }

BenchmarkLog read_osu(const NextLine& next) { return OsuReader().read(next); }

}  // namespace collbench::analysis
