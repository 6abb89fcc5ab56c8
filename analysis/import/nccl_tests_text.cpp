#include "analysis/import/log_readers.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/nccl_version.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxQuoted = 120;
constexpr std::string_view kCutRows = "rows cut by the end of the log or by the next row";

bool contains(const LogLine& line, std::string_view words) {
  return line.text.find(words) != std::string::npos;
}

/// A line with which nccl-tests ends for an error (src/common.h of 2.13 to 2.19: CUDACHECK, NCCLCHECK,
/// TESTCHECK; src/common.cu: the timeout).
bool is_own_failure(const LogLine& line) {
  constexpr std::array<std::string_view, 4> kWords{"Test CUDA failure ", "Test NCCL failure ",
                                                   "Test failure ", "Test timeout ("};
  return std::ranges::any_of(kWords, [&](auto words) { return contains(line, words); });
}

/// A line in which Slurm, Open MPI or MPICH say that they lost a process, whichever program's it was.
bool is_launchers_failure(const LogLine& line) {
  constexpr std::array<std::string_view, 5> kWords{"*** Process received signal ***", "that process rank",
                                                   "BAD TERMINATION OF ONE OF", "oom_kill event in Step",
                                                   "slurmstepd: error: *** "};
  const bool srun =
      contains(line, "srun: error: ") && (contains(line, ": task") || contains(line, "ode failure"));
  return srun || std::ranges::any_of(kWords, [&](auto words) { return contains(line, words); });
}

/// Reads line by line; a table begins where a program begins, or where a heading follows rows.
class Reader {
 public:
  void take(const LogLine& line) {
    if (!line.nccl.empty()) {
      touch(line);
      note_nccl_line(line, table_.facts, table_.environment, table_.hosts);
    }
    if (!take_failure(line) && !take_header(line) && !take_row(line) && !take_footer(line)) take_other(line);
  }

  /// The tables, once all lines were taken.
  std::vector<LogTable> finish() {
    end_table();
    return std::move(tables_);
  }

 private:
  void touch(const LogLine& line) {
    if (table_.first_line == 0) table_.first_line = line.number;
  }

  /// What a launcher loses behind the end of a table may be another program's process.
  bool take_failure(const LogLine& line) {
    if (!is_own_failure(line) && (table_.ended || !is_launchers_failure(line))) return false;
    set_once(table_.failure, excerpt(trim(line.text), kMaxQuoted), line.number);
    return true;
  }

  /// A program begins: what it says belongs to a new table when the one before has rows or its end, or died.
  void begin(const LogLine& line) {
    const bool over = !table_.rows.empty() || pending_ || table_.ended || table_.failure;
    if (over && !table_.interleaved) end_table();
    touch(line);
  }

  bool take_header(const LogLine& line) {
    if (const auto device = nccl_tests_device(line.text, line.number)) {
      begin(line);
      table_.devices.push_back(*device);
      // One list that names a rank twice: several processes took themselves for the whole job.
      if (!listed_ranks_.insert(device->rank).second) table_.interleaved = true;
      if (!device->gpu.empty()) set_once(table_.facts.gpu, device->gpu, line.number);
      return true;
    }
    if (const auto parameters = nccl_tests_parameters(line.text)) {
      if (table_.ended) end_table();
      begin(line);
      // A program that died before its table, and was started again.
      if (!table_.devices.empty() && !heading_seen_) clear_devices();
      table_.iterations = parameters->iterations;
      table_.calls_per_iteration = parameters->calls_per_iteration;
      set_once(table_.facts.gpus_per_process, parameters->threads * parameters->gpus_per_thread, line.number);
      set_once(table_.facts.threads_per_process, parameters->threads, line.number);
      return true;
    }
    if (const auto columns = nccl_tests_columns(line.text)) {
      begin(line);
      columns_ = *columns;
      heading_seen_ = true;
      table_.cpu_time = columns->cpu_time;
      table_.reduction_column = columns->reduction;
      table_.root_column = columns->root;
      return true;
    }
    if (const std::string program = nccl_tests_program(line.text);
        !program.empty() && !contains(line, "concluded")) {
      begin(line);
      // One that died without a word, before another began.
      if (!table_.devices.empty() && table_.facts.program && table_.facts.program->value != program)
        end_table();
      touch(line);
      table_.facts.program = {program, line.number};
      note_options(split_words(line.text));
      if (const auto command = nccl_tests_command(line.text); command.size() > command_.size()) {
        command_ = command;
        table_.facts.command = {fmt::format("{}", fmt::join(command, " ")), line.number};
      }
      return true;
    }
    return false;
  }

