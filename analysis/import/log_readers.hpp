#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/log_table.hpp"
#include "base/error.hpp"
#include "base/record/identities.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/operation.hpp"

// The parts of import_log: what reads the lines of a log, NCCL's own among them, the rows and headings of
// nccl-tests, and what says how many ranks ran where.

namespace collbench::analysis {

/// A line of a log in two parts, for NCCL writes its own lines into the middle of others'.
struct LogLine {
  int number = 1;     ///< in the file, from 1
  std::string label;  ///< whose line it is: "[1,3]" (mpirun --tag-output), "3" (srun --label), "n17" (pdsh);
                      ///< or the first word, where a colon follows; empty for neither
  std::string text;   ///< without ANSI codes, launchers' tags and line end, and without what follows
  std::string nccl;   ///< behind "NCCL INFO" (or WARN, TRACE): NCCL's own words; empty when there are none
  std::string nccl_host;  ///< the host before ":pid:thread [device]"; empty when not known
};

/// A text in parts, as it is read: each call gives the next, which stays until the one after; an empty one is
/// the end.
using TextParts = std::function<std::string_view()>;

/// What of a line is read: no line of NCCL or nccl-tests comes near it, but progress bars do.
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{1} << 20U;

/// The lines of a log that may say something, one after the other: of the output of a job for days, most do
/// not, and none is kept. Zeros are left out; other broken bytes are left alone: a log is many programs'
/// output.
class LogLineReader {
 public:
  /// `all`: also the lines that say nothing.
  explicit LogLineReader(TextParts parts, bool all = false) : parts_(std::move(parts)), all_(all) {}

  /// The next line, which stays until the one after; null at the end.
  [[nodiscard]] const LogLine* next();

  /// How many lines there were, also those that were left out.
  [[nodiscard]] int lines() const { return number_; }

  /// That lines had zeros, and where; empty where none had.
  [[nodiscard]] std::string zeros_note() const;

 private:
  [[nodiscard]] std::optional<std::string_view> next_raw();
  void carry(std::string_view part);
  [[nodiscard]] std::string_view without_zeros(std::string_view line);

