#include "analysis/import/import_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/import/benchmark_logs.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "base/secrets/secrets.hpp"
#include "base/statistics.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr std::uint64_t kLatencyBytes = 8;

bool same_devices(const LogTable& a, const LogTable& b) {
  return std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(),
                    [](const LogDevice& x, const LogDevice& y) {
                      return x.rank == y.rank && x.host == y.host && x.gpu == y.gpu;
                    });
}

bool same_row(const LogRow& a, const LogRow& b) {
  return a.size_bytes == b.size_bytes && a.count == b.count && a.type == b.type &&
         a.reduction == b.reduction && a.root == b.root;
}

/// Whether two say the same of something, or one of them nothing.
template <class Words>
bool may_be_same(const Words& a, const Words& b) {
  return a.empty() || b.empty() || a == b;
}

std::vector<std::string> what_ran(const LogTable& table) {
  return table.facts.command ? without_amounts(split_words(table.facts.command->value))
                             : std::vector<std::string>();
}

/// Whether `next` goes on with what `table` measured: the same program on the same devices at other sizes, as
/// a script writes that starts the program once per size.
bool goes_on(const LogTable& table, const LogTable& next) {
  const auto name = [](const LogTable& each) { return each.facts.program ? each.facts.program->value : ""; };
  if (table.devices.empty() || table.interleaved || next.interleaved) return false;
  if (name(table) != name(next) || !same_devices(table, next)) return false;
  if (!may_be_same(what_ran(table), what_ran(next)) || !may_be_same(table.environment, next.environment))
    return false;
  return std::ranges::none_of(next.rows, [&](const LogRow& row) {
    return std::ranges::any_of(table.rows, [&](const LogRow& other) { return same_row(row, other); });
  });
}

void add(LogTable& table, const LogTable& next) {
  table.rows.insert(table.rows.end(), next.rows.begin(), next.rows.end());
  table.ended = next.ended;
  if (!table.failure) table.failure = next.failure;
  ++table.invocations;
  if (table.iterations != next.iterations) table.iterations = 0;
  if (next.facts.out_of_bounds) {
    if (table.facts.out_of_bounds) table.facts.out_of_bounds->value += next.facts.out_of_bounds->value;
  }
  for (const LogSkipped& each : next.facts.left_out) {
    for (std::uint64_t n = 0; n < each.count; ++n) table.skip_line(each.what, each.line);
  }
}

std::optional<int> ranks_said(const LogTable& table) {
  if (table.facts.ranks) return table.facts.ranks->value;
  if (table.devices.empty()) return std::nullopt;
  const int each = table.devices_per_process ? table.facts.gpus_per_process->value : 1;
  return static_cast<int>(table.devices.size()) * each;
}

std::vector<OperationId> in_both(const std::vector<OperationId>& a, const std::vector<OperationId>& b) {
  std::vector<OperationId> both;
  std::ranges::copy_if(a, std::back_inserter(both),
                       [&](OperationId id) { return std::ranges::find(b, id) != b.end(); });
  return both;
}

/// Tables of one operation only: without a program's name the shape of its rows and their rates tell,
/// whatever
/// --operation says of them.
std::vector<LogTable> joined(std::vector<LogTable> tables) {
  std::vector<LogTable> runs;
  std::vector<OperationId> of_last_run;
  for (LogTable& table : tables) {
    const std::vector<OperationId> like = operations_like(table, ranks_said(table));
    const std::vector<OperationId> both = in_both(of_last_run, like);
    const bool known = !like.empty() && !of_last_run.empty();
    const bool same_operation = table.facts.program || !known || !both.empty();
    const bool both_measured = !runs.empty() && !runs.back().rows.empty() && !table.rows.empty();
    if (both_measured && goes_on(runs.back(), table) && same_operation) {
      add(runs.back(), table);
      if (known) of_last_run = both;
    } else {
      runs.push_back(std::move(table));
      of_last_run = like;
    }
  }
  return runs;
}