  /// Of the program: "-a 3" is how the ranks' times became one (nccl-tests src/common.cu), "-R 1" how the
  /// buffers were registered.
  void note_options(const std::vector<std::string>& words) {
    if (const auto how = nccl_tests_registration(words)) table_.registration = how;
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
      if (words[at] != "-a" && words[at] != "--average") continue;
      if (const auto how = parse_integer(words[at + 1], 0, 3)) {
        table_.time_reduction = static_cast<RankAggregate>(*how);
      }
    }
  }

  bool take_row(const LogLine& line) {
    if (auto start = row_start(line.text, line.number)) {
      cut_pending();
      touch(line);
      pending_ = std::move(start);
      settle(line.nccl.empty());
      return true;
    }
    if (!pending_) return false;
    const std::vector<std::string> words = row_continuation(line.text);
    if (words.empty()) return false;
    pending_->rest.insert(pending_->rest.end(), words.begin(), words.end());
    settle(line.nccl.empty());
    return true;
  }

  /// Whether the row in hand is whole: it has both halves, or its line ended with one.
  void settle(bool line_ended) {
    const std::size_t measures = row_measures(*pending_, columns_);
    const bool whole = measures >= 2 * columns_.per_half || (line_ended && measures > 0);
    if (!whole) return;
    const RowOrReason read = read_row(*pending_, columns_);
    if (read.row) {
      table_.rows.push_back(*read.row);
    } else {
      table_.skip_line(read.reason, pending_->line);
    }
    pending_.reset();
  }

  void cut_pending() {
    if (pending_) table_.skip_line(std::string(kCutRows), pending_->line);
    pending_.reset();
  }

  bool take_footer(const LogLine& line) {
    if (const std::size_t colon = line.text.find(':'); contains(line, "Out of bounds values")) {
      if (colon != std::string::npos) {
        const auto words = split_words(line.text.substr(line.text.find(':', line.text.find("values")) + 1));
        const auto wrong = words.empty() ? std::nullopt : parse_integer(words[0], 0, std::int64_t{1} << 62U);
        if (wrong) set_once(table_.facts.out_of_bounds, static_cast<std::uint64_t>(*wrong), line.number);
      }
      cut_pending();
      table_.ended = true;
      return true;
    }
    if (contains(line, "# Avg bus bandwidth") || contains(line, "# Collective test concluded")) {
      cut_pending();
      table_.ended = true;
    }
    return false;
  }

  void take_other(const LogLine& line) {
    if (const std::string version = nccl_version_in(line.text); !version.empty()) {
      touch(line);
      set_once(table_.facts.nccl, version, line.number);
    }
    // What the program says of an -R that its NCCL lacks (src/common.cu).
    if (contains(line, "Defaulting to local registration")) table_.registration = BufferRegistration::local;
    if (contains(line, "Option -R (register) is not supported"))
      table_.registration = BufferRegistration::none;
    const auto words = split_words(line.text);
    take_shell(words);
    // "# Per-Iteration Report: … summary skips first 5 iterations" (-K)
    if (const auto skipped = integer_behind(line.text, "summary skips first "))
      table_.skipped_iterations = static_cast<std::uint64_t>(*skipped);
    // "rccl-tests: Version develop:a52452e": of GPUs whose names the device list may lack.
    if (words.size() > 2 && words[words.size() - 3] == "rccl-tests:") {
      begin(line);
      set_once(table_.facts.version, words.back(), line.number);
      set_once(rccl_, std::string("AMD (rccl-tests)"), line.number);
    }
    if (words.size() == 1 && (words[0] == "..." || words[0] == "…") && heading_seen_ && !table_.ended) {
      table_.skip_line("places where rows are elided (...)", line.number);
    }
    // "# nccl-tests version 2.19.6 nccl-headers=22803 nccl-library=22803"
    if (const auto code = integer_behind(line.text, "nccl-library=", 1000)) {
      touch(line);
      library_ = {nccl_version_text(*code), line.number};
    }
    const auto version = std::ranges::find(words, "version");
    if (version != words.end() && version != words.begin() && *(version - 1) == "nccl-tests" &&
        version + 1 != words.end()) {
      begin(line);
      set_once(table_.facts.version, *(version + 1), line.number);
    }
  }

  /// "$ export NCCL_ALGO=Ring": of what runs after it, until it is unset.
  void take_shell(const std::vector<std::string>& words) {
    for (std::size_t at = 0; at < std::min<std::size_t>(words.size(), 4); ++at) {
      const bool is_prompt = at == 0 || words[at - 1].ends_with('$') || words[at - 1] == "+";
      const bool sets = is_prompt && words[at] == "export";
      if (!sets && !(is_prompt && words[at] == "unset")) continue;
      if (!table_.rows.empty() || table_.ended) end_table();
      for (const std::string& word : words)
        if (!sets) exported_.erase(word);
      if (sets)
        for (auto& [name, value] : nccl_settings(words)) exported_[name] = value;
      return;
    }
  }

  void clear_devices() {
    table_.devices.clear();
    table_.interleaved = false;
    listed_ranks_.clear();
  }

  /// Rows of before 2022 have the largest error in place of how many values are wrong: none, by the last
  /// line.
  void count_wrong_by_last_line() {
    if (!table_.facts.out_of_bounds || table_.facts.out_of_bounds->value != 0) return;
    const auto none_wrong = [](LogHalf& half) {
      if (half.checked && !half.wrong_elements) half.wrong_elements = 0;
    };
    for (LogRow& row : table_.rows) {
      none_wrong(row.out_of_place);
      if (row.in_place) none_wrong(*row.in_place);
    }
  }

  void end_table() {
    cut_pending();
    count_wrong_by_last_line();
    // What NCCL itself says that it found stands before what was typed.
    for (auto each : {nccl_settings(command_), exported_}) table_.environment.merge(each);
    if (!table_.facts.gpu) table_.facts.gpu = rccl_;
    if (!table_.facts.nccl) table_.facts.nccl = library_;
    rccl_.reset();
    library_.reset();
    if (!table_.rows.empty() || !table_.devices.empty() || heading_seen_ || !table_.facts.left_out.empty()) {
      tables_.push_back(std::move(table_));
    }
    table_ = LogTable{};
    listed_ranks_.clear();
    columns_ = NcclTestsColumns{};
    command_.clear();
    heading_seen_ = false;
  }

  std::vector<LogTable> tables_;
  LogTable table_;
  std::set<int> listed_ranks_;  ///< of the table's devices
  NcclTestsColumns columns_;
  bool heading_seen_ = false;
  std::optional<RowStart> pending_;
  std::map<std::string, std::string> exported_;
  std::vector<std::string> command_;   ///< the longest that names the program
  MaybeLogFact<std::string> rccl_;     ///< the GPU where only the program tells it
  MaybeLogFact<std::string> library_;  ///< NCCL's version by the program's heading
};

