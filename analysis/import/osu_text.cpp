#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/benchmark_logs.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"

// OSU Micro-Benchmarks (mvapich.cse.ohio-state.edu/benchmarks), 5.6 to 7.5 as seen:
//
//   # OSU MPI Allreduce Latency Test v7.5
//   # Datatype: MPI_INT.
//   # Size       Avg Latency(us)
//   4                      10.05

namespace collbench::analysis {
namespace {

/// Titles stand between "# OSU MPI " and " Test". What the sizes are: c/mpi/collective/blocking/osu_*.c of
/// 7.5. osu_reduce_scatter's is the whole of a rank's input, osu_alltoall's what one rank sends to another.
constexpr std::array<BenchmarkTitle, 9> kOsuTests{{
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
  const std::string_view rest = text_behind(line, "# OSU ").value_or("");
  const auto library = text_between(rest, "", " ");
  const auto test = text_between(rest, " ", " Test");
  if (!library || !test) return std::nullopt;
  OsuTitle title{.library = std::string(*library), .test = std::string(trim(*test)), .version = {}};
  const std::vector<std::string> words = split_words(*text_behind(rest, " Test"));
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
    full_ = false;
    table_ = log_.begin_table(kOsuTests, title.test, line);
    if (table_ == nullptr) return;
    if (log_.tables.size() == 1) {
      log_.version = title.version;
      log_.version_line = line;
      log_.backend = title.library.starts_with("NCCL") ? BackendId::nccl : BackendId::mpi;
      if (title.library == "MPI-CUDA") log_.allocator = "cudaMalloc";
      if (title.library == "MPI-ROCM") log_.allocator = "hipMalloc";
      if (title.library == "MPI-OPENACC") log_.allocator = "acc_malloc";
    }
    table_->type = osu_default_type(table_->operation);
    table_->ranks = table_->operation == OperationId::ping_pong ? 2 : ranks_;
  }

  /// A size, a time, and with -f minimum, maximum and iterations; also what a launcher says in between.
  void take_row(const LogLine& line) {
    const std::vector<std::string> words = split_words(line.text);
    const auto row = benchmark_row(line.number, words, 1, full_ ? 4 : words.size());
    if (row && words.size() <= 8) log_.take_row(*row);
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
