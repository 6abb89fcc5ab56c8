#include "analysis/import/benchmark_logs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<BenchmarkReader, 2> kBenchmarkReaders{{
    {"OSU Micro-Benchmarks text", recognizes_osu, read_osu},
    {"Intel MPI Benchmarks text", recognizes_imb, read_imb},
}};

/// As given, else as the table says; 0: nobody does.
int ranks_of(const BenchmarkTable& table, const JobGiven& given) {
  if (table.ranks > 0) return table.ranks;
  if (!given.nodes || !given.ranks_per_node) return 0;
  return *given.nodes > RankRange::kMaxRanks / *given.ranks_per_node ? 0
                                                                     : *given.nodes * *given.ranks_per_node;
}

std::vector<int> ranks_in(const BenchmarkLog& log, const JobGiven& given) {
  std::vector<int> found;
  for (const BenchmarkTable& table : log.tables) {
    if (const int ranks = ranks_of(table, given); std::ranges::find(found, ranks) == found.end())
      found.push_back(ranks);
  }
  return found;
}

/// Of the numbers of ranks in the log the one that is imported.
int chosen_ranks(const BenchmarkLog& log, const ImportOptions& options, std::string_view file) {
  const std::vector<int> found = ranks_in(log, options.job);
  if (options.run && std::cmp_greater(*options.run, found.size())) {
    throw usage_error("--run", fmt::format("{} has {} with rows", file, counted(found.size(), "run")),
                      "choose one of them, from 1");
  }
  if (found.size() > 1 && !options.run) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < found.size(); ++i)
      words.push_back(fmt::format("{}: {}", i + 1, counted(found[i], "rank")));
    throw usage_error(std::string(file),
                      fmt::format("holds {} runs ({})", found.size(), fmt::join(words, "; ")),
                      "choose one with --run N");
  }
  const int ranks = found[options.run ? static_cast<std::size_t>(*options.run) - 1 : 0];
  if (ranks > 0) return ranks;
  throw usage_error(std::string(file), "the log does not say how many ranks ran",
                    "give --nodes N --ranks-per-node N");
}

/// Which ranks ran where, in blocks; nodes are none where nobody says.
Identities identities_of(int ranks, const JobGiven& given, LogFacts& facts, std::string_view file) {
  int per_node = ranks;
  if (given.ranks_per_node) per_node = *given.ranks_per_node;
  if (given.nodes) {
    per_node = std::max(1, ranks / *given.nodes);
    const bool fits = *given.nodes * per_node == ranks;
    if (!fits || (given.ranks_per_node && *given.ranks_per_node != per_node)) {
      throw usage_error(
          "--nodes",
          fmt::format("{} says {}, which is not what is given", excerpt(file), counted(ranks, "rank")),
          "give the numbers that ran");
    }
  }
  if (given.nodes || given.ranks_per_node) {
    facts.nodes = {(ranks + per_node - 1) / per_node, 0};
    facts.ranks_per_node = {per_node, 0};
  }
  Identities identities;
  for (int rank = 0; rank < ranks; ++rank) identities.push_back({rank, "", rank / per_node, rank % per_node});
  return identities;
}

std::optional<Row> row_of(const BenchmarkTable& table, const BenchmarkRow& row, int ranks) {
  const Operation& what = operation(table.operation);
  const auto parts = table.size == TableSize::per_rank ? static_cast<std::uint64_t>(ranks) : 1;
  if (row.size_bytes > std::numeric_limits<std::uint64_t>::max() / parts) return std::nullopt;
  const std::uint64_t size = row.size_bytes * parts;
  const std::uint64_t of_one =
      what.size_meaning == SizeMeaning::total ? size / static_cast<std::uint64_t>(ranks) : size;
  Row result;
  Measurement& measured = result.measurement;
  measured.key = {table.operation, size,          of_one / traits(table.type).bytes, table.type, std::nullopt,
                  false,           kLibraryChoice};
  if (what.reduces) measured.key.reduction = Reduction::sum;
  if (what.has_root) measured.key.root = 0;
  measured.algorithm_ran = kLibraryChoice;
  measured.seconds = row.seconds;
  measured.pass_seconds = {row.seconds};
  measured.iterations = row.iterations;
  return result;
}

}  // namespace

