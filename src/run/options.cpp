#include "src/run/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "analysis/report/report.hpp"
#include "analysis/report/run_charts.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/operations.hpp"
#include "src/cli/command_description.hpp"

namespace collbench::program {
namespace {

constexpr std::uint64_t kMaxIterations = 1'000'000'000;
constexpr int kMaxGpusOfProcess = 1024;

void add_what(CLI::App& app, RunOptions& run) {
  const std::string theme = "What to measure, such as --ops all_reduce,send_recv --sizes 1MB,100MB,1GB";
  CLI::Option* operations = add_option(
      app, theme, "--ops", "LIST",
      "operations; all: these five and ping_pong, broadcast, reduce, gather, scatter, all_to_all_v; step: "
      "compute, then all_reduce: who is waited for, and why "
      "(all_reduce,all_gather,reduce_scatter,all_to_all,send_recv)",
      [&run](const std::string& text) { run.request.operations = parse_operations(text, "--ops"); });
  set_choices(*operations, operation_choices());
  add_option(app, theme, "-b,--minbytes", "SIZE", "smallest size (8)",
             [&run](const std::string& text) { run.sizes.first = parse_size(text, "-b"); });
  add_option(app, theme, "-e,--maxbytes", "SIZE",
             "largest size, the last row (64M, 4G on GPUs, at most a quarter of memory); sizes are rounded "
             "down, each rank's part to 16 bytes",
             [&run](const std::string& text) { run.sizes.last = parse_size(text, "-e"); });
  auto* factor =
      add_option(app, theme, "-f,--stepfactor", "X", "next size = X times the last (4; nccl-tests: off)",
                 number_into(run.sizes.factor, "-f", 1.01, 1e6));
  auto* step = add_option(app, theme, "-i,--stepbytes", "SIZE", "next size = last + SIZE",
                          [&run](const std::string& text) {
                            run.sizes.step = parse_size(text, "-i");
                            if (*run.sizes.step == 0)
                              throw usage_error("-i", "a step of 0 never ends", "give at least 1");
                          });
  auto* list =
      add_option(app, theme, "--sizes", "LIST", "exactly these sizes; K M G are binary, KB MB GB decimal",
                 [&run](const std::string& text) { run.sizes.list = parse_size_list(text, "--sizes"); });
  step->excludes(factor);
  for (const char* other : {"-b", "-e", "-f", "-i"}) list->excludes(app.get_option(other));
  CLI::Option* types =
      add_option(app, theme, "-d,--datatype", "LIST", "element types, or all (float)",
                 [&run](const std::string& text) { run.request.types = parse_types(text, "-d"); });
  set_choices(*types, type_choices());
  CLI::Option* reductions =
      add_option(app, theme, "-o,--op", "LIST",
                 "reductions: sum, prod, min, max, avg, or all (sum); a FILE such as page.md: see --output",
                 [&run](const std::string& text) {
                   if (names_output(text)) {
                     run.output.path = text;  // as in every other command
                   } else {
                     run.request.reductions = parse_reductions(text, "-o");
                   }
                 });
  set_choices(*reductions, reduction_choices());
  add_option(app, theme, "-r,--root", "RANK", "root of broadcast, reduce, gather and scatter, or all (0)",
             [&run](const std::string& text) {
               const bool every = text == "all" || text == "-1";
               run.request.root =
                   every ? collectives::kEveryRoot : parse_number(text, "-r", 0, 1'000'000'000);
             });
  add_option(app, theme, "--counts", "FILE",
             "traffic matrix of all_to_all_v: p lines of p numbers (by distance, like nccl-tests)",
             into(run.counts_path));
  CLI::Option* buffers =
      add_option(app, theme, "--place", "WHERE", "out, in or both: buffers out of or in place (out)",
                 [&run](const std::string& text) {
                   const std::string where = parse_name(text, "--place", {"out", "in", "both"});
                   run.request.out_of_place = where != "in";
                   run.request.in_place = where != "out";
                 });
  set_choices(*buffers, {"out", "in", "both"});
  add_flag(app, theme, "--fit", run.sizes.fit,
           "leave out the largest sizes of -b to -e that memory or a call cannot hold, and say so (refused)");
  add_flag(app, theme, "--exact-counts", run.request.buffers.exact_counts,
           "round each rank's part of a size to whole elements only, not to 16 bytes (rounded, as in "
           "nccl-tests)");
  add_option(app, theme, "-u,--unalign", "N", "start both buffers N elements past their alignment (0)",
             number_into<std::uint64_t>(run.request.buffers.unaligned_elements, "-u", 0, 1'000'000));
  add_option(app, theme, "--step-matrix", "N",
             "the compute of a step on each rank: a product of N x N matrices in FP64 (512)",
             number_into(run.step_matrix, "--step-matrix", 32, 8192));
  add_option(app, theme, "--algo", "LIST",
             "algorithms, each measured in its own rows: auto, ring, ... (auto)",
             [&run](const std::string& text) { run.request.algorithms = split_list(text); });
  add_option(app, theme, "--proto", "LIST",
             "NCCL protocols for each of them: ll, ll128, simple (NCCL's choice)",
             [&run](const std::string& text) { run.protocols = split_list(text); });
  add_option(app, theme, "--ctas", "LIST",
             "numbers of NCCL's CTAs for each of them, such as 8,16 (NCCL's choice)",
             [&run](const std::string& text) {
               run.ctas.clear();
               for (const std::string& each : split_list(text))
                 run.ctas.push_back(parse_number(each, "--ctas", 1, kMaxCtas));
             });
}

void add_how_long(CLI::App& app, RunOptions& run) {
  const std::string theme = "How long and how exactly, such as --time 30 --precision 2";
  add_option(
      app, theme, "--time", "SECONDS",
      "the whole run takes at most about this long; rows that cannot fit are left out (60, on GPUs 120)",
      number_into(run.seconds, "--time", 0.1, 1e7, "seconds"));
  add_option(app, theme, "--precision", "PERCENT",
             "a row is done when its 95 % interval is within +- this (5)", [&run](const std::string& text) {
               run.loop.stopping.precision = parse_number(text, "--precision", 0.01, 1000.0, "percent") / 100;
             });
  add_option(
      app, theme, "--calibration", "FILE|none",
      "the record of an earlier run on the same ranks and hosts, whose calibration is used; none: nothing "
      "but the rows is measured, and no straggler looked for (host memory: calibrates for at most a quarter "
      "of --time and 5 s)",
      into(run.calibration_path));
  auto* passes = add_option(app, theme, "-N,--passes,--run_cycles", "N",
                            "exactly N passes over all rows; 0: until interrupted (8 to 64, by precision; "
                            "nccl-tests: 1)",
                            [&run](const std::string& text) {
                              const int asked = parse_number(text, "--passes", 0, 10'000);
                              run.loop.stopping.passes = collectives::FixedPasses{asked};
                              if (asked == 0) run.loop.stopping.passes = collectives::Endless{};
                            });
  add_option(app, theme, "-n,--iters", "N",
             "exactly N timed iterations in each of 8 passes (by time; nccl-tests: 20 in all)",
             [&run, passes](const std::string& text) {
               run.loop.fixed.iterations = parse_number<std::uint64_t>(text, "-n", 1, kMaxIterations);
               if (passes->count() == 0) run.loop.stopping.passes = collectives::FixedPasses{8};
             });
  add_option(app, theme, "-m,--agg_iters", "N",
             "operations per group: one ncclGroup, or N calls in a row on MPI, which has no groups; -n and "
             "-w then count groups (1)",
             number_into<std::uint64_t>(run.loop.fixed.per_group, "-m", 1, 10'000));
  add_option(app, theme, "-w,--warmup_iters", "N",
             "untimed iterations before each block, as many as --time allows (a tenth of the timed ones)",
             number_into<std::uint64_t>(run.loop.fixed.warmup, "-w", 0, kMaxIterations));
  auto* graph = add_option(
      app, theme, "-G,--cudagraph", "N",
      "on GPUs: capture a block's iterations in a CUDA graph (-n of them), and launch it N times; 0: no "
      "graph (0)",
      number_into(run.graph_launches, "-G", 0, 1000));
  add_option(app, theme, "-z,--blocking", "HOW",
             "on GPUs: wait for each call before the next: 1: on all ranks, 2: on its own, 3: on its own, "
             "and then on all, which is not timed; 0: do not wait (0)",
             [&run](const std::string& text) {
               run.call_wait = static_cast<collectives::CallWait>(parse_number(text, "-z", 0, 3));
             })
      ->excludes(graph);
  add_flag(app, theme, "--hot", run.hot,
           "on GPUs: time all calls on the same addresses, so that small sizes come from the L2 cache; "
           "without it, calls walk through buffers of 4 times the L2's size");
  add_flag(app, theme, "--enqueue-time", run.loop.enqueue_time,
           "on GPUs: also measure the host time to enqueue a call, before any of it runs");
  add_option(
      app, theme, "-T,--timeout", "SECONDS",
      "timeout of a step, such as one block of a row; the run ends when it expires; 0: none (300, but on "
      "GPUs with -n none for a block or for waiting on NCCL; nccl-tests: none)",
      number_into(run.timeout_seconds, "-T", 0.0, 1e7, "seconds"));
  auto* soak = add_option(
      app, theme, "--soak", "MINUTES",
      "measure all rows again and again for so long: heat, throttling and errors show late (-N 0 --time)",
      [&run](const std::string& text) {
        run.seconds = 60 * parse_number(text, "--soak", 0.05, 1e5, "minutes");
        run.loop.stopping.passes = collectives::Endless{};
        run.is_soak = true;
      });
  for (const char* other : {"--time", "-N", "-n"}) soak->excludes(app.get_option(other));
  add_option(app, theme, "-c,--check", "N", "iterations checked per row, at every element; 0: none (1)",
             number_into(run.loop.checks, "-c", 0, 1000));
  add_option(app, theme, "-a,--average", "N",
             "time reported over ranks: 0: rank 0, 1: average, 2: min, 3: max (3; nccl-tests: 1)",
             [&run](const std::string& text) {
               run.loop.across_ranks = static_cast<launch::RankAggregate>(parse_number(text, "-a", 0, 3));
             });
}

/// Whose memory a backend measures; none for "auto".
std::optional<collectives::MemoryKind> memory_of_backend(const std::string& text) {
  const std::string name = parse_name(text, "--backend", {"auto", "mpi", "nccl"});
  if (name == "auto") return std::nullopt;
  return name == "nccl" ? collectives::MemoryKind::device : collectives::MemoryKind::host;
}

BufferRegistration registration_of(const std::string& text) {
  static const std::vector<std::string> names{"none", "local", "symmetric", "0", "1", "2"};
  const std::string name = parse_name(text, "-R", names);
  const auto at = std::ranges::find(names, name) - names.begin();
  return static_cast<BufferRegistration>(at % 3);
}

void add_where(CLI::App& app, RunOptions& run) {
  const std::string theme = "Where, such as --backend mpi --node-map 0-7,8-15";
  CLI::Option* backend =
      add_option(app, theme, "--backend", "NAME",
                 "auto, mpi (host memory) or nccl (GPUs) (auto: nccl where there are GPUs)",
                 [&run](const std::string& text) { run.memory = memory_of_backend(text); });
  set_choices(*backend, {"auto", "mpi", "nccl"});
  add_option(app, theme, "-R,--register,--local_register", "HOW",
             "on GPUs: register the buffers with NCCL: none, local (ncclCommRegister) or symmetric "
             "(ncclCommWindowRegister), or 0, 1, 2 (none)",
             [&run](const std::string& text) { run.registration = registration_of(text); });
  add_option(app, theme, "-x,--cta-policy,--cta_policy", "POLICY",
             "on GPUs: NCCL's CTA policy: 0 or default, 1 or efficiency, 2 or zero (NCCL's choice)",
             [&run](const std::string& text) {
               run.nccl_config["CTAPolicy"] = collectives::parse_cta_policy(text, "-x");
             });
  add_option(app, theme, "--nccl-config", "LIST",
             "on GPUs: fields of the configuration of NCCL's communicators, such as "
             "minCTAs=8,maxCTAs=8,nvlinkCentricSched=1 (NCCL's choice)",
             [&run](const std::string& text) {
               for (const auto& [field, value] : collectives::parse_nccl_settings(text, "--nccl-config"))
                 run.nccl_config[field] = value;
             });
  add_option(
      app, theme, "-M,--memory", "N",
      "on GPUs, 1: also say how much of their memory NCCL, buffers and calls took in the first pass (0)",
      [&run](const std::string& text) { run.memory_use = parse_number(text, "-M", 0, 1) == 1; });
  add_flag(app, theme, "--share-gpu", run.share_gpu, "let ranks share a GPU: checks correctness, not speed");
  app.add_flag_callback(
         "--no-telemetry", [&run] { run.telemetry = false; },
         "do not read the GPUs' clocks, throttling and errors during the run")
      ->group(theme);
  app.add_flag_callback(
         "--no-nodes-alone", [&run] { run.nodes_alone = false; },
         "on GPUs: do not first measure each node alone, and of three and more nodes each pair of neighbors, "
         "which tells a slow node from a slow network")
      ->group(theme);
  app.add_flag_callback(
         "--no-stress", [&run] { run.stress = false; },
         "with --accept: do not load each GPU alone before the rows (collbench probe), nor repeat the worst "
         "row after them; each takes as long as --time, two minutes at most")
      ->group(theme);
  add_flag(app, theme, "--rank-use", run.rank_use,
           "at the end a line on stderr: of each rank, seconds on a core and waiting for one, TCP bytes sent "
           "and sent again");
  add_option(app, theme, "--node-map", "MAP", "which ranks share a node, overriding MPI: 0-7,8-15 or 0+2,1+3",
             into(run.node_map));
  add_option(
      app, theme, "--expect", "MACHINE",
      "the machine that every node should match: hgx-h100, or a file (topo save); exit status 1 on a fault",
      into(run.expect));
  add_option(app, theme, "-g,--ngpus", "N",
             "without mpirun: start N ranks here, as processes (nccl-tests: GPUs per thread)",
             number_into(run.local_ranks, "-g", 1, 4096));
  add_option(app, theme, "--gpus-per-process", "N",
             "on GPUs: N ranks in each process, as single-process frameworks and nccl-tests' -t and -g have "
             "it; by one thread, which issues their calls one after another (1)",
             number_into(run.process.gpus, "--gpus-per-process", 1, kMaxGpusOfProcess));
  add_option(app, theme, "--threads", "T",
             "threads per process; each issues the calls of --gpus-per-process GPUs of its own, by default "
             "of one (1)",
             number_into(run.process.threads, "--threads", 1, kMaxGpusOfProcess));
  add_option(
      app, theme, "--rendezvous", "HOST:PORT",
      "without MPI: where the ranks meet, rank 0's host and a free port there (GPUs only; torchrun and "
      "srun need no options)",
      into(run.given_rendezvous.address));
  add_option(app, theme, "--rank", "R", "with --rendezvous: the number of this rank, from 0",
             number_into(run.given_rendezvous.rank, "--rank", 0, (1 << 20) - 1));
  add_option(app, theme, "--ranks", "N", "with --rendezvous: how many ranks there are",
             number_into(run.given_rendezvous.ranks, "--ranks", 1, 1 << 20));
  add_flag(app, theme, "--dry-run", run.dry_run,
           "print what would be measured and the longest it could take, then stop");
}

void add_output(CLI::App& app, RunOptions& run) {
  const std::string theme = "Output, such as -J run.json --format md";
  add_output_options(app, theme, run.output, analysis::format_names(&analysis::ReportFormat::run),
                     "the run record (JSON), rewritten after each pass as --csv is");
  add_plot_options(app, theme, run.output, analysis::run_chart_kinds());
  add_evidence_options(app, theme, run.output, "host0, host1, … in place of hosts' names in that archive");
  auto* stream = add_option(app, theme, "--stream", "FILE",
                            "every block as it ends, so that a killed run keeps its results (JSON lines)",
                            into(run.stream_path));
  add_option(app, theme, "--resume", "FILE",
             "continue the run of this stream: completed blocks are not measured again",
             [&run](const std::string& text) {
               run.stream_path = text;
               run.resume = true;
             })
      ->excludes(stream);
  add_option(app, theme, "--samples", "FILE", "every sample of every rank as CSV, written block by block",
             into(run.samples_path));
  add_lab01_options(app, theme, run.lab01);
  add_label_option(app, theme, run.label);
  add_percentiles_option(app, theme, run.percentiles);
  add_criteria_options(app, theme, run.criteria);
  add_color_option(app, theme, run.color);
  add_progress_option(app, theme, run.progress);
  auto* verbose = add_flag(app, theme, "-v,--verbose", run.verbose,
                           "all that is known before the first row, and each step, on stderr");
  add_flag(app, theme, "--quiet", run.quiet, "tables, warnings and faults only; no progress")
      ->excludes(verbose);
}

bool contains_all_reduce(const std::vector<OperationId>& operations) {
  return std::ranges::find(operations, OperationId::all_reduce) != operations.end();
}

/// The rows of Lab 01, where no others were asked for.
void take_lab01_rows(const CLI::App& app, RunOptions& run) {
  const auto given = [&app](const char* option) { return app.count(option) > 0; };
  if (!given("--ops")) run.request.operations = {OperationId::all_reduce};
  if (!contains_all_reduce(run.request.operations)) {
    throw usage_error("--preset lab01", "it reports AllReduce, and --ops does not include it",
                      "leave --ops out");
  }
  if (given("-b") || given("-e") || given("-f") || given("-i") || given("--sizes")) return;
  run.sizes.list = {1'000'000, 100'000'000, 1'000'000'000};
}

/// "ring" with ll and simple is "ring/ll" and "ring/simple".
template <typename Part>
void combine_algorithms(RunOptions& run, const std::vector<Part>& with) {
  if (with.empty()) return;
  std::vector<std::string> combined;
  for (const std::string& algorithm : run.request.algorithms) {
    for (const Part& part : with) combined.push_back(fmt::format("{}/{}", algorithm, part));
  }
  run.request.algorithms = combined;
}

/// Better now than after the measurement.
void require_measured_chart(const RunOptions& run) {
  const std::string& chart = run.output.chart;
  const std::size_t kind = chart.find('-');
  if (kind == std::string::npos) return;
  const auto& measured = run.request.operations;
  const bool found = std::ranges::any_of(
      measured, [&](OperationId id) { return chart.substr(kind + 1) == operation(id).option; });
  if (!found)
    throw usage_error("--chart", fmt::format("'{}' is of an operation that is not measured", chart),
                      "add it to --ops");
}

void complete_process_shape(const CLI::App& app, RunOptions& run) {
  ProcessShape& process = run.process;
  if (app.count("--gpus-per-process") == 0) process.gpus = process.threads;
  if (process.gpus % process.threads != 0)
    throw usage_error(
        "--threads",
        fmt::format("{} GPUs cannot be shared out evenly to {} threads", process.gpus, process.threads),
        "give a number of threads that divides --gpus-per-process");
  if (process.gpus == 1) return;
  const auto refuse = [](const char* option, const char* why) {
    throw usage_error(option, why, "leave it out, or --gpus-per-process and --threads");
  };
  if (run.share_gpu) refuse("--share-gpu", "NCCL has no two ranks of one process on a GPU");
  if (run.rank_use) refuse("--rank-use", "what a process takes is not told apart by its ranks");
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& run) {
  run.request.operations.assign(collectives::default_operations().begin(),
                                collectives::default_operations().end());
  add_what(app, run);
  add_how_long(app, run);
  add_where(app, run);
  add_output(app, run);
}

void complete_run_options(const CLI::App& app, RunOptions& run) {
  if (run.lab01.asked) take_lab01_rows(app, run);
  run.documents = output_documents(run.output, run.lab01.asked ? kLab01Page : "");
  if (run.output.is_anonymous && run.output.evidence_path.empty())
    throw usage_error("--anonymous", "of a run, it is of an archive, and none is asked for",
                      "add --evidence FILE.tar.gz; collbench report --anonymous writes the rest");
  require_measured_chart(run);
  complete_process_shape(app, run);
  if (run.criteria.criteria.accept && run.loop.checks == 0)
    throw usage_error("--accept", "a machine is accepted by data that was checked, and -c 0 checks none",
                      "leave -c out");
  combine_algorithms(run, run.protocols);
  combine_algorithms(run, run.ctas);
  if (run.graph_launches > 0) run.loop.fixed.graph_launches = static_cast<std::uint64_t>(run.graph_launches);
  // As many iterations as the user fixed may take any time.
  run.blocks_have_timeout = app.count("-n") == 0 || app.count("-T") > 0;
  if (run.is_endless() && !run.seconds) run.seconds = std::numeric_limits<double>::infinity();
}

std::string process_note(const ProcessShape& process) {
  if (process.gpus == 1) return {};
  const std::string words = fmt::format("each process has {} GPUs", process.gpus);
  const int each = process.gpus_per_thread();
  if (each == 1)
    return fmt::format(
        "{}, a thread for each: small sizes are bound by the launches of its threads; compare them with "
        "nccl-tests' -t {}, or measure a process for each GPU (-g)",
        words, process.threads);
  const std::string by =
      process.threads == 1
          ? "one thread issues the calls of all"
          : fmt::format("each of {} threads issues the calls of {} of them", process.threads, each);
  return fmt::format(
      "{}, and {}, one after another: small sizes are bound by launches; compare them with nccl-tests' -t {} "
      "-g {}, or measure a process for each GPU (-g)",
      words, by, process.threads, each);
}

double run_seconds(const RunOptions& run, collectives::MemoryKind memory) {
  return run.seconds.value_or(memory == collectives::MemoryKind::host ? 60 : kGpuSeconds);
}

std::optional<double> stress_seconds(const RunOptions& run, collectives::MemoryKind memory) {
  const bool is_asked = run.stress && run.criteria.criteria.accept;
  if (!is_asked || memory == collectives::MemoryKind::host || run.ends_by_interrupt()) return std::nullopt;
  return std::min(run_seconds(run, memory), kMaxStressSeconds);
}

std::vector<std::uint64_t> sizes_bytes(const SizeOptions& sizes, std::uint64_t default_last) {
  if (!sizes.list.empty()) return sizes.list;
  const std::uint64_t last = sizes.last.value_or(std::max(default_last, sizes.first));
  if (sizes.first > last) {
    throw usage_error("-b", fmt::format("{} is above -e {}", format_bytes(sizes.first), format_bytes(last)),
                      "give a -b that is at most -e");
  }
  if (sizes.step) return collectives::arithmetic_sizes(sizes.first, last, *sizes.step);
  return collectives::geometric_sizes(sizes.first, last, sizes.factor);
}

}  // namespace collbench::program