/// "1: all_reduce_perf -g 8, 8 devices, 26 rows, from line 10".
std::string in_words(const LogTable& table, std::size_t number) {
  constexpr std::size_t kMaxCommand = 100;
  const LogFacts& facts = table.facts;
  const std::string what = facts.command   ? excerpt(facts.command->value, kMaxCommand)
                           : facts.program ? facts.program->value
                                           : "a table";
  return fmt::format("{}: {}, {}, {}, from line {}", number, what, counted(table.devices.size(), "device"),
                     counted(table.rows.size(), "row"), table.first_line);
}

Error several_runs(const std::vector<LogTable>& runs, std::string_view file) {
  constexpr std::size_t kMaxNamed = 6;
  std::vector<std::string> words;
  for (const LogTable& run : runs) words.push_back(in_words(run, words.size() + 1));
  return usage_error(std::string(file),
                     fmt::format("holds {} runs ({})", runs.size(), join_first(words, kMaxNamed, "; ")),
                     "choose one with --run N");
}

/// Why a file without any row has none.
Error no_rows(const std::vector<LogTable>& tables, std::size_t lines, std::string_view file) {
  if (tables.empty()) {
    return usage_error(std::string(file),
                       fmt::format("has no table of nccl-tests in its {}", counted(lines, "line")),
                       "give what all_reduce_perf or another of its programs printed, or its -J file");
  }
  const LogTable& table = tables.back();
  if (!table.facts.left_out.empty()) {
    std::vector<std::string> words;
    for (const LogSkipped& each : table.facts.left_out) {
      words.push_back(fmt::format("{}: {}, the first on line {}", each.what, each.count, each.line));
    }
    return usage_error(location(file, table.first_line),
                       fmt::format("the table has no row that can be read: {}", fmt::join(words, "; ")),
                       "give the log as the program wrote it");
  }
  if (table.devices.empty()) {
    return usage_error(location(file, table.first_line), "the table has a heading and no row",
                       "give the whole log");
  }
  return usage_error(location(file, table.first_line),
                     fmt::format("the program began (with {}) and wrote no row of its table",
                                 counted(table.devices.size(), "device")),
                     "look at the end of the log for what stopped it");
}

/// The runs with rows, or the one that is asked for.
std::vector<LogTable> choose(std::vector<LogTable> tables, std::size_t lines, const ImportOptions& options,
                             std::string_view file) {
  std::vector<LogTable> runs = joined(std::move(tables));
  if (std::ranges::none_of(runs, [](const LogTable& table) { return !table.rows.empty(); })) {
    throw no_rows(runs, lines, file);
  }
  std::erase_if(runs, [](const LogTable& table) { return table.rows.empty(); });
  if (options.run && std::cmp_greater(*options.run, runs.size())) {
    throw usage_error("--run", fmt::format("{} has {} with rows", file, counted(runs.size(), "run")),
                      "choose one of them, from 1");
  }
  if (options.run) return {std::move(runs[static_cast<std::size_t>(*options.run) - 1])};
  return runs;
}

/// `: "srun: error: n18: task 9: Out Of Memory" (line 66)`; empty where no line says why.
std::string failure_words(const LogTable& table) {
  return table.failure ? fmt::format(": \"{}\" (line {})", table.failure->value, table.failure->line) : "";
}