std::optional<BenchmarkRow> benchmark_row(int line, std::span<const std::string> words,
                                          std::size_t time_column, std::size_t iterations_column) {
  if (words.size() <= time_column) return std::nullopt;
  const auto size = parse_integer(words[0], 0, std::int64_t{1} << 50U);
  const auto time = leading_log_number(words[time_column]);
  if (!size || !time || time->length != words[time_column].size() || !std::isfinite(time->value))
    return std::nullopt;
  const auto iterations =
      parse_integer(iterations_column < words.size() ? words[iterations_column] : "", 1, 1'000'000'000'000);
  return BenchmarkRow{line, static_cast<std::uint64_t>(*size), time->value * kMicrosecond,
                      static_cast<std::uint64_t>(iterations.value_or(0))};
}

BenchmarkTable* BenchmarkLog::begin_table(std::span<const BenchmarkTitle> known, const std::string& title,
                                          int line) {
  const auto test = std::ranges::find(known, title, &BenchmarkTitle::title);
  if (test == known.end()) {
    skip_line(fmt::format("tables of {}", excerpt(title)), line);
    return nullptr;
  }
  tables.push_back({test->operation, test->size, DataType::int8, 0, line, {}});
  return &tables.back();
}

void BenchmarkLog::take_row(const BenchmarkRow& row, std::string_view refused) {
  if (!is_duration(row.seconds)) refused = kRowsWithoutTime;
  if (row.size_bytes == 0) refused = kRowsOfNoBytes;
  if (refused.empty()) {
    tables.back().rows.push_back(row);
  } else {
    skip_line(std::string(refused), row.line);
  }
}

const BenchmarkReader* find_benchmark_reader(std::string_view start) {
  const auto* const found = std::ranges::find_if(
      kBenchmarkReaders, [start](const BenchmarkReader& reader) { return reader.recognizes(start); });
  return found == kBenchmarkReaders.end() ? nullptr : found;
}

Run run_of_benchmark(BenchmarkLog log, const BenchmarkReader& reader, const ImportOptions& options,
                     std::string_view file) {
  std::erase_if(log.tables, [&](const BenchmarkTable& table) {
    return table.rows.empty() || (options.operation && table.operation != *options.operation);
  });
  if (log.tables.empty()) {
    const auto& left_out = log.facts.left_out;
    const std::string why = left_out.empty() ? "" : ": left out are " + left_out.front().what;
    throw usage_error(std::string(file),
                      fmt::format("has no row of {} that can be read{}", reader.format, why),
                      "give the whole output of a collective operation");
  }
  Run run;
  const int ranks = chosen_ranks(log, options, file);
  run.ranks = identities_of(ranks, options.job, log.facts, file);
  std::set<RowKey> seen;
  for (const BenchmarkTable& table : log.tables) {
    if (ranks_of(table, options.job) != ranks) continue;
    if (!log.facts.operation)
      log.facts.operation = {std::string(operation(table.operation).name), table.line};
    if (!log.facts.ranks) log.facts.ranks = {ranks, table.ranks > 0 ? table.line : 0};
    for (const BenchmarkRow& row : table.rows) {
      auto made = row_of(table, row, ranks);
      if (!made) {
        log.skip_line("rows of an impossible size", row.line);
      } else if (!seen.insert(made->measurement.key).second) {
        log.skip_line("rows that stand there again", row.line);
      } else {
        run.rows.push_back(*std::move(made));
      }
    }
  }
  log.facts.file = file;
  log.facts.format = reader.format;
  const int first_line = log.tables.front().line;
  log.facts.program = {log.program, log.version_line > 0 ? log.version_line : first_line};
  if (!log.version.empty()) log.facts.version = {log.version, log.version_line};
  run.backend = log.backend;
  run.time_reduction = log.time_reduction;
  run.buffers = {.allocator = log.allocator,
                 .registration = std::nullopt,
                 .exact_counts = std::nullopt,
                 .walk_bytes = std::nullopt};
  run.complete = true;
  run.started = log.started;
  run.log = std::move(log.facts);
  return run;
}

}  // namespace collbench::analysis
