#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/verdict/verdict.hpp"
#include "base/document/document.hpp"
#include "base/record/cluster.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"

// What a report says, section by section, as lines without the marks of any format. header.cpp is what stands
// before the tables and footer.cpp what stands behind them; each other concern has a file of its own.

namespace collbench::analysis {

/// The first line of whatever shows a run with Run::gpus_simulated.
inline constexpr std::string_view kSimulatedGpus =
    "SIMULATED GPUs: NCCL's host code ran, no kernel did, and the CPU moved the data: no time here is a "
    "GPU's";

/// A row by name, for a sentence: "AllReduce 64 KiB float sum, in place, ring".
[[nodiscard]] std::string format_row(const RowKey& key);

/// "WRONG DATA: the log counts 5 wrong values (line 40), and no row here has them", where that is so; else
/// empty.
[[nodiscard]] std::string wrong_beyond_rows_words(const Run& run);

/// "WRONG DATA: AllReduce 64 KiB float sum, in place: 12 elements wrong", of a row that has some.
[[nodiscard]] std::string wrong_data_words(const Measurement& measured);

/// "8 B to 4 KiB", and "8 B" where both ends are the same.
[[nodiscard]] std::string format_span(const std::string& from, const std::string& to);

/// "1 KiB", or "3 sizes from 1 KiB to 64 KiB".
[[nodiscard]] std::string format_sizes(const std::set<std::uint64_t>& sizes_bytes);

/// Each host of the ranks once, in their order.
[[nodiscard]] std::vector<std::string> hosts_in_order(const Run& run);

/// The model of the first GPU that the run knows; empty on host memory and where nobody looked.
[[nodiscard]] std::string gpu_model(const Run& run);

/// One line for the head of a report: the GPU, the nearest NIC and the NUMA node of the first ranks, those
/// with a note before the others. Empty when no rank's GPU is known and there is no note.
[[nodiscard]] std::string format_placement(const std::vector<PlacedRank>& placement);

/// What stands before the rows: what was measured, where, with what, and what about that is less than it
/// seems.
[[nodiscard]] ReportLines header_lines(const Run& run);

/// What a line of the header is about. A header of few lines has room first for what stands first here.
enum class HeaderPart {
  title,    ///< what was measured, and an incident
  machine,  ///< how many nodes, GPUs and NICs
  warning,
  nodes,    ///< what the nodes have in common, and which one is odd
  setting,  ///< versions, variables, hosts, calibration
};

struct HeaderLine {
  ReportLine line;
  HeaderPart part = HeaderPart::setting;
};

/// The lines of header_lines() with what each is about.
[[nodiscard]] std::vector<HeaderLine> header_parts(const Run& run);

/// The lines of a header that a run of TextOptions::brief begins with, one at least, and those that it has to
/// say after its tables because there was no room: warnings, and what is odd about nodes.
struct BriefHeader {
  ReportLines lines;
  ReportLines below;
};

/// At most kBriefHeaderLines lines of `columns` columns, wrapped lines counted; a title that alone takes more
/// is shown whole. `hidden` says which columns of the table are left out; empty: none.
inline constexpr int kBriefHeaderLines = 6;
[[nodiscard]] BriefHeader brief_header(const Run& run, const std::string& hidden, int columns);

/// Those that a run of TextOptions::quiet shows: warnings and alarms.
[[nodiscard]] ReportLines loud(ReportLines lines);

/// What the columns mean in this run.
[[nodiscard]] ReportLines legend_lines(const Run& run);

/// The title of an operation's table: what its size means, and how busbw follows for `ranks` ranks.
[[nodiscard]] ReportLine operation_line(OperationId id, int ranks);

/// The operations of the run's rows, in the order of their first rows.
[[nodiscard]] std::vector<OperationId> operations_in(const Run& run);

/// What an imported log says of its job, each with its line; then what it does not say, where that matters
/// for the expectation (`on_gpus`: host memory has no model that needs it); then what was left out of the
/// rows, and where the log contradicts itself.
[[nodiscard]] ReportLines imported_log_lines(const LogFacts& log, bool on_gpus);

/// What the operation was asked for and is not available: one fact per algorithm and reason.
[[nodiscard]] ReportLines unavailable_lines(const Run& run, OperationId id);

/// What stands behind the rows: wrong data with the ranks that found it, what was not reached, what ran in
/// place of what was asked for, what the run took, and what verdict it allows.
[[nodiscard]] ReportLines footer_lines(const Run& run);

/// The answer, for the first line: "SOUND: 2 × 8 ranks on hgx-h100; worst: AllGather, 0.97 of
/// expected"; of a log by which nothing can be judged, why. Empty for a run that has no verdict.
[[nodiscard]] ReportLines verdict_headline(const Run& run);

/// The row that the machine's word is from: of the worst word the least of what is expected; null without
/// rows that are judged. It points into `run`.
[[nodiscard]] const Row* worst_row(const Run& run);

/// Whether the row that was sustained is worse than every other.
[[nodiscard]] bool falls_under_load(const Run& run);

/// "all_reduce_perf": the program of nccl-tests that measures it; of an operation that it lacks, by our name.
[[nodiscard]] std::string nccl_tests_program(const Operation& operation);

/// What to do after this word: "collbench doctor on n2; ...", without "next:". `worst` is the row that the
/// word is from, null for none. Empty where nothing is to be done, and without a word.
[[nodiscard]] std::string next_step_by_verdict(const Run& run, const Row* worst);

/// The verdict on each sweep with its explanation, then what holds each of its rows ("8 B to 2 MiB:
/// latency-bound, 0.91 to 1.04 of expected"); or why there is no verdict.
[[nodiscard]] ReportLines verdict_lines(const Run& run);

/// Where the library's own choice ("auto") was not the best of those that were measured beside it (--algo,
/// --proto): which one was faster and by how much, per range of sizes ("8 B to 4 KiB: ring/ll takes 11 to 14
/// % less time"). Only differences whose 95 % intervals do not overlap count. Empty where nothing was
/// measured beside auto.
[[nodiscard]] ReportLines choice_lines(const Run& run);

/// Where `auto` ran an algorithm of which the model expects much more time than of a ring, how much, and at
/// how many sizes: AllReduce, AllGather and ReduceScatter. Only of what took longer than the ring is expected
/// to, and where nothing was measured beside it, which choice_lines tells of. Empty on GPUs, where `judge`
/// says it, and in SimGrid, where smpirun chooses.
[[nodiscard]] ReportLines poor_choice_lines(const Run& run);

/// Two neighboring sizes between which one algorithm overtakes the other.
struct CrossingSizes {
  std::uint64_t below = 0;
  std::uint64_t above = 0;