  TextParts parts_;
  bool all_;
  std::string_view part_;
  std::string carried_;  // the start of a line that the next part goes on with
  bool carried_was_taken_ = false;
  bool over_ = false;
  int number_ = 0;
  std::size_t lines_with_zeros_ = 0;
  int first_with_zeros_ = 0;
  std::string nonzero_;
  std::string clean_;
  std::string command_;  ///< the lines of a command that goes on
  LogLine line_;
};

/// Refuses the start of a file that is no text: empty, UTF-16, compressed, a web page. `file` stands in the
/// Error (usage).
void require_log_text(std::string_view start, std::string_view file);

/// The number at the start of `word`, and how much of the word it is; none when there is none.
struct LeadingNumber {
  double value = 0;
  std::size_t length = 0;
  int decimals = 0;  ///< digits behind the point
};
[[nodiscard]] std::optional<LeadingNumber> leading_log_number(std::string_view word);

/// Adds what a line of NCCL's own (NCCL_DEBUG=INFO, versions 2.4 to 2.30 as seen) says of the job to `facts`,
/// a variable that it found set to `environment`, and its host's NICs and connections to `hosts`. The first
/// line that says something stands; another that contradicts it becomes a note.
void note_nccl_line(const LogLine& line, LogFacts& facts, std::map<std::string, std::string>& environment,
                    std::map<std::string, LogHost>& hosts);

/// LogFacts::losses.
[[nodiscard]] std::vector<std::string> losses_in_log(const LogTable& table);

/// `fact` as said in `line`, when none has been said before; a different one becomes a note.
template <class Value>
void set_once(MaybeLogFact<Value>& fact, Value value, int line) {
  if (!fact) fact = {std::move(value), line};
}

/// "2.23.4+cuda12.6" behind "NCCL version "; empty when `text` has none.
[[nodiscard]] std::string nccl_version_in(std::string_view text);

/// The columns of an nccl-tests table, as its heading names them. Four generations have been seen: "bytes N
/// type op time algbw busbw res", in milliseconds (to 2019), without "root" and with "error" (to 2.11), with
/// "root" and "#wrong", with four more per half (-I, 2.19).
struct NcclTestsColumns {
  bool reduction = true;  ///< a redop column; its cells may be empty (old alltoall)
  bool root = true;
  std::size_t per_half = 4;           ///< time algbw busbw #wrong, and those of -I
  bool per_call = false;              ///< i_min i_max i_p99 i_cv% (-I)
  bool wrong_is_error = false;        ///< the last column is a relative error, no count
  bool cpu_time = false;              ///< "cputime": -C
  double time_unit_microseconds = 1;  ///< 1000 in the first tables of 2017 to 2019
};

/// "# size count type redop root time algbw busbw #wrong …", wherever it stands in the line.
[[nodiscard]] std::optional<NcclTestsColumns> nccl_tests_columns(std::string_view line);

/// A line of the device list; none when it is none.
[[nodiscard]] std::optional<LogDevice> nccl_tests_device(std::string_view line, int number);

/// "# nThread 1 nGpus 8 minBytes …": that a process began, and what it was told.
struct NcclTestsParameters {
  int threads = 1;
  int gpus_per_thread = 1;
  std::uint64_t iterations = 0;
  std::uint64_t calls_per_iteration = 1;
};
[[nodiscard]] std::optional<NcclTestsParameters> nccl_tests_parameters(std::string_view line);

/// The program that a line names ("./build/all_reduce_perf -b 8 …", "Collective test starting:
/// all_reduce_perf"): "all_reduce_perf"; empty when it names none that is known.
[[nodiscard]] std::string nccl_tests_program(std::string_view line);

/// The command line in a line that names the program, from its launcher or its first variable on and without
/// secrets; empty in another line.
[[nodiscard]] std::vector<std::string> nccl_tests_command(std::string_view line);

/// Whether it may be the name of a variable of the environment: capitals, digits and "_".
[[nodiscard]] bool is_variable(std::string_view word);

/// NCCL's variables that a command line sets for its ranks, names and values: "-x NCCL_IB_DISABLE=1" (Open
/// MPI),
/// "-genv NCCL_IB_DISABLE 1" (MPICH), "--export=ALL,NCCL_IB_DISABLE=1" (Slurm), "NCCL_IB_DISABLE=1" before
/// it.
[[nodiscard]] std::map<std::string, std::string> nccl_settings(const std::vector<std::string>& command);

/// Without the options that say how much is measured: what is left is the same in parts of one measurement.
[[nodiscard]] std::vector<std::string> without_amounts(std::vector<std::string> words);

/// What the words of a program's command line say of -R, as the program reads it (nccl-tests src/common.cu);
/// none where it is not among them.
[[nodiscard]] std::optional<BufferRegistration> nccl_tests_registration(std::span<const std::string> words);

/// A row as its words, for it may come in parts: the start holds what stands before the first time.
struct RowStart {
  int line = 0;
  std::string size;
  std::string count;
  std::string type;
  std::vector<std::string> rest;  ///< what follows the type
};

/// The start of a row wherever it stands in the line (prefixes, markdown bars): two integers and a type; also
/// of one that is whole but for a size or count that is no integer, which read_row refuses.
[[nodiscard]] std::optional<RowStart> row_start(std::string_view line, int number);

/// The words of a line that can only be the rest of a row: numbers and N/A; empty when there are others.
[[nodiscard]] std::vector<std::string> row_continuation(std::string_view line);

/// How many numbers the row holds behind reduction and root, given the columns.
[[nodiscard]] std::size_t row_measures(const RowStart& start, const NcclTestsColumns& columns);

/// A row, or in words why it is none: "rows of 0 bytes", "rows with masked numbers", …
struct RowOrReason {
  std::optional<LogRow> row;
  std::string reason;
};
[[nodiscard]] RowOrReason read_row(const RowStart& start, const NcclTestsColumns& columns);

/// Every table that nccl-tests wrote into a log, in order, with what the log says around each: also one whose
/// program died before its first row. `next` gives the lines, and null at the end. Never throws for its
/// content.
[[nodiscard]] std::vector<LogTable> read_nccl_tests_text(const std::function<const LogLine*()>& next);

/// Whether `text` is JSON by its first letter, and not a text whose lines a log driver wrapped.
[[nodiscard]] bool looks_like_json(std::string_view text);

/// What `nccl-tests -J FILE.json` wrote (JSON_FILE_VERSION 3 of 2.19.6, and what its older versions share
/// with it). Throws Error (usage) that names the place when it is something else; of the environment only
/// variables of NCCL, CUDA_VISIBLE_DEVICES, OMPI_*, UCX_*, FI_* and SLURM_JOB_ID are taken: the file holds
/// all of them, secrets too.
[[nodiscard]] LogTable read_nccl_tests_json(std::string_view text, std::string_view file);

/// Whether the start of a text is of `rccl-tests -x FILE -Z json`; and its tables, of lines as they stand
/// there. A table for each operation and cycle. Throws Error (usage) that names the place when it is
/// something else.
[[nodiscard]] bool is_rccl_tests_json(std::string_view start);
[[nodiscard]] std::vector<LogTable> read_rccl_tests_json(const std::function<const LogLine*()>& next,
                                                         std::string_view file);

/// The numbers of ranks with which a table's numbers agree.
struct RankRange {
  int least = 1;
  int most = kMaxRanks;  ///< of one job that anybody will import