/// What began and measured nothing, unless the same program was started again and did. Empty for none.
std::string runs_without_rows(const std::vector<LogTable>& tables) {
  const auto program = [](const LogTable& table) {
    return table.facts.program ? table.facts.program->value : "";
  };
  std::vector<std::string> words;
  for (auto table = tables.begin(); table != tables.end(); ++table) {
    if (!table->rows.empty() || table->devices.empty()) continue;
    const bool measured_later = std::any_of(table + 1, tables.end(), [&](const LogTable& later) {
      return !later.rows.empty() && program(later) == program(*table);
    });
    if (!measured_later)
      words.push_back(fmt::format(
          "{} (from line {}) {}{}", table->facts.program ? table->facts.program->value : "a program",
          table->first_line, table->facts.left_out.empty() ? "wrote no row" : "has no row that can be read",
          failure_words(*table)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

/// Why a table is not all that was to be measured; none where it is.
std::optional<Incident> incident_of(const LogTable& table, const std::string& missing) {
  std::string sentence = missing;
  const auto timeless = std::ranges::find(table.facts.left_out, kRowsWithoutTime, &LogSkipped::what);
  if (table.failure) {
    sentence = "the job ended with an error" + failure_words(table);
  } else if (timeless != table.facts.left_out.end()) {
    sentence = fmt::format("the time of {} is no positive number (line {})", counted(timeless->count, "row"),
                           timeless->line);
  }
  if (sentence.empty()) return std::nullopt;
  Incident incident;
  incident.sentence = std::move(sentence);
  return incident;
}

/// Why one list of devices names a rank twice.
Error interleaved_tables(const LogTable& table, std::string_view file) {
  const std::string where = location(file, table.first_line);
  const LogDevice& first = table.devices.front();
  const auto listed =
      static_cast<std::size_t>(std::ranges::count(table.devices, first.rank, &LogDevice::rank));
  const bool is_copy =
      std::any_of(table.devices.begin() + 1, table.devices.end(), [&](const LogDevice& each) {
        return each.rank == first.rank && each.pid == first.pid && each.host == first.host;
      });
  if (is_copy)
    return usage_error(
        where,
        fmt::format("rank {} of process {} is listed {} times: the output was written more than once",
                    first.rank, first.pid, listed),
        "remove the copies of its lines");
  if (listed == table.devices.size())
    return usage_error(where,
                       fmt::format("{} processes each ran as a separate job (rank {} is listed {} times), "
                                   "and their tables are interleaved: nccl-tests was built without MPI=1",
                                   listed, first.rank, listed),
                       "build it with MPI=1 and run it again");
  return usage_error(where,
                     fmt::format("the tables of {} jobs are interleaved (rank {} is listed {} times), and no "
                                 "label says which row is whose",
                                 listed, first.rank, listed),
                     "write each into a file of its own, or label the lines (srun --label, mpirun "
                     "--tag-output); if they were to be one job, build nccl-tests with MPI=1");
}

void refuse_what_says_nothing(const LogTable& table, std::string_view file) {
  if (table.interleaved) throw interleaved_tables(table, file);
  if (table.cpu_time) {
    throw usage_error(location(file, table.first_line),
                      "the times are of the calls only (-C), not of the operation",
                      "run it again without -C");
  }
}

Row row_of(const LogRow& row, const LogHalf& half, bool in_place, OperationId id, const LogTable& table,
           std::string_view file) {
  Row result;
  Measurement& measured = result.measurement;
  measured.key = {id, row.size_bytes, row.count, row.type, std::nullopt, in_place, kLibraryChoice};
  if (operation(id).size_meaning == SizeMeaning::hypercube_base)  // the table has the whole
    measured.key.size_bytes = row.count * traits(row.type).bytes;
  if (operation(id).reduces) measured.key.reduction = row.reduction;
  if (operation(id).has_root) measured.key.root = row.root;
  const auto tuning = std::ranges::find(table.facts.tunings, row.size_bytes, &LogTuning::size_bytes);
  measured.algorithm_ran = tuning == table.facts.tunings.end() ? "auto" : tuning->algorithm;
  measured.source = location(file, row.line);
  measured.seconds = half.seconds;
  measured.pass_seconds = {half.seconds};
  measured.iterations = table.iterations;
  measured.wrong_elements = half.wrong_elements;
  measured.iterations_per_sample = table.calls_per_iteration;
  measured.ranks = half.calls.ranks;
  summarize_samples(half.calls.seconds, measured);
  if (half.calls.minimum) {
    measured.samples = table.iterations - std::min(table.iterations, table.skipped_iterations);
    measured.minimum = *half.calls.minimum;
    measured.p99 = *half.calls.p99;
    measured.variation = half.calls.variation;
  }
  return result;
}

std::vector<Row> rows_of(const LogTable& table, OperationId id, std::string_view file) {
  std::vector<Row> rows;
  rows.reserve(2 * table.rows.size());
  for (const LogRow& row : table.rows) {
    rows.push_back(row_of(row, row.out_of_place, false, id, table, file));
    if (row.in_place) rows.push_back(row_of(row, *row.in_place, true, id, table, file));
  }
  return rows;
}

/// What the connections between nodes were says more than what NCCL found before it made them: which network,
/// and whether each of them has GPUDirect, which those over sockets beside others never have (losses).
void conclude_network(LogFacts& facts) {
  constexpr std::string_view kNet = "NET/";
  constexpr std::string_view kSockets = "NET/Socket";
  const bool only_sockets = std::ranges::none_of(facts.connections, [&](const LogConnections& each) {
    return each.via.starts_with(kNet) && each.via != kSockets;
  });
  MaybeLogFact<bool> gpu_direct;
  for (const LogConnections& each : facts.connections) {
    if (!each.via.starts_with(kNet) || (each.via == kSockets && !only_sockets)) continue;
    if (!facts.network) {
      facts.network = {each.via.substr(kNet.size()), each.line};
    }
    if (!gpu_direct || (!each.gpu_direct && gpu_direct->value)) gpu_direct = {each.gpu_direct, each.line};
  }
  if (gpu_direct) facts.gpu_direct = gpu_direct;
}

/// The processes whose calls are short in most rows: they begin when the others wait for them already.
void note_who_comes_last(LogTable& table) {
  constexpr double kShort = 0.75;  // of the median process's time
  constexpr std::size_t kMinRows = 3;
  constexpr std::size_t kMaxNamed = 4;
  std::map<int, std::vector<double>> shares;  // by the first rank of a process
  for (const LogRow& row : table.rows) {
    std::vector<double> seconds;
    for (const RankTimes& each : row.out_of_place.calls.ranks) seconds.push_back(each.median_seconds);
    if (seconds.size() < 2) continue;
    const double usual = seconds.size() == 2 ? std::max(seconds[0], seconds[1]) : median(seconds);
    for (const RankTimes& each : row.out_of_place.calls.ranks)
      shares[each.rank].push_back(each.median_seconds / usual);
  }
  std::vector<std::string> named;
  for (const auto& [rank, of_rows] : shares) {
    if (of_rows.size() < kMinRows || median(of_rows) > kShort) continue;
    const auto device = std::ranges::find(table.devices, rank, &LogDevice::rank);
    named.push_back(fmt::format("rank {}{} ({:.2f})", rank,
                                device == table.devices.end() ? "" : " on " + device->host, median(of_rows)));
  }
  if (!named.empty())
    table.facts.notes.push_back(
        fmt::format("processes that may come last and make the others wait, with the time of their calls "
                    "over the median process's (median of the rows): {}",
                    join_first(named, kMaxNamed)));
}

/// What follows from the facts and rows that were read.
void conclude(LogTable& table, const Operation& operation) {
  LogFacts& facts = table.facts;
  conclude_network(facts);
  facts.losses = losses_in_log(table);
  if (!operation.has_root) note_who_comes_last(table);
  if (table.invocations > 1)
    facts.notes.push_back(fmt::format("the rows are of {} invocations of the program, from line {} on",
                                      table.invocations, table.first_line));
  for (const LogRow& row : table.rows) {
    if (row.size_bytes == kLatencyBytes && !facts.latency_seconds) {
      facts.latency_seconds = {row.out_of_place.seconds, row.line};
    }
  }
}

Run run_of_table(LogTable& table, const ImportOptions& options, std::string_view file) {
  refuse_what_says_nothing(table, file);
  const OperationId id = operation_of(table, options.operation, file);
  Run run;
  run.ranks = job_location(table, operation(id), options.job, file);
  conclude(table, operation(id));
  run.rows = rows_of(table, id, file);
  run.backend = BackendId::nccl;
  run.time_reduction = table.time_reduction;
  run.buffers = {
      .allocator = "", .registration = table.registration, .exact_counts = std::nullopt, .walk_bytes = 0};
  // nccl-tests walks through buffers of its largest size (2.19.6, src/common.cu, startColl).
  for (const Row& row : run.rows)
    run.buffers.walk_bytes = std::max(*run.buffers.walk_bytes, row.measurement.key.size_bytes);
  run.complete = table.ended;
  run.started = table.started;
  run.finished = table.finished;
  for (const auto& [name, value] : table.environment) run.environment[name] = recorded_value(name, value);
  if (table.facts.nccl) run.versions.nccl = table.facts.nccl->value;
  run.log = std::move(table.facts);
  return run;
}

/// The first bytes, behind what is blank, in which a program names itself; then the rest, part by part.
struct StartOfText {
  std::string start;
  TextParts all;
};

StartOfText peek(const TextParts& parts) {
  constexpr std::size_t kStartBytes = std::size_t{1} << 16U;  // behind what launchers and scripts print
  std::string start;
  for (std::string_view part = parts(); !part.empty(); part = parts()) {
    start += part;
    if ((start.size() >= kStartBytes && !trim(start).empty()) || start.size() > kMaxLogLineBytes) break;
  }
  auto all = [start, parts, given = false]() mutable -> std::string_view {
    return std::exchange(given, true) || start.empty() ? parts() : std::string_view(start);
  };
  return {std::move(start), std::move(all)};
}

std::string whole(const TextParts& parts, std::string_view file) {
  std::string text;
  for (std::string_view part = parts(); !part.empty(); part = parts()) {
    text += part;
    if (text.size() > kMaxFileBytes) throw too_large(file);
  }
  return text;
}

TextParts in_one_part(std::string_view text) {
  return [text, given = false]() mutable { return std::exchange(given, true) ? std::string_view() : text; };
}

/// JSON of ours, also where it is damaged: nccl-tests' has neither key.
bool is_record(std::string_view text) {
  return looks_like_stream(text) || text.find("\"schema_version\"") != std::string_view::npos ||
         text.find("\"record\"") != std::string_view::npos;
}

}  // namespace

std::vector<Run> import_runs(const TextParts& parts, std::string_view file, const ImportOptions& options,
                             bool several) {
  const StartOfText text = peek(parts);
  require_log_text(text.start, file);
  const bool rccl = is_rccl_tests_json(text.start);
  const bool json = !rccl && looks_like_json(text.start);
  const BenchmarkReader* const benchmark = rccl || json ? nullptr : find_benchmark_reader(text.start);
  LogLineReader lines(text.all, rccl || benchmark != nullptr);
  const auto next = [&lines] { return lines.next(); };
  if (benchmark != nullptr) return {run_of_benchmark(benchmark->read(next), *benchmark, options, file)};
  std::vector<LogTable> tables;
  if (json) {
    tables.push_back(read_nccl_tests_json(whole(text.all, file), file));
  } else {
    tables = rccl ? read_rccl_tests_json(next, file) : read_nccl_tests_text(next);
    if (tables.empty() && looks_like_csv(text.start)) {
      throw usage_error(std::string(file), "the file is CSV, not what nccl-tests prints",
                        "give the program's output as text, or its -J file");
    }
  }
  const std::string missing = options.run ? "" : runs_without_rows(tables);
  tables = choose(std::move(tables), static_cast<std::size_t>(lines.lines()), options, file);
  if (tables.size() > 1 && !several) throw several_runs(tables, file);
  const std::string_view format = json ? "nccl-tests JSON" : rccl ? "rccl-tests JSON" : "nccl-tests text";
  std::vector<Run> runs;
  for (LogTable& table : tables) {
    std::optional<Incident> incident = incident_of(table, missing);
    runs.push_back(run_of_table(table, options, file));
    runs.back().incident = std::move(incident);
    LogFacts& facts = *runs.back().log;
    facts.format = format;
    if (std::string note = lines.zeros_note(); !note.empty()) facts.notes.push_back(std::move(note));
    facts.file = tables.size() == 1 ? std::string(file)
                                    : fmt::format("{}, run {} of {} (from line {})", file, runs.size(),
                                                  tables.size(), table.first_line);
  }
  return runs;
}

std::vector<Run> runs_of_file(const TextParts& parts, std::string_view file, ImportOptions options,
                              bool several) {
  const StartOfText text = peek(parts);
  const bool json = looks_like_json(text.start);
  const std::string all = json ? whole(text.all, file) : "";
  if (json && is_record(all)) {
    if (options == ImportOptions{}) return {run_from_text(all, file)};
    throw usage_error(std::string(file), "it is a record, which says itself where and when it ran, and what",
                      "leave out --nodes, --ranks-per-node, --operation, --run, --date and --host");
  }
  if (options.hosts.size() > 1 && !options.job.nodes)
    options.job.nodes = static_cast<int>(options.hosts.size());
  std::vector<Run> runs = import_runs(json ? in_one_part(all) : text.all, file, options, several);
  for (Run& run : runs) set_time_and_hosts(run, options.started, options.hosts);
  return runs;
}

}  // namespace collbench::analysis