/// A line that only the first rank of a job writes.
bool is_of_first_rank(const LogLine& line) {
  constexpr std::array<std::string_view, 3> kWords{"# nccl-tests version ", "# nThread ", "# Using devices"};
  return std::ranges::any_of(kWords, [&](auto words) { return contains(line, words); });
}

/// Jobs that run side by side under one launcher, each under its own label: a reader for each. Whose first
/// rank has not been seen belongs to the job whose line was last.
class LabeledReaders {
 public:
  void take(const LogLine& line) {
    const auto found = readers_.find(line.label);
    if (is_of_first_rank(line)) {
      last_ = &readers_[line.label];
    } else if (found != readers_.end() && !line.label.empty()) {
      last_ = &found->second;
    }
    last_->take(line);
  }

  /// In the order in which they stand there.
  std::vector<LogTable> finish() {
    std::vector<LogTable> tables;
    for (auto& [label, reader] : readers_) {
      std::vector<LogTable> more = reader.finish();
      std::move(more.begin(), more.end(), std::back_inserter(tables));
    }
    if (readers_.size() == 1) return tables;
    std::ranges::sort(tables, {}, &LogTable::first_line);
    return readers_.size() > 2 ? of_one_job(std::move(tables)) : tables;
  }

 private:
  /// Under several labels, of a GPU each: processes of one job, which took themselves for the whole of it.
  static std::vector<LogTable> of_one_job(std::vector<LogTable> tables) {
    const bool alone = tables.size() > 1 && std::ranges::all_of(tables, [](const LogTable& each) {
                         return each.devices.size() == 1 && each.devices.front().rank == 0;
                       });
    if (!alone) return tables;
    LogTable all = std::move(tables.front());
    for (auto table = tables.begin() + 1; table != tables.end(); ++table)
      all.devices.push_back(table->devices.front());
    all.interleaved = true;
    return {std::move(all)};
  }

  std::map<std::string, Reader, std::less<>> readers_{{"", Reader()}};
  Reader* last_ = &readers_.begin()->second;
};

}  // namespace

std::vector<LogTable> read_nccl_tests_text(const std::function<const LogLine*()>& next) {
  LabeledReaders readers;
  while (const LogLine* const line = next()) readers.take(*line);
  return readers.finish();
}

}  // namespace collbench::analysis