  static constexpr int kMaxRanks = 1 << 20U;
  [[nodiscard]] bool contains(int ranks) const { return least <= ranks && ranks <= most; }
  bool operator==(const RankRange&) const = default;
};

/// What busbw / algbw (docs of nccl-tests: 2(p − 1)/p, (p − 1)/p or 1) says of the ranks p, as far as the
/// rates are printed; for operations whose size is a total also size / (count × type), which is p exactly.
/// None when the rows contradict each other: then they are not of this operation.
[[nodiscard]] std::optional<RankRange> ranks_by_rates(const Operation& operation,
                                                      std::span<const LogRow> rows);

/// The lines on which the rows of another job begin, of other than the ranks before, in rows that fit
/// `operation` job by job: tables that somebody put together hold such. Empty where one number of ranks fits
/// all, or none fits a row.
[[nodiscard]] std::vector<int> lines_of_other_jobs(const Operation& operation, std::span<const LogRow> rows);

/// Why rows of which lines_of_other_jobs names some are no run.
[[nodiscard]] Error rows_of_several_jobs(std::string where, const std::vector<int>& lines);

/// What the user says of a job whose log does not.
struct JobGiven {
  std::optional<int> nodes;
  std::optional<int> ranks_per_node;

  bool operator==(const JobGiven&) const = default;
};

/// How many ranks ran on which nodes: by the device list, by NCCL's lines, by what is given, held against
/// busbw / algbw. Writes ranks, nodes, ranks_per_node and hosts of the table's facts; what is not known stays
/// none. Throws Error (usage) where the number of ranks is not known, or where two that say it disagree.
[[nodiscard]] Identities job_location(LogTable& table, const Operation& operation, const JobGiven& given,
                                      std::string_view file);

/// The operations whose tables look like this one: by the reduction, the root, what size is of count, whether
/// in place was checked (nccl-tests checks neither SendRecv nor AllToAll in place: src/sendrecv.cu,
/// src/alltoall.cu), and whether busbw / algbw allows any number of ranks, or `ranks` where that is known.
[[nodiscard]] std::vector<OperationId> operations_like(const LogTable& table, std::optional<int> ranks);

/// What a table is of: as `given`, as its program is called, or the only operation that it looks like; the
/// table's facts say which. Throws Error (usage) with the place and the next step where none is left, or
/// several are.
[[nodiscard]] OperationId operation_of(LogTable& table, std::optional<OperationId> given,
                                       std::string_view file);

}  // namespace collbench::analysis