  bool operator==(const CrossingSizes&) const = default;
};

/// Between which sizes `later` becomes the quicker one and stays it; none when it never does, or always is.
/// `predicted`: by what was expected, else as measured. Sizes that only one of them has do not count.
[[nodiscard]] std::optional<CrossingSizes> crossing_of(const SizeSeries& earlier, const SizeSeries& later,
                                                       bool predicted);

/// A line for each sweep of at least four sizes (α, B with their intervals, n½, R²), and for each pair of
/// algorithms of one operation where they cross: by the fits, predicted, and seen.
[[nodiscard]] ReportLines fit_lines(const Run& run);

/// Below it page faults are not reported.
inline constexpr double kMinReportedPageFaultShare = 0.05;

/// What one page fault takes by the calibration; null where it does not say.
[[nodiscard]] const CalibrationPoint* page_fault_point(const Run& run);

/// The part of a call's time that page faults take on the rank where that is most, at what one takes by the
/// run's calibration, at most 1. 0 where either is not known, as on GPUs and in SimGrid.
[[nodiscard]] double page_fault_share(const Run& run, const Row& row);

/// Where page faults take a twentieth of a row's time or more, how much, a line per operation and algorithm;
/// then what usually ends them, where that was not tried. The models leave them out (docs/model.md).
[[nodiscard]] ReportLines page_fault_lines(const Run& run);

/// Whose main thread waited for a core in a twentieth of a row's time or more, how much and in how many rows:
/// the rank where that is most, and how many more. Host memory only.
[[nodiscard]] ReportLines core_wait_lines(const Run& run);

/// "; it had no core for 48 % of the time of AllReduce 8 B" of a rank of which core_wait_lines would tell;
/// else empty.
[[nodiscard]] std::string core_wait_of(const Run& run, int rank);

/// What a step was made of, who makes the others wait in it, and why; nothing without a Step.
[[nodiscard]] ReportLines step_lines(const Run& run);

/// How the GPUs fared: each trouble that met rows, with the GPUs and the next step; the range of clocks,
/// temperatures and powers; and what is not known. Empty for a run without telemetry.
[[nodiscard]] ReportLines gpu_health_lines(const Run& run);

/// A GPU, or GPUs that copy between each other, of which the probe of each alone (Run::gpu_probes) says that
/// it is slow, wrong or failed.
struct GpuAlone {
  std::string host;
  std::string name;  ///< "GPU 3"
  bool bad = false;  ///< else suspect
  /// "bad by itself: GPU 3 of n7: GEMM BF16 makes 0.94 of ... (and in 4 more measurements)"
  std::string words;
  std::size_t more = 0;
};

enum class GpuWork { any, products };

/// The names of its GPUs that did such work alone; copies between two are of no GPU alone.
[[nodiscard]] std::set<std::string> gpus_measured(const ProbeRecord& probe, GpuWork work);

/// The bad ones first; empty where nobody probed, or all are alike.
[[nodiscard]] std::vector<GpuAlone> gpus_found_alone(const Run& run);

/// Those, then what is alike, and what was not compared or not measured.
[[nodiscard]] ReportLines gpus_alone_lines(const Run& run);

}  // namespace collbench::analysis
